import type { WorkerPhase } from "../worker/worker.ts";
import { chooseSlot, type FreeSlot } from "./cache-slots.ts";

/** What scaling sees of a worker. Times are epoch milliseconds. */
export interface WorkerSeen {
  readonly name: string;
  readonly slot: number;
  readonly phase: WorkerPhase;
  /** Since when it is in this phase. */
  readonly since: number;
  readonly isDeleted: boolean;
  readonly isClaimed: boolean;
  /** Whether it was made from what the pool says now, and not too long ago. */
  readonly isCurrent: boolean;
  /** Whose cache it has. */
  readonly affinityKey: string | undefined;
  /** Whose request it was made for. */
  readonly madeFor: string | undefined;
  /** Who had it last; undefined if no client had. */
  readonly lastUsedBy: string | undefined;
}

/** What scaling sees of a request that waits. */
export interface RequestSeen {
  readonly owner: string;
  /** Whose cache it prefers. */
  readonly affinityKey: string | undefined;
}

/** What scaling sees of a pool. */
export interface PoolSeen {
  readonly now: number;
  readonly workers: readonly WorkerSeen[];
  /** In the order in which they are served. */
  readonly waiting: readonly RequestSeen[];
  /** Whose cache the volumes of slots have. */
  readonly slotAffinity: ReadonlyMap<number, string>;
  /** Slots whose worker's name an object of others has. @default none */
  readonly blockedSlots?: ReadonlySet<number>;
  /** Workers that failed in a row, and when the last one did. */
  readonly failures: Failures;
}

/** Workers that failed since the last one that came up. */
export interface Failures {
  readonly count: number;
  readonly lastAt: number;
}

/** How a pool scales. */
export interface ScalingRules {
  readonly mode: "auto" | "manual" | "dynamic";
  /** What the schedules say now. */
  readonly min: number;
  readonly max: number;
  /** How long a worker stays idle that is not kept warm. */
  readonly idleMs: number;
  readonly failedKept: number;
  /** In dynamic mode, the workers in use for each idle one. */
  readonly usedPerIdle: number;
  /** Who may be given a worker that was used before. */
  readonly reuse: "never" | "sameIdentity" | "sameAffinity" | "pool";
}

/** What to do about a pool's workers. */
export interface ScalingPlan {
  /** Slots to make workers in, and whose request each is for. */
  readonly create: readonly { readonly slot: number; readonly affinityKey: string | undefined }[];
  readonly remove: readonly { readonly name: string; readonly why: string }[];
  /** How many workers there should be. */
  readonly desired: number;
  /** How many of those are missing, whether they can be made now or not. */
  readonly needed: number;
  /** Whether more workers are asked for than `max` allows. */
  readonly isExhausted: boolean;
  /** When to look again, if nothing happens before. */
  readonly until: number | undefined;
}

const FIRST_BACKOFF_MS = 5_000;
const LONGEST_BACKOFF_MS = 5 * 60_000;

/** When a worker may be made again after failures. */
export function backoffEnd({ count, lastAt }: Failures): number {
  if (count === 0) return 0;
  return lastAt + Math.min(FIRST_BACKOFF_MS * 2 ** (count - 1), LONGEST_BACKOFF_MS);
}

/**
 * Decides which workers to make and which to let go. Pure.
 *
 * - There are never more than `max`, those that fail or go included.
 * - A worker that a client has is never removed.
 * - A worker that is kept warm is replaced before it goes, where there is room.
 */
export function scalingPlan(pool: PoolSeen, rules: ScalingRules): ScalingPlan {
  const { now, workers, waiting } = pool;
  const { max } = rules;
  const live = workers.filter(
    ({ isDeleted, phase }) => !isDeleted && phase !== "Failed" && phase !== "Terminating",
  );
  const used = live.filter(isUsed);
  const spare = live.filter((worker) => !isUsed(worker));
  const current = spare.filter(({ isCurrent }) => isCurrent);
  const wanted = spareWanted(rules, used.length, waiting.length);
  const allowed = Math.max(0, Math.min(wanted, max - used.length));
  const { unserved, useless } = match(waiting, spare, rules.reuse);
  const isServing = rules.mode !== "manual";
  const lacking = Math.max(allowed - current.length, isServing ? unserved.length : 0);
  const missing = Math.max(0, Math.min(lacking, max - used.length));
  const room = Math.max(0, max - workers.length);
  const failed = workers.filter(({ phase, isDeleted }) => phase === "Failed" && !isDeleted).toSorted(byAge);
  const retryAt = backoffEnd(pool.failures);
  const mayMake = now >= retryAt;
  const create = mayMake ? slotsFor(Math.min(missing, room), unserved, pool, max) : [];
  const leaving = workers.length - live.length - failed.length;
  // What goes already makes room, in a while.
  const squeezed = mayMake ? missing - room - leaving : 0;
  const counted = { allowed, current, room: room - create.length, total: workers.length };
  const removed = [
    ...failedToRemove(failed, rules.failedKept, squeezed),
    ...idleToRemove(spare, counted, pool, rules),
  ];
  const crowding = isServing ? crowdingOut(useless, squeezed, removed) : [];
  const nextIdleEnd = spare
    .filter(({ phase }) => phase === "Idle")
    .map(({ since }) => since + rules.idleMs)
    .filter((at) => at > now);
  const looks = [
    ...(missing > 0 && !mayMake ? [retryAt] : []),
    ...(spare.length > allowed ? nextIdleEnd : []),
  ];
  return {
    create,
    remove: [...removed, ...crowding],
    desired: used.length + allowed,
    needed: missing,
    isExhausted: waiting.length > 0 && used.length + wanted > max,
    until: looks.length > 0 ? Math.min(...looks) : undefined,
  };
}

function isUsed({ isClaimed, phase }: WorkerSeen): boolean {
  return isClaimed || phase === "Allocated" || phase === "Running";
}

/** How many workers should be to hand, whether `max` allows it or not. */
function spareWanted({ mode, min, usedPerIdle }: ScalingRules, used: number, waiting: number): number {
  switch (mode) {
    case "manual":
      return Math.max(0, min - used);
    case "auto":
      return Math.max(min, waiting);
    case "dynamic":
      return Math.max(min, waiting, Math.ceil(used / usedPerIdle));
  }
}

/** Whether a request may be given a spare worker. */
function isUsable(worker: WorkerSeen, request: RequestSeen, reuse: ScalingRules["reuse"]): boolean {
  if (worker.lastUsedBy === undefined || reuse === "pool") return true;
  if (reuse === "sameIdentity") return worker.lastUsedBy === request.owner;
  return (
    reuse === "sameAffinity" &&
    request.affinityKey !== undefined &&
    worker.affinityKey === request.affinityKey
  );
}

/** Which requests no spare worker is there for, and which spare workers no request can have. */
function match(waiting: readonly RequestSeen[], spare: readonly WorkerSeen[], reuse: ScalingRules["reuse"]) {
  const unserved = [...waiting];
  const take = (
    workers: readonly WorkerSeen[],
    suits: (worker: WorkerSeen, request: RequestSeen) => boolean,
  ) =>
    workers.filter((worker) => {
      const index = unserved.findIndex(
        (request) => isUsable(worker, request, reuse) && suits(worker, request),
      );
      if (index >= 0) unserved.splice(index, 1);
      return index < 0;
    });
  // Each request has its own cache first, or the worker that was made for it, and then any other.
  const others = take(
    spare,
    ({ affinityKey, madeFor }, request) =>
      request.affinityKey !== undefined && [affinityKey, madeFor].includes(request.affinityKey),
  );
  return { unserved, useless: take(others, () => true) };
}

/** Idle workers that no waiting request can have, where there is no room for one that it can. */
function crowdingOut(
  useless: readonly WorkerSeen[],
  needed: number,
  removed: ScalingPlan["remove"],
): ScalingPlan["remove"] {
  const gone = new Set(removed.map(({ name }) => name));
  return useless
    .filter(({ phase, name }) => phase === "Idle" && !gone.has(name))
    .toSorted(byValue)
    .slice(0, Math.max(0, needed - gone.size))
    .map(({ name }) => ({ name, why: "others wait who may not be given it" }));
}

/** Free slots, for each request the one that has its cache if there is one. */
function slotsFor(
  count: number,
  requests: readonly RequestSeen[],
  { workers, slotAffinity, blockedSlots = new Set() }: PoolSeen,
  max: number,
): ScalingPlan["create"] {
  const taken = new Set([...workers.map(({ slot }) => slot), ...blockedSlots]);
  let free: readonly FreeSlot[] = Array.from({ length: max + blockedSlots.size }, (_, slot) => ({
    slot,
    affinityKey: slotAffinity.get(slot),
  })).filter(({ slot }) => !taken.has(slot));
  return Array.from({ length: count }, (_, index) => requests[index]?.affinityKey).flatMap((affinityKey) => {
    const slot = chooseSlot(free, affinityKey);
    if (slot === undefined) return [];
    free = free.filter((one) => one.slot !== slot);
    return [{ slot, affinityKey }];
  });
}

function byAge(a: WorkerSeen, b: WorkerSeen): number {
  return a.since - b.since || a.slot - b.slot;
}

/** The oldest beyond those that are kept to be looked at; more if their places are needed. */
function failedToRemove(failed: readonly WorkerSeen[], kept: number, needed: number) {
  const surplus = Math.max(failed.length - kept, Math.min(needed, failed.length), 0);
  return failed.slice(0, surplus).map(({ name }) => ({ name, why: "it failed" }));
}

interface SpareCount {
  readonly allowed: number;
  readonly current: readonly WorkerSeen[];
  readonly room: number;
  readonly total: number;
}

/**
 * Idle workers that are not needed, or not what the pool says any more: those first whose loss
 * costs the least.
 */
function idleToRemove(
  spare: readonly WorkerSeen[],
  { allowed, current, room, total }: SpareCount,
  { now, waiting }: PoolSeen,
  { mode, max, idleMs }: ScalingRules,
) {
  const idle = spare.filter(({ phase }) => phase === "Idle");
  const ready = current.filter(({ phase }) => phase === "Idle").length;
  // A stale one goes when enough current ones are ready, or when it holds the place that one of
  // them needs.
  const isReplaced = ready >= allowed || (room <= 0 && current.length < allowed);
  const stale = idle
    .filter(({ isCurrent }) => !isCurrent && isReplaced && waiting.length === 0)
    .map(({ name }) => ({ name, why: "the pool's configuration has changed" }));
  const kept = idle.filter(({ isCurrent }) => isCurrent);
  const surplus = Math.max(0, current.length - allowed);
  const isOver = total > max;
  const lone = kept
    .filter(({ since }) => mode === "manual" || isOver || now >= since + idleMs)
    .toSorted(byValue)
    .slice(0, surplus)
    .map(({ name }) => ({
      name,
      why: isOver ? "the pool has more workers than it may have" : "it was idle",
    }));
  return [...stale, ...lone];
}

/** Those without a cache first, then those that were idle for longest. */
function byValue(a: WorkerSeen, b: WorkerSeen): number {
  const cached = Number(a.affinityKey !== undefined) - Number(b.affinityKey !== undefined);
  return cached || byAge(a, b);
}
