import type { Allocation, Worker } from "./worker.ts";

/**
 * Whether a worker may be claimed. Its status must be about its present spec: a worker that was
 * just released is idle once its controller has seen that its builds have ended.
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

/** Whether who has a worker can go on building with it: it has not failed, and is not to go. */
export function isServing({ metadata, status }: Pick<Worker, "metadata" | "status">): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.phase !== "Failed" &&
    status?.phase !== "Terminating" &&
    status?.drainingSince === undefined
  );
}

/**
 * Whether a worker counts for how many its owner has. One that has failed does not; one that is to
 * go does while it builds.
 */
export function isHeld(worker: Worker): boolean {
  if (!worker.spec.allocation) return false;
  return isServing(worker) || (worker.status?.activeBuilds ?? 0) > 0;
}

/**
 * The worker with a claim on it, to be written with `update`. The server refuses it if anyone has
 * written the worker since it was read: a claim, a release, the mark that it is to be deleted.
 */
export function claimed(worker: Worker, allocation: Allocation): Worker {
  const { lastAllocation: _seen, ...spec } = worker.spec;
  return { ...worker, spec: { ...spec, allocation } };
}

/**
 * The worker without its claim, to be written with `update`. Who had it stays written down: a claim
 * that comes and goes between two looks would leave no trace, and the worker would be given to
 * others as if it were new.
 */
export function released(worker: Worker): Worker {
  const { allocation, ...spec } = worker.spec;
  if (!allocation) return worker;
  const { tokenHash, requestedBy, affinityKey } = allocation;
  const lastAllocation = { tokenHash, requestedBy, ...(affinityKey === undefined ? {} : { affinityKey }) };
  return { ...worker, spec: { ...spec, lastAllocation } };
}

/**
 * A worker to be written, without the fields' managers: the server then stops tracking them, here
 * and in later writes, until an apply. Workers are given out and back all the time,
 * no two write the same field, and keeping track is a third of what such a write costs the server.
 */
export function untracked(worker: Worker): Worker {
  return { ...worker, metadata: { ...worker.metadata, managedFields: [{}] } };
}

/** Whether the worker was claimed by a client that its status does not show yet. */
export function hasUnseenUse({ spec, status }: Pick<Worker, "spec" | "status">): boolean {
  const use = spec.allocation ?? spec.lastAllocation;
  return use !== undefined && use.tokenHash !== status?.allocatedTo;
}
