import type { Registry } from "@windlass/runtime";
import type { PoolName } from "../pool-name.ts";
import { type WorkerPhase, workerPhases } from "../worker/worker.ts";

/** What is reported about a pool. */
export interface PoolFigures {
  readonly phases: Readonly<Record<WorkerPhase, number>>;
  readonly waiting: number;
  readonly oldestWaitSeconds: number;
  readonly max: number;
  /** Epoch seconds. */
  readonly certificateEnd: number;
}

function families(registry: Registry) {
  const labels = ["pool", "namespace"];
  return {
    workers: registry.gauge({
      name: "buildkit_workers_total",
      help: "Workers by phase",
      labels: [...labels, "phase"],
    }),
    max: registry.gauge({ name: "buildkit_workers_max", help: "How many workers a pool may have", labels }),
    waiting: registry.gauge({
      name: "buildkit_queue_length",
      help: "Requests that wait for a worker",
      labels,
    }),
    oldest: registry.gauge({
      name: "buildkit_queue_oldest_seconds",
      help: "How long the oldest request has waited",
      labels,
    }),
    certificate: registry.gauge({
      name: "buildkit_certificate_expiry_timestamp_seconds",
      help: "When the certificate ends that a pool's gateway shows its clients",
      labels,
    }),
  };
}

/** Sets the metrics of a pool. */
export function reportPool(registry: Registry, { namespace, name }: PoolName, figures: PoolFigures): void {
  const labels = { pool: name, namespace };
  const { workers, max, waiting, oldest, certificate } = families(registry);
  for (const phase of workerPhases)
    workers.set(figures.phases[phase], { ...labels, phase: phase.toLowerCase() });
  max.set(figures.max, labels);
  waiting.set(figures.waiting, labels);
  oldest.set(figures.oldestWaitSeconds, labels);
  certificate.set(figures.certificateEnd, labels);
}

/** Takes the metrics of a pool away that is gone. */
export function forgetPool(registry: Registry, { namespace, name }: PoolName): void {
  const labels = { pool: name, namespace };
  const { workers, ...others } = families(registry);
  for (const phase of workerPhases) workers.remove({ ...labels, phase: phase.toLowerCase() });
  for (const family of Object.values(others)) family.remove(labels);
}
