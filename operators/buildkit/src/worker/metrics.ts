import type { Registry } from "@windlass/runtime";
import type { PoolName } from "../pool-name.ts";

/** What is counted of a pool's workers. */
export type WorkerMetrics = ReturnType<typeof workerMetrics>;

/** The metrics of a pool's workers. */
export function workerMetrics(registry: Registry, { namespace, name }: PoolName) {
  const named = { pool: name, namespace };
  const labels = ["pool", "namespace"];
  const allocations = registry.counter({
    name: "buildkit_worker_allocations_total",
    help: "Times that a worker was allocated",
    labels,
  });
  const starts = registry.histogram({
    name: "buildkit_worker_start_duration_seconds",
    help: "From the making of a worker until it was ready first",
    labels,
    buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600],
  });
  const failures = registry.counter({
    name: "buildkit_worker_failures_total",
    help: "Workers that failed, by why",
    labels: [...labels, "reason"],
  });
  return {
    allocated: () => allocations.inc(named),
    started: (seconds: number) => starts.observe(seconds, named),
    failed: (reason: string) => failures.inc({ ...named, reason }),
  };
}
