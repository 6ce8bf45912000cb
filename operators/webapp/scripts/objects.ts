import { rbacFor } from "@windlass/runtime";
import { Policy, WebApp, webapp, webhooks } from "../src/index.ts";

/** What differs between a kustomization and a chart: plain values in one, template expressions in the other. */
export interface Settings {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number | string;
  readonly floatingImages: string;
  readonly maxReplicas: string;
  readonly logLevel: string;
  /** Of the operator's pods. */
  readonly resources: unknown;
}

const name = "webapp-operator";
const labels = { "app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "windlass" };
const selector = { "app.kubernetes.io/name": name };

/** Everything that an installation consists of, in files as they are applied. Names come from the code that relies on them. */
export function objectsFor(settings: Settings) {
  const { namespace } = settings;
  const metadata = { name, namespace, labels };
  const server = webhooks(Policy.parse({}));
  const labelled = <T extends { readonly metadata: object }>(object: T) => ({
    ...object,
    metadata: { ...object.metadata, labels },
  });
  return {
    crd: [WebApp.crd({ labels, conversion: server.conversion({ namespace }) })],
    rbac: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata },
      ...rbacFor([webapp, server], {
        name,
        leaderElection: { name, namespace },
        serviceAccount: { name, namespace },
      }).map(labelled),
      ...viewAndEdit(),
    ],
    manager: [deployment(settings), disruptionBudget(metadata), service("metrics", 8080, metadata)],
    webhook: [service("webhook", 443, metadata), ...server.configurations({ namespace }).map(labelled)],
    network: [networkPolicy(metadata)],
    monitoring: [serviceMonitor(metadata)],
  };
}

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

const ports = { webhook: 9443, metrics: 8080, health: 8081 };

function deployment({ namespace, image, replicas, resources, ...settings }: Settings) {
  const probe = (path: string) => ({ httpGet: { path, port: "health" } });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          // Longer than the 30 s that the manager takes at most: it goes on serving webhooks for a while, and ends what is under way.
          terminationGracePeriodSeconds: 40,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: selector },
            },
          ],
          containers: [
            {
              name: "operator",
              image,
              env: [
                ...["name", "namespace"].map((field) => ({
                  name: `POD_${field.toUpperCase()}`,
                  valueFrom: { fieldRef: { fieldPath: `metadata.${field}` } },
                })),
                { name: "NODE_ENV", value: "production" },
                { name: "LOG_LEVEL", value: settings.logLevel },
                { name: "FLOATING_IMAGES", value: settings.floatingImages },
                { name: "MAX_REPLICAS", value: settings.maxReplicas },
              ],
              ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })),
              startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 60 },
              livenessProbe: { ...probe("/healthz"), periodSeconds: 10 },
              readinessProbe: { ...probe("/readyz"), periodSeconds: 5 },
              resources,
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
            },
          ],
        },
      },
    },
  };
}

function disruptionBudget(metadata: Metadata) {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata,
    spec: { minAvailable: 1, selector: { matchLabels: selector } },
  };
}

function service(port: keyof typeof ports, number: number, { namespace }: Metadata) {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: `${name}-${port}`,
      namespace,
      labels: { ...labels, "app.kubernetes.io/component": port },
    },
    spec: { selector, ports: [{ name: port, port: number, targetPort: port }] },
  };
}

/** In: the API server, whose address nobody knows, the kubelet and Prometheus. Out: the API server and name service. */
function networkPolicy(metadata: Metadata) {
  const port = (number: number, protocol = "TCP") => ({ port: number, protocol });
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata,
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ ports: Object.values(ports).map((number) => port(number)) }],
      egress: [{ ports: [port(443), port(6443), port(53), port(53, "UDP")] }],
    },
  };
}

function serviceMonitor(metadata: Metadata) {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata,
    spec: {
      selector: { matchLabels: { ...selector, "app.kubernetes.io/component": "metrics" } },
      endpoints: [{ port: "metrics" }],
    },
  };
}

/** WebApps for whoever may view or edit other things in a namespace. */
function viewAndEdit() {
  const role = (to: string, aggregates: readonly string[], verbs: readonly string[]) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: `${name}-${to}`,
      labels: {
        ...labels,
        ...Object.fromEntries(
          aggregates.map((one) => [`rbac.authorization.k8s.io/aggregate-to-${one}`, "true"]),
        ),
      },
    },
    rules: [{ apiGroups: [WebApp.group], resources: [WebApp.plural, `${WebApp.plural}/scale`], verbs }],
  });
  const read = ["get", "list", "watch"];
  return [
    role("view", ["view"], read),
    role("edit", ["edit", "admin"], [...read, "create", "update", "patch", "delete", "deletecollection"]),
  ];
}
