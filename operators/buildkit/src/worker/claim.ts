import type { Allocation, Worker } from "./worker.ts";

/**
 * Whether a worker may be claimed. Its status must be about its present spec: a worker that was just released is idle once its
 * controller has seen that its builds have ended.
 */
export function isClaimable({ metadata, spec, status }: Worker): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    spec.allocation === undefined &&
    status?.phase === "Idle" &&
    status.drainingSince === undefined &&
    status.observedGeneration === metadata.generation
  );
}

/**
 * The worker with a claim on it, to be written with `update`. The server refuses it if anyone has written the worker since it was
 * read: a claim, a release, the mark that it is to be deleted.
 */
export function claimed(worker: Worker, allocation: Allocation): Worker {
  return { ...worker, spec: { ...worker.spec, allocation } };
}

/** The worker without its claim, to be written with `update`. */
export function released(worker: Worker): Worker {
  const { allocation: _released, ...spec } = worker.spec;
  return { ...worker, spec };
}
