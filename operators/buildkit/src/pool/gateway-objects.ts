import { child } from "@windlass/runtime";
import {
  Deployment,
  Ingress,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { managedByLabel } from "../credentials.ts";
import { group } from "../fields.ts";
import { gatewayPort, poolLabel, poolNames } from "../names.ts";
import { quantityOf } from "../quantity.ts";
import { spanMs } from "../span.ts";
import type { Pool } from "./pool.ts";

/** Selects the pods of a pool's gateway. */
export function gatewaySelector(pool: string) {
  return { "app.kubernetes.io/name": "buildkit-gateway", [poolLabel]: pool };
}

/** The labels of the gateway's objects. */
export function gatewayLabels(pool: string) {
  return { ...gatewaySelector(pool), ...managedByLabel };
}

/** The type of the Service: the gateway's own says first. */
export function serviceTypeOf({ gateway, networking }: Pool["spec"]) {
  return gateway.serviceType ?? networking.serviceType;
}

/** The port that clients call. */
export function servicePortOf({ gateway, networking }: Pool["spec"]): number {
  return gateway.port ?? networking.port;
}

/**
 * What the gateway is made of: its identity, the Deployment, the Service. None if the pool has no
 * gateway.
 */
export function gatewayChildren(pool: Pool, image: string) {
  if (!pool.spec.gateway.enabled) return [];
  const role = roleFor(pool);
  return [
    serviceAccountFor(pool),
    role,
    roleBindingFor(pool, role),
    deploymentFor(pool, image),
    serviceFor(pool),
    pool.spec.gateway.replicas > 1 && disruptionBudgetFor(pool),
    ingressFor(pool),
  ];
}

function metadataFor({ metadata: { name } }: Pool) {
  return { name: poolNames(name).gateway, labels: gatewayLabels(name) };
}

function serviceAccountFor(pool: Pool) {
  return child(ServiceAccount, { metadata: metadataFor(pool), automountServiceAccountToken: false });
}

/**
 * A gateway reads workers of its namespace and its pool's revocations, and nothing else. Its
 * Secrets are mounted.
 */
function roleFor(pool: Pool) {
  const verbs = ["get", "list", "watch"];
  const resourceNames = [poolNames(pool.metadata.name).revocations];
  const rules = [
    { apiGroups: [group], resources: ["buildkitworkers"], verbs },
    { apiGroups: [""], resources: ["configmaps"], resourceNames, verbs },
  ];
  return child(Role, { metadata: metadataFor(pool), rules });
}

/**
 * Only who may do all of it may bind a role, so a server refuses to bind one that it does not know.
 */
function roleBindingFor(pool: Pool, role: ReturnType<typeof roleFor>) {
  const metadata = metadataFor(pool);
  const { namespace } = pool.metadata;
  return child(
    RoleBinding,
    {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name },
      subjects: [{ kind: "ServiceAccount", name: metadata.name, namespace }],
    },
    { onImmutable: "replace", after: [role] },
  );
}

const DRAIN_MARGIN_SECONDS = 30;

function deploymentFor(pool: Pool, image: string) {
  const { spec } = pool;
  const { name, namespace } = pool.metadata;
  const { gateway, observability } = spec;
  const names = poolNames(name);
  const metadata = metadataFor(pool);
  const matchLabels = gatewaySelector(name);
  const { port: metricsPort, enabled: hasMetrics } = observability.metrics;
  const drainSeconds = Math.ceil(spanMs(gateway.drainTimeout, "spec.gateway.drainTimeout") / 1_000);
  const mounts = [
    { name: "tls", mountPath: "/etc/gateway/tls", secretName: names.tlsSecret },
    { name: "worker-tls", mountPath: "/etc/gateway/worker-tls", secretName: names.clientCertsSecret },
    { name: "token-keys", mountPath: "/etc/gateway/token-keys", secretName: names.tokenKeysSecret },
  ];
  const annotations = hasMetrics
    ? {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": String(metricsPort),
        "prometheus.io/path": "/metrics",
      }
    : {};
  const probe = (path: string) => ({ httpGet: { path, port: "metrics" } });
  return child(Deployment, {
    metadata,
    spec: {
      replicas: gateway.replicas,
      selector: { matchLabels },
      // A gateway that stops goes on with what it has, so the next one comes first.
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: metadata.labels, annotations },
        spec: {
          serviceAccountName: metadata.name,
          automountServiceAccountToken: true,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: drainSeconds + DRAIN_MARGIN_SECONDS,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels },
            },
          ],
          containers: [
            {
              name: "gateway",
              image,
              // Of Node, which is what images of this operator begin with.
              args: [
                "main.js",
                "gateway",
                `--pool-name=${name}`,
                `--pool-namespace=${namespace}`,
                `--listen-addr=0.0.0.0:${gatewayPort}`,
                `--metrics-addr=0.0.0.0:${metricsPort}`,
                `--drain-timeout=${gateway.drainTimeout}`,
              ],
              env: [
                { name: "NODE_ENV", value: "production" },
                { name: "LOG_LEVEL", value: observability.logging.level },
                { name: "LOG_FORMAT", value: observability.logging.format },
              ],
              ports: [
                { name: "gateway", containerPort: gatewayPort, protocol: "TCP" },
                { name: "metrics", containerPort: metricsPort, protocol: "TCP" },
              ],
              // None of them touches the port of clients: probes are not clients.
              startupProbe: { ...probe("/readyz"), periodSeconds: 1, failureThreshold: 120 },
              readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
              livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 6 },
              resources: gatewayResources(gateway.resources),
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
              volumeMounts: mounts.map(({ name: volume, mountPath }) => ({
                name: volume,
                mountPath,
                readOnly: true,
              })),
            },
          ],
          volumes: mounts.map(({ name: volume, secretName }) => ({ name: volume, secret: { secretName } })),
        },
      },
    },
  });
}

/**
 * The original's: 50m and 64Mi, up to 200m and 256Mi. What a gateway asks for never exceeds what it
 * may use.
 */
function gatewayResources({ cpu = "200m", memory = "256Mi" }: Pool["spec"]["gateway"]["resources"]) {
  const atMost = (wanted: string, limit: string | number) =>
    (quantityOf(limit) ?? 0) < (quantityOf(wanted) ?? 0) ? limit : wanted;
  return { requests: { cpu: atMost("50m", cpu), memory: atMost("64Mi", memory) }, limits: { cpu, memory } };
}

/**
 * The port of clients alone. Metrics are scraped from pods: a load balancer must not show them to
 * the world.
 */
function serviceFor(pool: Pool) {
  const { spec } = pool;
  const { name } = pool.metadata;
  const { gateway, networking } = spec;
  const type = serviceTypeOf(spec);
  const annotations = {
    ...networking.annotations,
    ...(networking.external.enabled && networking.external.annotations),
  };
  const nodePort =
    type !== "ClusterIP" && gateway.nodePort !== undefined ? { nodePort: gateway.nodePort } : {};
  const isBalanced = type === "LoadBalancer";
  // Otherwise nodes replace the addresses of clients by their own, and the NetworkPolicy admits all
  // of them or none.
  const isLocal = type !== "ClusterIP" && networking.allowedCIDRs.length > 0;
  return child(Service, {
    metadata: { name: poolNames(name).service, labels: gatewayLabels(name), annotations },
    spec: {
      type,
      selector: gatewaySelector(name),
      ports: [
        { name: "gateway", port: servicePortOf(spec), targetPort: "gateway", protocol: "TCP", ...nodePort },
      ],
      ...(isLocal && { externalTrafficPolicy: "Local" }),
      ...(isBalanced &&
        gateway.loadBalancerClass !== undefined && { loadBalancerClass: gateway.loadBalancerClass }),
      ...(isBalanced &&
        networking.allowedCIDRs.length > 0 && { loadBalancerSourceRanges: networking.allowedCIDRs }),
    },
  });
}

function disruptionBudgetFor(pool: Pool) {
  const selector = { matchLabels: gatewaySelector(pool.metadata.name) };
  return child(PodDisruptionBudget, { metadata: metadataFor(pool), spec: { maxUnavailable: 1, selector } });
}

function ingressFor(pool: Pool) {
  const { name } = pool.metadata;
  const { enabled, ingressClassName, hostname, annotations } = pool.spec.gateway.ingress;
  if (!enabled || hostname === undefined) return undefined;
  const backend = { service: { name: poolNames(name).service, port: { name: "gateway" } } };
  return child(Ingress, {
    metadata: { name: poolNames(name).ingress, labels: gatewayLabels(name), annotations },
    spec: {
      ...(ingressClassName !== undefined && { ingressClassName }),
      rules: [{ host: hostname, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      tls: [{ hosts: [hostname] }],
    },
  });
}
