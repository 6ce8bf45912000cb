import type { AlertDeclaration, PanelDeclaration } from "@windlass/cli";

/**
 * Alerts and graphs. The series of gateways are scraped from their pods in all namespaces, and are
 * known by their names. Prometheus names a pool's namespace `exported_namespace` where the operator
 * reports it: `namespace` is where the operator runs.
 */
const pool = "exported_namespace, pool";
const poolText = "{{ $labels.exported_namespace }}/{{ $labels.pool }}";
const gateway = "namespace, pool";
const gatewayText = "{{ $labels.namespace }}/{{ $labels.pool }}";

const runbook = (section: string) => `See "${section}" in the operator's README.`;

export const alerts: readonly AlertDeclaration[] = [
  {
    name: "BuildKitQueueStuck",
    expr: (labels) => `max by (${pool}) (buildkit_queue_oldest_seconds{${labels}}) > 300`,
    for: "5m",
    summary: `A request has waited for a worker of ${poolText} for over five minutes`,
    description: `The pool's condition CapacityAvailable says why. ${runbook("CapacityAvailable")}`,
  },
  {
    name: "BuildKitPoolAtMaximum",
    expr: (labels) =>
      `sum by (${pool}) (buildkit_workers_total{${labels},phase!~"failed|terminating"}) >= on (${pool}) max by (${pool}) (buildkit_workers_max{${labels}}) and on (${pool}) max by (${pool}) (buildkit_queue_length{${labels}}) > 0`,
    for: "15m",
    summary: `${poolText} has had as many workers as it may have for a quarter of an hour, and requests wait`,
    description:
      "Raise spec.scaling.max, or find out who holds workers for so long: kubectl get bkw -o wide.",
  },
  {
    name: "BuildKitWorkersFail",
    expr: (labels) =>
      `sum by (${pool}, reason) (increase(buildkit_worker_failures_total{${labels}}[15m])) > 2`,
    for: "0m",
    summary: `Workers of ${poolText} fail: {{ $labels.reason }}`,
    description: `kubectl get bkw in that namespace shows them with their messages. ${runbook("Worker reasons")}`,
  },
  {
    name: "BuildKitWorkersStartSlowly",
    expr: (labels) =>
      `histogram_quantile(0.9, sum by (${pool}, le) (rate(buildkit_worker_start_duration_seconds_bucket{${labels}}[30m]))) > 120`,
    for: "15m",
    severity: "info",
    summary: `Workers of ${poolText} take more than two minutes to start`,
    description: "Images are pulled, or nodes are added, for each of them. Keep some warm: spec.scaling.min.",
  },
  {
    name: "BuildKitCertificateExpires",
    expr: (labels) =>
      `min by (${pool}) (buildkit_certificate_expiry_timestamp_seconds{${labels}} > 0) - time() < 86400`,
    for: "15m",
    severity: "critical",
    summary: `The certificate of the gateway of ${poolText} ends within a day and was not renewed`,
    description: `Clients will refuse the gateway. The pool's condition CertificatesReady says why. ${runbook("CertificatesReady")}`,
  },
  {
    name: "BuildKitGatewayCertificateStale",
    expr: () =>
      `min by (${gateway}) (buildkit_gateway_certificate_expiry_timestamp_seconds) - time() < 43200`,
    for: "15m",
    severity: "critical",
    summary: `A gateway of ${gatewayText} shows a certificate that ends within twelve hours`,
    description: "It has not taken the new one: its log says what is wrong with the files of its Secrets.",
  },
  {
    name: "BuildKitApiErrors",
    expr: (labels) =>
      `sum(rate(buildkit_controller_api_requests_total{${labels},code=~"5.."}[5m])) / sum(rate(buildkit_controller_api_requests_total{${labels}}[5m])) > 0.05`,
    severity: "critical",
    summary: "More than a twentieth of the requests to the allocation API fail",
    description: "Its log has each of them with its reason. 503 while no worker comes free is among them.",
  },
  {
    name: "BuildKitApiCertificateExpires",
    expr: (labels) => `min(buildkit_api_certificate_expiry_timestamp_seconds{${labels}}) - time() < 86400`,
    for: "15m",
    severity: "critical",
    summary: "The certificate of the allocation API ends within a day and was not renewed",
    description:
      "If it comes from a Secret of yours, renew that; otherwise the API's log says why it could not.",
  },
  {
    name: "BuildKitVerifierUnavailable",
    expr: (labels) => `sum(rate(buildkit_api_authentications_total{${labels},result="unavailable"}[5m])) > 0`,
    summary: "The allocation API cannot tell who its clients are",
    description:
      "An OIDC issuer or the API server does not answer: kubectl get bkoidc -A, and the API's log.",
  },
  {
    name: "BuildKitConnectionsRefused",
    expr: () =>
      `sum by (${gateway}) (rate(buildkit_gateway_connections_total{status!="success"}[5m])) / sum by (${gateway}) (rate(buildkit_gateway_connections_total[5m])) > 0.2`,
    for: "15m",
    summary: `More than a fifth of the connections to ${gatewayText} are refused`,
    description: `The label status says why. ${runbook("What clients receive")}`,
  },
];

const rate = (metric: string, by: string, labels: string) =>
  `sum by (${by}) (rate(${metric}${labels === "" ? "" : `{${labels}}`}[$__rate_interval]))`;
const quantile = (share: number, histogram: string, by: string, labels = "") =>
  `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, `${by}, le`, labels)})`;
const poolLegend = "{{exported_namespace}}/{{pool}}";
const gatewayLegend = "{{namespace}}/{{pool}}";

export const panels: readonly PanelDeclaration[] = [
  {
    title: "Workers by phase",
    queries: [
      {
        expr: (labels) => `sum by (${pool}, phase) (buildkit_workers_total{${labels}})`,
        legend: `${poolLegend} {{phase}}`,
      },
    ],
  },
  {
    title: "Requests that wait",
    queries: [
      { expr: (labels) => `max by (${pool}) (buildkit_queue_length{${labels}})`, legend: poolLegend },
    ],
  },
  {
    title: "Longest wait",
    unit: "s",
    queries: [
      { expr: (labels) => `max by (${pool}) (buildkit_queue_oldest_seconds{${labels}})`, legend: poolLegend },
    ],
  },
  {
    title: "Allocations",
    unit: "ops",
    queries: [
      { expr: (labels) => rate("buildkit_worker_allocations_total", pool, labels), legend: poolLegend },
    ],
  },
  {
    title: "Time of an allocation",
    unit: "s",
    queries: [0.5, 0.99].map((share) => ({
      expr: (labels: string) => quantile(share, "buildkit_worker_allocation_duration_seconds", pool, labels),
      legend: `${poolLegend} p${share * 100}`,
    })),
  },
  {
    title: "Time of a worker's start",
    unit: "s",
    queries: [
      {
        expr: (labels) => quantile(0.9, "buildkit_worker_start_duration_seconds", pool, labels),
        legend: `${poolLegend} p90`,
      },
    ],
  },
  {
    title: "Workers that failed",
    unit: "ops",
    queries: [
      {
        expr: (labels) => rate("buildkit_worker_failures_total", `${pool}, reason`, labels),
        legend: `${poolLegend} {{reason}}`,
      },
    ],
  },
  {
    title: "API requests by route and status",
    unit: "ops",
    queries: [
      {
        expr: (labels) => rate("buildkit_controller_api_requests_total", "method, path, code", labels),
        legend: "{{method}} {{path}} {{code}}",
      },
    ],
  },
  {
    title: "Who was recognized",
    unit: "ops",
    queries: [
      {
        expr: (labels) => rate("buildkit_api_authentications_total", "result", labels),
        legend: "{{result}}",
      },
    ],
  },
  {
    title: "Connections at present",
    queries: [
      { expr: () => `sum by (${gateway}) (buildkit_gateway_active_connections)`, legend: gatewayLegend },
    ],
  },
  {
    title: "Connections by how they went",
    unit: "ops",
    queries: [
      {
        expr: () => rate("buildkit_gateway_connections_total", `${gateway}, status`, ""),
        legend: `${gatewayLegend} {{status}}`,
      },
    ],
  },
  {
    title: "How long connections last",
    unit: "s",
    queries: [
      {
        expr: () => quantile(0.9, "buildkit_gateway_connection_duration_seconds", gateway),
        legend: `${gatewayLegend} p90`,
      },
    ],
  },
  {
    title: "Bytes of ended connections",
    unit: "Bps",
    queries: [
      {
        expr: () => rate("buildkit_gateway_bytes_total", `${gateway}, from`, ""),
        legend: `${gatewayLegend} from {{from}}`,
      },
    ],
  },
  {
    title: "Days until gateways' certificates end",
    unit: "d",
    queries: [
      {
        expr: () =>
          `min by (${gateway}) (buildkit_gateway_certificate_expiry_timestamp_seconds - time()) / 86400`,
        legend: gatewayLegend,
      },
    ],
  },
];
