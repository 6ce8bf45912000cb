import type { Registry } from "./registry.ts";

/** Upper bounds of `controller_runtime_reconcile_time_seconds`: the ones dashboards for controller-runtime expect. */
export const reconcileTimeBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
  1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** Upper bounds of the work queue's two durations: 10 ns to 1,000 s, a decade apart. */
export const queueTimeBuckets: readonly number[] = [
  1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000,
];

/** How a reconcile ended, as the `result` label says it. */
export type ReconcileOutcomeLabel = "success" | "error" | "requeue" | "requeue_after";

const outcomes: readonly ReconcileOutcomeLabel[] = ["success", "error", "requeue", "requeue_after"];
const maxReasons = 50;
const maxPriorities = 25;

/** What one controller reports, under the names that dashboards and alerts for controller-runtime already use. */
export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

/**
 * The metrics of one controller. Every series starts at zero, so that a rate is right from the first scrape.
 *
 * `windlass_*` families have no counterpart in controller-runtime.
 */
export function controllerMetrics(registry: Registry, controller: string, concurrency: number) {
  const labels = { controller };
  const named = ["controller"];
  const total = registry.counter({
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller",
    labels: ["controller", "result"],
  });
  const errors = registry.counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of reconciliation errors per controller",
    labels: named,
  });
  const terminalErrors = registry.counter({
    name: "controller_runtime_terminal_reconcile_errors_total",
    help: "Total number of terminal reconciliation errors per controller",
    labels: named,
  });
  const panics = registry.counter({
    name: "controller_runtime_reconcile_panics_total",
    help: "Total number of exceptions that escaped a reconcile per controller",
    labels: named,
  });
  const timeouts = registry.counter({
    name: "controller_runtime_reconcile_timeouts_total",
    help: "Total number of reconciliation timeouts per controller",
    labels: named,
  });
  const time = registry.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labels: named,
    buckets: reconcileTimeBuckets,
  });
  const workers = registry.gauge({
    name: "controller_runtime_max_concurrent_reconciles",
    help: "Maximum number of concurrent reconciles per controller",
    labels: named,
  });
  const active = registry.gauge({
    name: "controller_runtime_active_workers",
    help: "Number of currently used workers per controller",
    labels: named,
  });
  const reasons = registry.counter({
    name: "windlass_reconcile_failures_total",
    help: "Failed reconciliations by the reason that the condition, the event and the log give",
    labels: ["controller", "reason"],
  });
  const hotLoops = registry.counter({
    name: "windlass_hot_loops_total",
    help: "Times an object was seen to be reconciled over and over because of the controller's own writes",
    labels: named,
  });
  const writes = registry.counter({
    name: "windlass_writes_total",
    help: "Writes sent by reconciles, by verb",
    labels: ["controller", "verb"],
  });
  const skipped = registry.counter({
    name: "windlass_writes_skipped_total",
    help: "Writes that reconciles asked for and that would have changed nothing",
    labels: named,
  });
  for (const result of outcomes) total.inc({ controller, result }, 0);
  for (const counter of [errors, terminalErrors, panics, timeouts, hotLoops, skipped]) counter.inc(labels, 0);
  time.zero(labels);
  workers.set(concurrency, labels);
  active.set(0, labels);
  const seen = new Set<string>();
  return {
    reconciled(result: ReconcileOutcomeLabel, seconds: number) {
      total.inc({ controller, result });
      time.observe(seconds, labels);
    },
    failed(reason: string, how: { readonly terminal: boolean }) {
      errors.inc(labels);
      if (how.terminal) terminalErrors.inc(labels);
      if (seen.size < maxReasons) seen.add(reason);
      reasons.inc({ controller, reason: seen.has(reason) ? reason : "exceeded_cardinality_limit" });
    },
    escaped: () => panics.inc(labels),
    timedOut: () => timeouts.inc(labels),
    working: (change: 1 | -1) => active.add(change, labels),
    hotLoop: () => hotLoops.inc(labels),
    wrote: (verb: string) => writes.inc({ controller, verb }),
    skipped: () => skipped.inc(labels),
  };
}

/** A look into a queue at the time of a scrape. */
export interface QueueSample {
  /** Keys that wait and are ready, by priority. */
  readonly depth: ReadonlyMap<number, number>;
  /** Seconds that each key under way has been worked on. */
  readonly running: readonly number[];
}

/** What one work queue reports. */
export type QueueMetrics = ReturnType<typeof queueMetrics>;

/** The `workqueue_*` families of one controller's queue. Depth and running times are asked for at each scrape. */
export function queueMetrics(registry: Registry, controller: string, sample: () => QueueSample) {
  const labels = { name: controller, controller };
  const named = ["name", "controller"];
  const depth = registry.gauge({
    name: "workqueue_depth",
    help: "Current depth of workqueue by workqueue and priority",
    labels: [...named, "priority"],
  });
  const adds = registry.counter({
    name: "workqueue_adds_total",
    help: "Total number of adds handled by workqueue",
    labels: named,
  });
  const waited = registry.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long in seconds an item stays in workqueue before being requested",
    labels: named,
    buckets: queueTimeBuckets,
  });
  const worked = registry.histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long in seconds processing an item from workqueue takes.",
    labels: named,
    buckets: queueTimeBuckets,
  });
  const unfinished = registry.gauge({
    name: "workqueue_unfinished_work_seconds",
    help: "How many seconds of work has been done that is in progress and hasn't been observed by work_duration",
    labels: named,
  });
  const longest = registry.gauge({
    name: "workqueue_longest_running_processor_seconds",
    help: "How many seconds has the longest running processor for workqueue been running.",
    labels: named,
  });
  const retries = registry.counter({
    name: "workqueue_retries_total",
    help: "Total number of retries handled by workqueue",
    labels: named,
  });
  adds.inc(labels, 0);
  retries.inc(labels, 0);
  waited.zero(labels);
  worked.zero(labels);
  unfinished.set(0, labels);
  const priorities = new Set<string>(["0"]);
  depth.set(0, { ...labels, priority: "0" });
  depth.collect(() => {
    const now = sample();
    for (const priority of priorities) depth.set(0, { ...labels, priority });
    for (const [priority, count] of now.depth) {
      const known = priorities.has(String(priority)) || priorities.size < maxPriorities;
      const label = known ? String(priority) : "exceeded_cardinality_limit";
      priorities.add(label);
      depth.add(count, { ...labels, priority: label });
    }
    unfinished.set(
      now.running.reduce((sum, seconds) => sum + seconds, 0),
      labels,
    );
    longest.set(Math.max(0, ...now.running), labels);
  });
  return {
    added: () => adds.inc(labels),
    taken: (waitSeconds: number) => waited.observe(waitSeconds, labels),
    done: (seconds: number) => worked.observe(seconds, labels),
    retried: () => retries.inc(labels),
  };
}
