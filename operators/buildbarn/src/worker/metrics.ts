import type { Registry } from "@windlass/runtime";

/** What is reported about a queue and the workers that take from it. */
export interface QueueFigures {
  readonly queued: number;
  readonly executing: number;
  readonly desired: number;
}

interface WorkerName {
  readonly namespace: string;
  readonly name: string;
}

function families(registry: Registry) {
  const labels = ["namespace", "worker"];
  return {
    queued: registry.gauge({
      name: "buildbarn_worker_queued_actions",
      help: "Actions that wait for workers, counted up to what the most workers could run",
      labels,
    }),
    executing: registry.gauge({
      name: "buildbarn_worker_executing_actions",
      help: "Actions that workers run",
      labels,
    }),
    desired: registry.gauge({
      name: "buildbarn_worker_desired_replicas",
      help: "How many pods of workers the queue needs",
      labels,
    }),
  };
}

/** Sets the metrics of workers. */
export function reportWorker(
  registry: Registry,
  { namespace, name }: WorkerName,
  figures: QueueFigures,
): void {
  const labels = { namespace, worker: name };
  const { queued, executing, desired } = families(registry);
  queued.set(figures.queued, labels);
  executing.set(figures.executing, labels);
  desired.set(figures.desired, labels);
}

/** Takes the metrics of workers away that are gone. */
export function forgetWorker(registry: Registry, { namespace, name }: WorkerName): void {
  for (const family of Object.values(families(registry))) family.remove({ namespace, worker: name });
}
