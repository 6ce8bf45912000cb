import type { AlertDeclaration, PanelDeclaration } from "@windlass/cli";

/**
 * When the oldest blocks of the CAS were written that have been dropped since. 0 while none has
 * been.
 */
const lastRemoved =
  'buildbarn_blobstore_old_current_new_location_blob_map_last_removed_old_block_insertion_time_seconds{storage_type="cas"}';
const queue = "buildbarn_builder_in_memory_build_queue";

/**
 * What an administrator should look at. Those of Buildbarn's own metrics need the ServiceMonitors
 * that the operator makes.
 */
export const alerts: readonly AlertDeclaration[] = [
  {
    name: "BuildbarnProbeFailing",
    expr: (labels) => `buildbarn_probe_success{${labels}} == 0`,
    for: "15m",
    severity: "critical",
    summary: "No action runs through {{ $labels.namespace }}/{{ $labels.frontend }}",
    description:
      "A small action was tried as Bazel would, and failed. status.lastProbe.message of the BuildbarnFrontend has the reason.",
  },
  {
    name: "BuildbarnCertificateExpired",
    expr: (labels) => `buildbarn_certificate_expiry_timestamp_seconds{${labels}} < time()`,
    severity: "critical",
    summary: "The certificate of {{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} has run out",
    description:
      "Builds fail until its Secret has another one. The condition CertificateValid has the details.",
  },
  {
    name: "BuildbarnCertificateExpiring",
    expr: (labels) => `buildbarn_certificate_renewal_due{${labels}} == 1`,
    for: "30m",
    summary: "The certificate of {{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} runs out soon",
    description:
      "It should have been renewed. The condition CertificateValid has the time at which it runs out; see why cert-manager has not, if it makes it.",
  },
  {
    name: "BuildbarnActionsWaiting",
    expr: (labels) => `buildbarn_worker_queued_actions{${labels}} > 0`,
    for: "30m",
    summary: "Actions have waited for {{ $labels.namespace }}/{{ $labels.worker }} for half an hour",
    description:
      "Raise spec.autoscaling.maxReplicas of the BuildbarnWorker, or find out why its pods do not become ready.",
  },
  {
    name: "BuildbarnCacheRetentionLow",
    expr: () => `time() - (${lastRemoved} > 0) < 86400`,
    for: "1h",
    summary: "A shard of {{ $labels.namespace }} keeps blobs for less than a day",
    description:
      "Results are dropped before they are used again. Have more shards (spec.replicas of the BuildbarnStorage keeps the cache), or larger blocks.",
  },
  {
    name: "BuildbarnIndexTooSmall",
    expr: () => "rate(buildbarn_blobstore_hashing_key_location_map_put_too_many_iterations_total[15m]) > 0",
    for: "15m",
    summary: "A shard of {{ $labels.namespace }} loses blobs, for its index is full",
    description:
      "Raise spec.cas.index.size or spec.ac.index.size of the BuildbarnStorage. That empties the store.",
  },
];

/** What to see at a glance. */
export const panels: readonly PanelDeclaration[] = [
  {
    title: "Actions that wait and run, by workers",
    queries: [
      {
        expr: (labels) => `buildbarn_worker_queued_actions{${labels}}`,
        legend: "{{namespace}}/{{worker}} wait",
      },
      {
        expr: (labels) => `buildbarn_worker_executing_actions{${labels}}`,
        legend: "{{namespace}}/{{worker}} run",
      },
    ],
  },
  {
    title: "Pods of workers that the queue needs",
    queries: [
      {
        expr: (labels) => `buildbarn_worker_desired_replicas{${labels}}`,
        legend: "{{namespace}}/{{worker}}",
      },
    ],
  },
  {
    title: "Last action that was tried",
    unit: "s",
    queries: [
      { expr: (labels) => `buildbarn_probe_seconds{${labels}}`, legend: "{{namespace}}/{{frontend}}" },
    ],
  },
  {
    title: "Actions that end, by namespace",
    unit: "ops",
    queries: [
      {
        expr: () => `sum by (namespace) (rate(${queue}_tasks_executing_duration_seconds_count[5m]))`,
        legend: "{{namespace}}",
      },
    ],
  },
  {
    title: "How long actions wait: the slowest tenth",
    unit: "s",
    queries: [
      {
        expr: () =>
          `histogram_quantile(0.9, sum by (namespace, le) (rate(${queue}_tasks_queued_duration_seconds_bucket[5m])))`,
        legend: "{{namespace}}",
      },
    ],
  },
  {
    title: "Age of the oldest blob in the CAS",
    unit: "s",
    queries: [{ expr: () => `time() - (${lastRemoved} > 0)`, legend: "{{pod}}" }],
  },
];
