import type { Labels, Registry } from "./registry.ts";

/**
 * Upper bounds of `controller_runtime_reconcile_time_seconds`: the ones dashboards for
 * controller-runtime expect.
 */
export const reconcileTimeBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
  1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** How a reconcile ended, as the `result` label says it. */
export type ReconcileOutcomeLabel = "success" | "error" | "requeue" | "requeue_after";

const outcomes: readonly ReconcileOutcomeLabel[] = ["success", "error", "requeue", "requeue_after"];
const maxReasons = 50;

/**
 * What one controller reports, under the names that dashboards and alerts for controller-runtime
 * already use.
 */
export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

/**
 * The metrics of one controller. Every series starts at zero, so that a rate is right from the
 * first scrape.
 *
 * `windlass_*` families have no counterpart in controller-runtime.
 */
export function controllerMetrics(registry: Registry, controller: string, concurrency: number) {
  const labels = Object.freeze({ controller });
  const named = ["controller"];
  const counter = (name: string, help: string, ...more: readonly string[]) =>
    registry.counter({ name, help, labels: [...named, ...more] });
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labels: named });
  const total = counter(
    "controller_runtime_reconcile_total",
    "Total number of reconciliations per controller",
    "result",
  );
  const errors = counter(
    "controller_runtime_reconcile_errors_total",
    "Total number of reconciliation errors per controller",
  );
  const terminalErrors = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Total number of terminal reconciliation errors per controller",
  );
  const panics = counter(
    "controller_runtime_reconcile_panics_total",
    "Total number of exceptions that escaped a reconcile per controller",
  );
  const timeouts = counter(
    "controller_runtime_reconcile_timeouts_total",
    "Total number of reconciliation timeouts per controller",
  );
  const time = registry.histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labels: named,
    buckets: reconcileTimeBuckets,
  });
  const workers = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles per controller",
  );
  const active = gauge(
    "controller_runtime_active_workers",
    "Number of currently used workers per controller",
  );
  const reasons = counter(
    "windlass_reconcile_failures_total",
    "Failed reconciliations by the reason that the condition, the event and the log give",
    "reason",
  );
  const hotLoops = counter(
    "windlass_hot_loops_total",
    "Times an object was seen to be reconciled over and over because of the controller's own writes",
  );
  const writes = counter("windlass_writes_total", "Writes sent by reconciles, by verb", "verb");
  const skipped = counter(
    "windlass_writes_skipped_total",
    "Writes that reconciles asked for and that would have changed nothing",
  );
  const byResult = new Map(outcomes.map((result) => [result, Object.freeze({ controller, result })]));
  const byVerb = new Map<string, Labels>();
  for (const resultLabels of byResult.values()) total.inc(resultLabels, 0);
  for (const one of [errors, terminalErrors, panics, timeouts, hotLoops, skipped]) one.inc(labels, 0);
  time.zero(labels);
  workers.set(concurrency, labels);
  active.set(0, labels);
  const seen = new Set<string>();
  return {
    reconciled(result: ReconcileOutcomeLabel, seconds: number) {
      total.inc(byResult.get(result));
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
    wrote(verb: string) {
      let verbLabels = byVerb.get(verb);
      if (!verbLabels) {
        verbLabels = Object.freeze({ controller, verb });
        byVerb.set(verb, verbLabels);
      }
      writes.inc(verbLabels);
    },
    skipped: () => skipped.inc(labels),
  };
}
