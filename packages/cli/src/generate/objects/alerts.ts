import type { AlertDeclaration } from "../operator.ts";
import type { Operator } from "../resolve.ts";

/** What is worth waking someone for, whatever the operator does. */
export function commonAlerts({ name, lease, webhooks, manager }: Operator): readonly AlertDeclaration[] {
  return [
    {
      name: "OperatorDown",
      expr: (labels) => `absent(up{${labels}} == 1)`,
      for: "5m",
      severity: "critical",
      summary: `No replica of ${name} answers`,
      description: `Nothing is reconciled. Look at the pods of the Deployment ${name}, and at their logs.`,
    },
    ...(lease === undefined
      ? []
      : [
          {
            name: "OperatorWithoutLeader",
            expr: (labels: string) => `sum(leader_election_master_status{${labels}}) == 0`,
            for: "2m",
            severity: "critical" as const,
            summary: `No replica of ${name} leads`,
            description: `Nothing is reconciled. The logs say why the Lease ${lease} cannot be had: rights, or the API server.`,
          },
        ]),
    ...(manager.controllers.length === 0 ? [] : controllerAlerts),
    ...(webhooks === undefined ? [] : [webhookAlert]),
  ];
}

const controllerAlerts: readonly AlertDeclaration[] = [
  {
    name: "ReconcileErrors",
    expr: (labels) =>
      `sum by (controller) (rate(controller_runtime_reconcile_errors_total{${labels}}[5m])) / sum by (controller) (rate(controller_runtime_reconcile_total{${labels}}[5m])) > 0.1`,
    for: "15m",
    summary: "More than a tenth of the reconciles of {{ $labels.controller }} fail",
    description:
      "windlass_reconcile_failures_total has the reasons, the condition Ready of the objects at fault the words.",
  },
  {
    name: "ReconcilesStuck",
    expr: (labels) => `max by (controller) (workqueue_longest_running_processor_seconds{${labels}}) > 300`,
    summary: "A reconcile of {{ $labels.controller }} has been running for over five minutes",
    description: "It waits for something that does not come. The log names the object and its controller.",
  },
  {
    name: "QueueNotDrained",
    expr: (labels) =>
      `histogram_quantile(0.9, sum by (controller, le) (rate(workqueue_queue_duration_seconds_bucket{${labels}}[5m]))) > 60`,
    for: "15m",
    summary: "Objects wait for over a minute before {{ $labels.controller }} looks at them",
    description:
      "There is more to do than it can do. Raise the controller's concurrency, or find what takes so long: controller_runtime_reconcile_time_seconds.",
  },
  {
    name: "HotLoop",
    expr: (labels) => `sum by (controller) (increase(windlass_hot_loops_total{${labels}}[15m])) > 0`,
    for: "0m",
    summary: "{{ $labels.controller }} reconciles objects over and over because of its own writes",
    description:
      "Two writers disagree about a field, or the reconciler writes something new each time. The log names the field.",
  },
  {
    name: "CacheStale",
    expr: (labels) => `max by (group, kind) (windlass_cache_staleness_seconds{${labels}}) > 300`,
    for: "5m",
    summary: "The watch of {{ $labels.kind }} has been silent for over five minutes",
    description:
      "The watch is cut off or refused: the log says which. What is decided until it is back is decided from old objects.",
  },
];

const webhookAlert: AlertDeclaration = {
  name: "WebhookErrors",
  expr: (labels) =>
    `sum by (webhook) (rate(controller_runtime_webhook_requests_total{${labels},code=~"5.."}[5m])) > 0`,
  for: "10m",
  severity: "critical",
  summary: "The webhook {{ $labels.webhook }} fails",
  description: "Writes of its kind are refused. The log has the exception.",
};
