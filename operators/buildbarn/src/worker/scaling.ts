/** What scaling sees of a pod. Times are epoch milliseconds. */
export interface PodSeen {
  readonly name: string;
  /** Whether it was terminated: it ends its actions, and goes. */
  readonly isTerminating: boolean;
  readonly isReady: boolean;
  /**
   * Since when the scheduler is asked to give it no new actions, because it is to go. Undefined if
   * it is to stay.
   */
  readonly markedAt: number | undefined;
  /** Since when it is marked as the next that a ReplicaSet deletes. */
  readonly firstAt: number | undefined;
  /** When that mark was last taken back. */
  readonly releasedAt: number | undefined;
  /** Actions that it runs. */
  readonly executing: number;
  /** Whether the scheduler gives it no new ones. */
  readonly isDrained: boolean;
}

/** What scaling sees of the queue that its pods take actions from. */
export type QueueSight =
  /** The scheduler cannot be asked. */
  | { readonly is: "unknown" }
  /** It does not know the queue: no actions can wait in it. */
  | { readonly is: "missing" }
  | { readonly is: "known"; readonly queued: number };

/** What the scaling of workers depends on. */
export interface ScalingSeen {
  readonly now: number;
  /** How many pods the Deployment is to have at present. */
  readonly replicas: number;
  /**
   * Whether the Deployment replaces pods just now. Which ones it deletes then is not the
   * operator's decision.
   */
  readonly isRollingOut: boolean;
  readonly pods: readonly PodSeen[];
  readonly queue: QueueSight;
}

/** How many pods there should be. */
export type ScalingRules =
  /** As many as `spec.replicas` has: set by a user, HPA or KEDA. */
  | ({ readonly by: "replicas"; readonly replicas: number } & Patience)
  /** As many as the queue needs. */
  | ({
      readonly by: "queue";
      readonly min: number;
      readonly max: number;
      /** Actions that a pod runs at a time. */
      readonly concurrency: number;
      readonly delayMs: number;
    } & Patience);

/** How long the steps of the drain of a pod may take. */
interface Patience {
  /** After how long a pod goes that is still not idle: more than the longest action takes. */
  readonly drainMs: number;
  /** How long a mark takes to be known to those who delete pods. */
  readonly noticeMs: number;
}

/**
 * Since when fewer pods would do, and how many were needed at most since then. Losing it delays a
 * change, and harms nothing.
 */
export interface ScalingState {
  readonly lowerSince: number | undefined;
  readonly most: number;
}

/** What to do. */
export interface ScalingPlan {
  readonly replicas: number;
  /** How many there should be in the end. */
  readonly desired: number;
  /**
   * Pods to keep from new actions from now on. Their time to end the ones they have begins now,
   * also if they are marked already.
   */
  readonly mark: readonly string[];
  /** Pods that have ended their actions: the next that a ReplicaSet is to delete. */
  readonly first: readonly string[];
  /** Pods marked so that have actions again, as their drain was lost: not the next after all. */
  readonly notFirst: readonly string[];
  /** Pods that are to stay after all. */
  readonly unmark: readonly string[];
  readonly state: ScalingState | undefined;
  /** When waiting alone brings a change. */
  readonly until: number | undefined;
}

/**
 * Decides how many pods there should be, and which of them go. Pure.
 *
 * - More pods come at once; fewer only after they would have done for a while.
 * - A pod goes in three steps: it is kept from new actions; once it is idle it is marked as the
 *   first to be deleted; only then does the number go down, by as many as are so marked. So no
 *   action is ever ended by it.
 * - Where the scheduler does not answer, nothing is scaled by its queue.
 */
export function scalingPlan(
  state: ScalingState | undefined,
  all: ScalingSeen,
  rules: ScalingRules,
): ScalingPlan {
  const seen = withoutDeleted(all);
  const need = needOf(seen, rules);
  if (need >= seen.replicas) return { ...keep(seen), replicas: need, desired: need };
  const { target, next, until } =
    rules.by === "replicas"
      ? { target: need, next: undefined, until: undefined }
      : stabilised(state, need, seen, rules.delayMs);
  if (target >= seen.replicas) return { ...keep(seen), desired: target, state: next, until };
  // The scheduler does not report which pods are idle, and spec.replicas was lowered: each pod ends
  // its actions when it is terminated.
  if (rules.by === "replicas" && (seen.queue.is !== "known" || seen.isRollingOut))
    return { ...keep(seen), replicas: target, desired: target };
  if (seen.isRollingOut) return { ...keep(seen), desired: target, state: next };
  return { ...letGo(seen, target, rules), desired: target, state: next };
}

/** What there is without the pods that go. */
interface ScalingLeft extends ScalingSeen {
  /**
   * Whether a ReplicaSet has yet to delete pods. Which of those that are marked as the next it
   * takes is not known.
   */
  readonly isDeleting: boolean;
}

/**
 * Leaves out the pods that go: those that were terminated, and as many as their ReplicaSet has
 * yet to tell. The latter are among those that were marked first: the number was lowered for them,
 * and must not be lowered for them again.
 */
function withoutDeleted(seen: ScalingSeen): ScalingLeft {
  const running = seen.pods.filter(({ isTerminating }) => !isTerminating);
  const surplus = Math.max(0, running.length - seen.replicas);
  const told = running
    .flatMap((pod) => (pod.firstAt === undefined ? [] : [{ pod, firstAt: pod.firstAt }]))
    .toSorted((a, b) => a.firstAt - b.firstAt)
    .slice(0, surplus)
    .map(({ pod }) => pod);
  return { ...seen, pods: running.filter((pod) => !told.includes(pod)), isDeleting: surplus > 0 };
}

function keep(left: ScalingLeft): ScalingPlan {
  const { replicas } = left;
  return {
    replicas,
    desired: replicas,
    mark: [],
    first: [],
    notFirst: [],
    unmark: marksToTake(left, left.pods),
    state: undefined,
    until: undefined,
  };
}

/**
 * Of pods that are to stay, those that are marked. One that may be about to be deleted keeps its
 * marks until that is known.
 */
function marksToTake({ isDeleting }: ScalingLeft, staying: readonly PodSeen[]): readonly string[] {
  return staying.flatMap((pod) =>
    isMarked(pod) && !(isDeleting && pod.firstAt !== undefined) ? [pod.name] : [],
  );
}

function isMarked({ markedAt, firstAt }: PodSeen): boolean {
  return markedAt !== undefined || firstAt !== undefined;
}

function needOf({ replicas, pods, queue }: ScalingSeen, rules: ScalingRules): number {
  if (rules.by === "replicas") return rules.replicas;
  const { min, max, concurrency } = rules;
  const within = (count: number) => Math.min(max, Math.max(min, count));
  switch (queue.is) {
    case "unknown":
      return Math.max(min, replicas);
    case "missing":
      // A queue that is not declared comes with its first worker, and only then can anything wait
      // in it.
      return within(Math.max(replicas, 1));
    case "known": {
      // What a pod runs that stops needs no other pod.
      const executing = pods.reduce((sum, pod) => sum + pod.executing, 0);
      return within(Math.ceil((queue.queued + executing) / concurrency));
    }
  }
}

function stabilised(
  state: ScalingState | undefined,
  need: number,
  { now, replicas }: ScalingSeen,
  delayMs: number,
) {
  const isFresh = state?.lowerSince === undefined || state.most >= replicas;
  const lowerSince = isFresh ? now : (state.lowerSince ?? now);
  const most = isFresh ? need : Math.max(state.most, need);
  const next = { lowerSince, most };
  const until = lowerSince + delayMs;
  return now < until ? { target: replicas, next, until } : { target: most, next, until: undefined };
}

/** Which pods go, and how far each is on its way. */
function letGo(left: ScalingLeft, target: number, { drainMs, noticeMs }: Patience): ScalingPlan {
  const { now, replicas, pods } = left;
  // Pods that a ReplicaSet has yet to make go without a trace.
  const unmade = Math.max(0, Math.min(replicas - target, replicas - pods.length));
  const going = pods.toSorted(byCost).slice(0, replicas - target - unmade);
  // A drain that is gone, say with a scheduler that restarted, may have let new actions in: its
  // time starts over.
  const done = going.filter(
    ({ markedAt, isDrained, executing }) =>
      markedAt !== undefined && isDrained && (executing === 0 || now >= markedAt + drainMs),
  );
  const stay = pods.filter((pod) => !done.includes(pod));
  const known = done.filter(({ firstAt }) => firstAt !== undefined && now >= firstAt + noticeMs);
  const canDelete = stay.every((pod) => !mayBeDeleted(pod, now, noticeMs));
  return {
    replicas: replicas - unmade - (canDelete ? known.length : 0),
    desired: target,
    mark: going.flatMap(({ name, markedAt, isDrained }) =>
      markedAt === undefined || !isDrained ? [name] : [],
    ),
    first: done.flatMap(({ name, firstAt }) => (firstAt === undefined ? [name] : [])),
    notFirst: stay.flatMap((pod) => (going.includes(pod) && pod.firstAt !== undefined ? [pod.name] : [])),
    unmark: marksToTake(
      left,
      pods.filter((pod) => !going.includes(pod)),
    ),
    state: undefined,
    until: undefined,
  };
}

/**
 * Whether a ReplicaSet might delete this pod in place of one that is to go: it deletes pods that
 * are not ready before it looks at marks, and it may not know yet that a mark was taken back.
 */
function mayBeDeleted(
  { isReady, executing, firstAt, releasedAt }: PodSeen,
  now: number,
  noticeMs: number,
): boolean {
  const isBusyFirst = !isReady && executing > 0;
  const isMarkKnown = firstAt !== undefined || (releasedAt !== undefined && now < releasedAt + noticeMs);
  return isBusyFirst || isMarkKnown;
}

/** Those first that cost the least: on their way already, not ready, with the fewest actions. */
function byCost(a: PodSeen, b: PodSeen): number {
  return (
    Number(b.firstAt !== undefined) - Number(a.firstAt !== undefined) ||
    Number(a.isReady) - Number(b.isReady) ||
    Number(b.markedAt !== undefined) - Number(a.markedAt !== undefined) ||
    a.executing - b.executing ||
    (a.name < b.name ? -1 : 1)
  );
}
