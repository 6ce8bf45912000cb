import type { QueueSample } from "../queue/index.ts";
import type { Registry } from "./registry.ts";

/** Upper bounds of the work queue's two durations: 10 ns to 1,000 s, a decade apart. */
const queueTimeBuckets: readonly number[] = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

const maxPriorities = 25;

/** What one work queue reports. */
export type QueueMetrics = ReturnType<typeof queueMetrics>;

/**
 * The `workqueue_*` families of one controller's queue. Depth and running times are asked for at
 * each scrape.
 */
export function queueMetrics(registry: Registry, controller: string, sample: () => QueueSample) {
  const labels = Object.freeze({ name: controller, controller });
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
