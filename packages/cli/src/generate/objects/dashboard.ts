import type { PanelDeclaration } from "../operator.ts";
import type { Rendering } from "../rendering.ts";
import type { Operator } from "../resolve.ts";
import { labelsOf } from "./labels.ts";
import { seriesOf } from "./monitoring.ts";

/** A dashboard for Grafana, in the ConfigMap that its sidecar looks for. */
export function dashboardConfigMap(operator: Operator, rendering: Rendering): object {
  const { name, manager } = operator;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `${name}-dashboard`,
      namespace: rendering.namespace,
      labels: { ...labelsOf(operator, manager), grafana_dashboard: "1" },
    },
    data: { [`${name}.json`]: `${JSON.stringify(dashboard(operator, rendering), null, 2)}\n` },
  };
}

const columns = 24;
const height = 8;
const width = columns / 2;
const datasource = { type: "prometheus", uid: `\${datasource}` };

function dashboard(operator: Operator, { namespace }: Rendering) {
  const { name, description, manager, components, panels } = operator;
  const common = commonPanels(operator).map((panel) => ({ panel, labels: seriesOf([manager], namespace) }));
  const own = panels.map((panel) => ({ panel, labels: seriesOf([manager, ...components], namespace) }));
  return {
    uid: name,
    title: name,
    description,
    tags: ["windlass", "operator"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: {
      list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }],
    },
    panels: [...common, ...own].map(({ panel, labels }, index) => graph(panel, labels, index)),
  };
}

/** Two panels to a row, in order. */
function graph({ title, queries, unit = "short" }: PanelDeclaration, labels: string, index: number) {
  return {
    id: index + 1,
    type: "timeseries",
    title,
    datasource,
    gridPos: { x: (index % 2) * width, y: Math.floor(index / 2) * height, w: width, h: height },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(({ expr, legend }, query) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + query),
      datasource,
      expr: expr(labels),
      ...(legend === undefined ? {} : { legendFormat: legend }),
    })),
  };
}

/** The value that a share of the observations of a histogram stay below. */
function quantile(share: number, histogram: string, by: string, labels: string): string {
  return `histogram_quantile(${share}, sum by (${by}, le) (rate(${histogram}_bucket{${labels}}[$__rate_interval])))`;
}

function rate(counter: string, by: string, labels: string): string {
  return `sum by (${by}) (rate(${counter}{${labels}}[$__rate_interval]))`;
}

function commonPanels({ webhooks }: Operator): readonly PanelDeclaration[] {
  return [
    {
      title: "Reconciles by result",
      unit: "ops",
      queries: [
        {
          expr: (labels) => rate("controller_runtime_reconcile_total", "controller, result", labels),
          legend: "{{controller}} {{result}}",
        },
      ],
    },
    {
      title: "Failures by reason",
      unit: "ops",
      queries: [
        {
          expr: (labels) => rate("windlass_reconcile_failures_total", "controller, reason", labels),
          legend: "{{controller}} {{reason}}",
        },
      ],
    },
    {
      title: "Time of a reconcile",
      unit: "s",
      queries: [0.5, 0.99].map((share) => ({
        expr: (labels) => quantile(share, "controller_runtime_reconcile_time_seconds", "controller", labels),
        legend: `{{controller}} p${share * 100}`,
      })),
    },
    {
      title: "Objects that wait",
      queries: [
        { expr: (labels) => `sum by (controller) (workqueue_depth{${labels}})`, legend: "{{controller}}" },
      ],
    },
    {
      title: "Time in the queue",
      unit: "s",
      queries: [
        {
          expr: (labels) => quantile(0.99, "workqueue_queue_duration_seconds", "controller", labels),
          legend: "{{controller}} p99",
        },
      ],
    },
    {
      title: "Writes",
      unit: "ops",
      queries: [
        {
          expr: (labels) => rate("windlass_writes_total", "controller, verb", labels),
          legend: "{{controller}} {{verb}}",
        },
      ],
    },
    {
      title: "Objects in the caches",
      queries: [{ expr: (labels) => `max by (kind) (windlass_cache_items{${labels}})`, legend: "{{kind}}" }],
    },
    {
      title: "Requests to the API server by status",
      unit: "ops",
      queries: [
        {
          expr: (labels) => rate("rest_client_requests_total", "method, code", labels),
          legend: "{{method}} {{code}}",
        },
      ],
    },
    {
      title: "Leader",
      queries: [
        { expr: (labels) => `max by (pod) (leader_election_master_status{${labels}})`, legend: "{{pod}}" },
      ],
    },
    ...(webhooks === undefined
      ? []
      : [
          {
            title: "Time of a webhook",
            unit: "s",
            queries: [
              {
                expr: (labels: string) =>
                  quantile(0.99, "controller_runtime_webhook_latency_seconds", "webhook", labels),
                legend: "{{webhook}} p99",
              },
            ],
          },
        ]),
  ];
}
