import { defineOperator } from "@windlass/cli";
import { z } from "zod";
import {
  ElastiService,
  OperatorSettings,
  operator as operatorParts,
  operatorRules,
  ResolverSettings,
  resolverRules,
  settingsFrom,
} from "./src/index.ts";

/** Nothing is looked up while manifests are made. */
const noKinds = { find: async () => undefined, findResource: async () => undefined };
const { controller } = operatorParts(settingsFrom(OperatorSettings, {}), noKinds);
const { shape: operatorShape } = OperatorSettings;
const { shape: resolverShape } = ResolverSettings;

/** A variable that is empty unless it is set. */
function text({ description = "" }: z.ZodType) {
  return z.string().default("").describe(description);
}

/**
 * The Secret that may have what is confidential. Its name and first keys are the
 * original's.
 */
function secret(key: string) {
  return { secretKeyRef: { name: "elasti-secret", key, optional: true } };
}

/** Whom the tokens are for that the resolver shows to the operator. No other server takes them. */
const audience = "elasti-operator";
const tokens = "/var/run/secrets/elasti";

/**
 * Kubernetes would set ELASTI_OPERATOR_PORT, which is a setting, for the Service elasti-operator.
 */
const enableServiceLinks = false;

/** What both programs have to know alike. */
const watchNamespaces = {
  env: "WATCH_NAMESPACES",
  schema: operatorShape.WATCH_NAMESPACES,
};

/** Where the two processes of each replica of the resolver report what they do. */
const [internalPort, twinPort] = [8013, 8014] as const;

/** As Prometheus has it: its own label `namespace` is that of the operator's pods. */
const service = "exported_namespace, source";

export const operator = defineOperator({
  name: "elasti-operator",
  description: "Scales services to zero while no client uses them, and back without losing a request",
  image: "windlass/elasti:dev",
  namespace: "elasti",
  kinds: [ElastiService],
  controllers: [controller],
  clusterRules: operatorRules,
  ports: { wake: 8013 },
  pod: { enableServiceLinks },
  // Triggers name servers anywhere, and the way to a Service is tried by connecting to it.
  egress: "anywhere",
  env: {
    ELASTI_RESOLVER_PORT: `${internalPort},${twinPort}`,
    ELASTI_WAKE_AUDIENCE: audience,
    ELASTI_WAKE_ACCOUNT: "$(POD_NAMESPACE):elasti-operator-resolver",
    PROMETHEUS_TRIGGER_AUTHORIZATION_HEADER: secret("prometheusAuthorizationHeader"),
    PATH_PROBE_KEY: secret("pathProbeKey"),
    SENTRY_DSN: secret("operatorSentryDsn"),
  },
  settings: {
    watchNamespaces,
    pollingInterval: { env: "POLLING_INTERVAL", schema: operatorShape.POLLING_INTERVAL },
    settleSeconds: { env: "SETTLE_SECONDS", schema: operatorShape.SETTLE_SECONDS },
    "prometheus.serverAddress": {
      env: "PROMETHEUS_TRIGGER_SERVER_ADDRESS",
      schema: text(operatorShape.PROMETHEUS_TRIGGER_SERVER_ADDRESS),
    },
    "sentry.environment": { env: "SENTRY_ENVIRONMENT", schema: text(operatorShape.SENTRY_ENVIRONMENT) },
  },
  components: {
    resolver: {
      args: ["resolver-main.js"],
      ports: {
        http: { port: 8012, service: 80 },
        internal: internalPort,
        services: { port: 20_000, endPort: 29_999 },
      },
      egress: "anywhere",
      clusterRules: resolverRules,
      // 50,000 requests that wait at 10 kB each, 256 MiB of their heads and bodies, and Node.
      resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "1Gi" } },
      env: {
        // By itself Node takes a quarter of the pod's memory for its objects, and what waits is
        // objects.
        NODE_OPTIONS: "--max-old-space-size-percentage=75",
        ELASTI_RESOLVER_SHARES_PORTS: "true",
        ELASTI_OPERATOR_TOKEN_FILE: `${tokens}/token`,
        PATH_PROBE_KEY: secret("pathProbeKey"),
        SENTRY_DSN: secret("resolverSentryDsn"),
      },
      settings: {
        watchNamespaces,
        clusterDomain: {
          env: "KUBERNETES_CLUSTER_DOMAIN",
          schema: resolverShape.KUBERNETES_CLUSTER_DOMAIN,
        },
        queueSize: { env: "QUEUE_SIZE", schema: resolverShape.QUEUE_SIZE },
        queueMegabytes: { env: "QUEUE_MEGABYTES", schema: resolverShape.QUEUE_MEGABYTES },
        requestTimeout: { env: "REQ_TIMEOUT", schema: resolverShape.REQ_TIMEOUT },
        // No longer than the pod is given to end.
        drainSeconds: {
          env: "DRAIN_SECONDS",
          schema: z
            .int()
            .min(1)
            .max(600)
            .default(600)
            .describe(resolverShape.DRAIN_SECONDS.description ?? ""),
        },
        headerForHost: { env: "HEADER_FOR_HOST", schema: text(resolverShape.HEADER_FOR_HOST) },
        "sentry.environment": { env: "SENTRY_ENVIRONMENT", schema: text(resolverShape.SENTRY_ENVIRONMENT) },
      },
      pod: {
        enableServiceLinks,
        // What waits or is under way may take as long as DRAIN_SECONDS, after a few seconds in
        // which nodes and clients learn that it ends.
        terminationGracePeriodSeconds: 630,
        volumes: [
          {
            name: "tokens",
            projected: {
              sources: [{ serviceAccountToken: { audience, path: "token", expirationSeconds: 3_600 } }],
            },
          },
        ],
      },
      container: { volumeMounts: [{ name: "tokens", mountPath: tokens, readOnly: true }] },
      // One that is killed leaves the other, which listens on the same ports.
      twin: {
        metricsPort: 8082,
        healthPort: 8083,
        ports: { "internal-twin": twinPort },
        env: { ELASTI_RESOLVER_PORT: String(twinPort) },
      },
    },
  },
  alerts: [
    {
      name: "ElastiResolverDown",
      expr: (labels) => `absent(elasti_resolver_operator_rpc_count{${labels}})`,
      for: "2m",
      severity: "critical",
      summary: "No replica of the resolver answers",
      description:
        "Services are not put to sleep, and those that slept are woken. Look at the pods of the Deployment elasti-operator-resolver.",
    },
    {
      name: "ElastiRequestsNotServed",
      expr: (labels) =>
        `sum by (${service}, reason) (rate(elasti_resolver_failures_total{${labels}}[5m])) > 0`,
      for: "5m",
      summary:
        "Requests for {{ $labels.exported_namespace }}/{{ $labels.source }} fail: {{ $labels.reason }}",
      description:
        "hold-timeout: the target does not become ready in time, look at its pods. queue-full: more requests wait than hold.queueSize or resolver.queueSize allow. unavailable: the condition Ready of the ElastiService says why.",
    },
    {
      name: "ElastiWakeSlow",
      expr: (labels) =>
        `histogram_quantile(0.9, sum by (${service}, le) (rate(elasti_resolver_cold_start_seconds_bucket{${labels},phase="ready"}[15m]))) > 60`,
      summary: "{{ $labels.exported_namespace }}/{{ $labels.source }} takes more than a minute to wake",
      description:
        "Most of it is the target's own start: its image, its probes, room on nodes. spec.triggers of type schedule wake it ahead of need.",
    },
    {
      name: "ElastiWakesNotHeard",
      expr: (labels) => `sum(rate(elasti_resolver_operator_rpc_count{${labels},error="true"}[5m])) > 0.1`,
      for: "5m",
      severity: "critical",
      summary: "The resolver cannot ask the operator to wake services",
      description:
        "Requests wait until it can. Look at the operator's pods, at NetworkPolicies between the two, and at the logs of both for refused tokens.",
    },
    {
      name: "ElastiServiceStuck",
      expr: (labels) =>
        `max by (exported_namespace, crd_name, phase) (elasti_operator_phase{${labels},phase=~"Waking|ScalingDown|Terminating|Holding|Diverting|Joining|Returning"}) == 1`,
      for: "15m",
      summary:
        "{{ $labels.exported_namespace }}/{{ $labels.crd_name }} has been in phase {{ $labels.phase }} for 15 minutes",
      description:
        "kubectl describe shows its conditions and events. Waking: its pods do not become ready. Terminating: they do not end.",
    },
  ],
  panels: [
    {
      title: "Services by phase",
      queries: [
        {
          expr: (labels) =>
            `sum by (phase) (max by (exported_namespace, crd_name, phase) (elasti_operator_phase{${labels}}))`,
          legend: "{{phase}}",
        },
      ],
    },
    {
      title: "Services behind the resolver",
      queries: [
        {
          expr: (labels) =>
            `sum(max by (exported_namespace, crd_name) (elasti_operator_mode{${labels}} == bool 1))`,
          legend: "behind it",
        },
      ],
    },
    {
      title: "Requests that wait",
      queries: [
        {
          expr: (labels) => `sum by (${service}) (elasti_resolver_queued_count{${labels}})`,
          legend: "{{exported_namespace}}/{{source}}",
        },
      ],
    },
    {
      title: "Requests through the resolver",
      unit: "ops",
      queries: [
        {
          expr: (labels) =>
            `sum by (${service}, status) (rate(elasti_resolver_incoming_requests_count{${labels}}[5m]))`,
          legend: "{{exported_namespace}}/{{source}} {{status}}",
        },
      ],
    },
    {
      title: "Cold starts, by phase",
      unit: "s",
      queries: [
        {
          expr: (labels) =>
            `histogram_quantile(0.9, sum by (phase, le) (rate(elasti_resolver_cold_start_seconds_bucket{${labels}}[15m])))`,
          legend: "{{phase}} p90",
        },
      ],
    },
    {
      title: "Requests that were not served, by reason",
      unit: "ops",
      queries: [
        {
          expr: (labels) => `sum by (reason) (rate(elasti_resolver_failures_total{${labels}}[5m]))`,
          legend: "{{reason}}",
        },
        {
          expr: (labels) => `sum(rate(elasti_resolver_malformed_requests_total{${labels}}[5m]))`,
          legend: "malformed",
        },
      ],
    },
  ],
});
