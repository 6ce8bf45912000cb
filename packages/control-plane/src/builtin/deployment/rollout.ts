import type { DeploymentStrategy } from "@windlass/kinds/builtin";

/** A ReplicaSet as far as a rollout is concerned. */
export interface RolloutSet {
  readonly uid: string;
  /** How many it should have. */
  readonly replicas: number;
  /** How many it has. */
  readonly actual: number;
  readonly available: number;
  readonly created: string;
}

export interface Rollout {
  readonly replicas: number;
  readonly strategy: DeploymentStrategy;
  readonly current: RolloutSet;
  readonly old: readonly RolloutSet[];
}

export interface Scaling {
  readonly uid: string;
  readonly replicas: number;
}

/**
 * How many pods may be above and below the wanted number while rolling. Percentages of surge round
 * up, of unavailability down.
 */
export function surgeAndUnavailable(
  strategy: DeploymentStrategy,
  replicas: number,
): { surge: number; unavailable: number } {
  if (strategy.type === "Recreate") return { surge: 0, unavailable: replicas };
  const rolling = strategy.rollingUpdate ?? {};
  const surge = resolvePercent(rolling.maxSurge ?? "25%", replicas, Math.ceil);
  const unavailable = resolvePercent(rolling.maxUnavailable ?? "25%", replicas, Math.floor);
  // Both zero would never move.
  if (surge === 0 && unavailable === 0) return { surge, unavailable: 1 };
  return { surge, unavailable: Math.min(unavailable, replicas) };
}

/** A number, or a percentage of a total. */
export function resolvePercent(
  value: number | string,
  total: number,
  round: (value: number) => number,
): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value);
  return percent ? round((Number(percent[1]) * total) / 100) : 0;
}

/**
 * The next step of a rollout: which sets to scale, and to what. Empty once there is nothing to do
 * but wait, or nothing at all.
 */
export function planRollout(rollout: Rollout): Scaling[] {
  return rollout.strategy.type === "Recreate" ? recreate(rollout) : roll(rollout);
}

function recreate({ replicas, current, old }: Rollout): Scaling[] {
  const running = old.filter((set) => set.replicas > 0);
  if (running.length > 0) return running.map(({ uid }) => ({ uid, replicas: 0 }));
  // The old pods must be gone before the first new one comes.
  if (old.some((set) => set.actual > 0)) return [];
  return current.replicas === replicas ? [] : [{ uid: current.uid, replicas }];
}

function roll({ replicas, strategy, current, old }: Rollout): Scaling[] {
  const { unavailable } = surgeAndUnavailable(strategy, replicas);
  const target = current.replicas > replicas ? replicas : grownTo(replicas, strategy, current, old);
  // One direction at a time: the next step sees what came of this one.
  if (target !== current.replicas) return [{ uid: current.uid, replicas: target }];
  return scaleDown(replicas, unavailable, current, old);
}

/** How many pods the newest set may have now, given what the others still have. */
export function grownTo(
  replicas: number,
  strategy: DeploymentStrategy,
  current: Pick<RolloutSet, "replicas">,
  old: readonly Pick<RolloutSet, "replicas">[],
): number {
  if (strategy.type === "Recreate") return replicas;
  const { surge } = surgeAndUnavailable(strategy, replicas);
  const total = old.reduce((sum, set) => sum + set.replicas, 0) + current.replicas;
  const room = Math.max(0, replicas + surge - total);
  return current.replicas + Math.min(room, Math.max(0, replicas - current.replicas));
}

/** A set that pods are spread over while its Deployment is scaled in the middle of a rollout. */
export interface ProportionalSet {
  readonly uid: string;
  readonly replicas: number;
  /**
   * The most pods its Deployment could have when the set was last scaled; undefined if no
   * controller wrote it down.
   */
  readonly max: number | undefined;
  readonly created: string;
}

/**
 * Spreads a changed number of replicas over the sets of an unfinished rollout, each in proportion
 * to its size, so that scaling neither finishes nor reverts the rollout. What rounding leaves over
 * goes to the largest.
 */
export function proportional(options: {
  readonly replicas: number;
  readonly surge: number;
  /** How many pods there are, by the Deployment's status. */
  readonly actual: number;
  readonly sets: readonly ProportionalSet[];
}): Scaling[] {
  const { replicas, surge, actual, sets } = options;
  const total = sets.reduce((sum, set) => sum + set.replicas, 0);
  const allowed = replicas > 0 ? replicas + surge : 0;
  const toAdd = allowed - total;
  const newerFirst = toAdd > 0;
  const ordered = sets.toSorted(
    (a, b) => b.replicas - a.replicas || (a.created < b.created ? 1 : -1) * (newerFirst ? 1 : -1),
  );
  let added = 0;
  const scaled = ordered.map((set) => {
    const left = toAdd - added;
    const share = replicas === 0 ? -set.replicas : shareOf(set, replicas + surge, actual);
    const change = toAdd > 0 ? Math.min(share, left) : toAdd < 0 ? Math.max(share, left) : 0;
    added += change;
    return { uid: set.uid, replicas: set.replicas + change };
  });
  return scaled.map((scaling, index) =>
    index === 0 ? { ...scaling, replicas: Math.max(0, scaling.replicas + toAdd - added) } : scaling,
  );
}

function shareOf(set: ProportionalSet, most: number, actual: number): number {
  const before = set.max ?? actual;
  return before === 0 ? 0 : Math.round((set.replicas * most) / before) - set.replicas;
}

function scaleDown(
  replicas: number,
  unavailable: number,
  current: RolloutSet,
  old: readonly RolloutSet[],
): Scaling[] {
  const oldest = old.filter((set) => set.replicas > 0).toSorted((a, b) => (a.created < b.created ? -1 : 1));
  if (oldest.length === 0) return [];
  const left = new Map(oldest.map((set) => [set.uid, set.replicas]));
  const total = oldest.reduce((sum, set) => sum + set.replicas, 0) + current.replicas;
  const minimum = replicas - unavailable;
  // Pods that are not ready go first: they serve no traffic.
  const unserving = current.replicas - current.available;
  let budget = total - minimum - Math.max(0, unserving);
  for (const set of oldest) {
    const sick = Math.min(Math.max(0, set.replicas - set.available), Math.max(0, budget));
    left.set(set.uid, set.replicas - sick);
    budget -= sick;
  }
  let spare =
    oldest.reduce((sum, set) => sum + Math.min(set.available, left.get(set.uid) ?? 0), 0) +
    current.available -
    minimum;
  for (const set of oldest) {
    const remaining = left.get(set.uid) ?? 0;
    const drop = Math.min(remaining, Math.max(0, spare));
    left.set(set.uid, remaining - drop);
    spare -= drop;
  }
  return oldest
    .filter((set) => left.get(set.uid) !== set.replicas)
    .map(({ uid }) => ({ uid, replicas: left.get(uid) ?? 0 }));
}
