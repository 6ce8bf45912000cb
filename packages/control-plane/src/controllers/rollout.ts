import type { Json, JsonObject } from "../json.ts";

/** A ReplicaSet as far as a rollout is concerned. */
export interface RolloutSet {
  readonly uid: string;
  /** How many it was told to have. */
  readonly replicas: number;
  /** How many it has. */
  readonly actual: number;
  readonly available: number;
  readonly created: string;
}

export interface Rollout {
  readonly replicas: number;
  readonly strategy: JsonObject;
  readonly current: RolloutSet;
  readonly old: readonly RolloutSet[];
}

export interface Scaling {
  readonly uid: string;
  readonly replicas: number;
}

/** How many pods may be above and below the wanted number while rolling. Percentages of surge round up, of unavailability down. */
export function surgeAndUnavailable(
  strategy: JsonObject,
  replicas: number,
): { surge: number; unavailable: number } {
  if (strategy.type === "Recreate") return { surge: 0, unavailable: replicas };
  const rolling = (strategy.rollingUpdate ?? {}) as JsonObject;
  const surge = resolve(rolling.maxSurge ?? "25%", replicas, Math.ceil);
  const unavailable = resolve(rolling.maxUnavailable ?? "25%", replicas, Math.floor);
  // Both zero would never move.
  if (surge === 0 && unavailable === 0) return { surge, unavailable: 1 };
  return { surge, unavailable: Math.min(unavailable, replicas) };
}

function resolve(value: Json, total: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(String(value as string));
  return percent ? round((Number(percent[1]) * total) / 100) : 0;
}

/** The next step of a rollout: which sets to scale, and to what. Empty once there is nothing to do but wait, or nothing at all. */
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
  const { surge, unavailable } = surgeAndUnavailable(strategy, replicas);
  const steps: Scaling[] = [];
  const oldTotal = old.reduce((total, set) => total + set.replicas, 0);
  let target = current.replicas;
  if (current.replicas > replicas) target = replicas;
  else if (current.replicas < replicas) {
    const room = replicas + surge - (oldTotal + current.replicas);
    target = Math.min(replicas, current.replicas + Math.max(0, room));
  }
  if (target !== current.replicas) steps.push({ uid: current.uid, replicas: target });
  steps.push(...scaleDown(replicas, unavailable, { ...current, replicas: target }, old));
  return steps;
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
  // Pods that do not serve anyway go first: they cost nobody anything.
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
