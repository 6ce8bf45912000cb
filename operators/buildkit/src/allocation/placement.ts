import type { Pool } from "../pool/index.ts";
import { isClaimable, type Worker } from "../worker/index.ts";
import { preferred } from "./rendezvous.ts";
import { fairOrder, type Waiting } from "./turns.ts";

/** What of a pool decides who gets which worker. */
export interface PlacementRules {
  readonly reuse: Pool["spec"]["scaling"]["reuse"];
  /** How long a request waits for the worker that has its cache, though others are idle. */
  readonly affinityWaitMs: number;
}

/**
 * Which requests can be given a worker at this moment, and which one. Pure: replicas that see the
 * same come to the same result, and do not get in each other's way.
 */
export function placements(
  waiting: readonly Waiting[],
  workers: readonly Worker[],
  now: number,
  rules: PlacementRules,
): ReadonlyMap<string, Worker> {
  const free = new Set(workers.filter(isClaimable));
  const placed = new Map<string, Worker>();
  // Nearly always so while many wait: no need to put them in order.
  if (free.size === 0) return placed;
  for (const request of fairOrder(waiting, workers)) {
    if (free.size === 0) break;
    const worker = choose(request, [...free], workers, now, rules);
    if (!worker) continue;
    free.delete(worker);
    placed.set(request.name, worker);
  }
  return placed;
}

function choose(
  request: Waiting,
  free: readonly Worker[],
  workers: readonly Worker[],
  now: number,
  rules: PlacementRules,
): Worker | undefined {
  const { affinityKey } = request;
  const allowed = free.filter((worker) => mayReuse(worker, request, rules.reuse));
  const unused = allowed.filter(({ status }) => status?.affinityKey === undefined);
  // Any without a project's cache: another one for each request, so that replicas do not all claim
  // the same at a time. Else the one that has been idle for longest, so that the others' caches
  // stay.
  if (affinityKey === undefined) return preferred(request.name, unused, nameOf) ?? longestIdle(allowed);
  const warm = allowed.filter(({ status }) => status?.affinityKey === affinityKey);
  if (warm.length > 0) return preferred(affinityKey, warm, nameOf);
  const isWarmElsewhere = workers.some((worker) => isBusyWith(worker, affinityKey));
  if (isWarmElsewhere && now < request.requestedAt + rules.affinityWaitMs) return undefined;
  return preferred(affinityKey, unused.length > 0 ? unused : allowed, nameOf);
}

/** Whether a worker that was used before may be given to a request. */
function mayReuse({ status }: Worker, request: Waiting, reuse: PlacementRules["reuse"]): boolean {
  const isNew = status?.lastUsedBy === undefined && (status?.allocationCount ?? 0) === 0;
  switch (reuse) {
    case "pool":
      return true;
    case "never":
      return isNew;
    case "sameIdentity":
      return isNew || status?.lastUsedBy === request.owner;
    case "sameAffinity":
      return isNew || (request.affinityKey !== undefined && status?.affinityKey === request.affinityKey);
  }
}

/** Whether a worker has a key's cache, and can be expected to be free again. */
function isBusyWith({ metadata, spec, status }: Worker, affinityKey: string): boolean {
  // One that was just released has not said yet whose cache it has.
  const key = (spec.allocation ?? spec.lastAllocation)?.affinityKey ?? status?.affinityKey;
  return (
    key === affinityKey &&
    metadata.deletionTimestamp === undefined &&
    status?.drainingSince === undefined &&
    status?.phase !== "Terminating" &&
    status?.phase !== "Failed"
  );
}

function longestIdle(workers: readonly Worker[]): Worker | undefined {
  const since = ({ status }: Worker) => status?.phaseSince ?? "";
  return workers.toSorted(
    (a, b) => since(a).localeCompare(since(b)) || nameOf(a).localeCompare(nameOf(b)),
  )[0];
}

function nameOf({ metadata }: Worker): string {
  return metadata.name;
}
