import { type PodSeen, type ScalingRules, type ScalingState, scalingPlan } from "./scaling.ts";

interface ModelPod {
  readonly name: string;
  isReady: boolean;
  /** Whether it asks the scheduler for actions. */
  isRegistered: boolean;
  stopAt: number | undefined;
  markedAt: number | undefined;
  firstAt: number | undefined;
  releasedAt: number | undefined;
  /** Whether the ReplicaSet controller takes it for marked: its news are older than ours. */
  isKnownFirst: boolean;
  /** When each of its actions ends. */
  actions: number[];
}

/** What may happen. */
export type Happening =
  | { readonly do: "enqueue"; readonly count: number; readonly takesMs: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "reconcile"; readonly diesAfter: number }
  | { readonly do: "roll" }
  | { readonly do: "outage" }
  | { readonly do: "scheduler restart" }
  | { readonly do: "restart" };

/** How long a pod that was terminated may end its actions. */
export const GRACE_MS = 100_000;

/** How old the ReplicaSet controller's news are. */
const NEWS_MS = 1_000;

/**
 * A Deployment with its pods, a scheduler with its queue, and an operator that may die after any
 * step.
 */
export class ScalingModel {
  now = 1_000_000;
  replicas: number;
  pods: ModelPod[] = [];
  queue: number[] = [];
  readonly drains = new Set<string>();
  state: ScalingState | undefined;
  isReachable = true;
  /** Pods that were terminated while they had actions. */
  readonly disturbed: string[] = [];
  /** Actions that were ended before they were over. */
  killed = 0;
  completed = 0;
  asked = 0;
  #made = 0;
  readonly concurrency: number;

  constructor(replicas: number, concurrency: number) {
    this.replicas = replicas;
    this.concurrency = concurrency;
    this.#replicaSet();
    this.#settle();
  }

  get live(): readonly ModelPod[] {
    return this.pods.filter(({ stopAt }) => stopAt === undefined);
  }

  happen(one: Happening, rules: ScalingRules): void {
    switch (one.do) {
      case "enqueue":
        this.asked += one.count;
        this.queue.push(...Array.from({ length: one.count }, () => one.takesMs));
        break;
      case "wait":
        // Step by step, as kubelet, ReplicaSet controller and scheduler work all the while.
        for (let left = one.ms; left > 0; left -= 500) {
          this.now += Math.min(500, left);
          this.#settle();
          this.#replicaSet();
        }
        return;
      case "reconcile":
        this.#reconcile(rules, one.diesAfter);
        break;
      case "roll":
        // A template of another configuration: every pod is replaced.
        for (const pod of this.live) this.#stop(pod);
        break;
      case "outage":
        this.isReachable = !this.isReachable;
        break;
      case "scheduler restart":
        // It keeps drains in memory alone. It takes longer to start than a ReplicaSet takes to
        // delete what it was asked to.
        this.#replicaSet();
        this.drains.clear();
        break;
      case "restart":
        // The operator forgets all that is not stored.
        this.state = undefined;
        break;
    }
    this.#settle();
  }

  #reconcile(rules: ScalingRules, diesAfter: number): void {
    const pods = this.pods.map(
      ({ name, isReady, stopAt, markedAt, firstAt, releasedAt, actions }): PodSeen => ({
        name,
        isReady,
        isTerminating: stopAt !== undefined,
        markedAt,
        firstAt,
        releasedAt,
        executing: actions.length,
        isDrained: this.drains.has(name),
      }),
    );
    const { now, replicas } = this;
    const queue = this.isReachable
      ? ({ is: "known", queued: this.queue.length } as const)
      : ({ is: "unknown" } as const);
    const plan = scalingPlan(this.state, { now, replicas, isRollingOut: false, pods, queue }, rules);
    const byName = new Map(this.pods.map((pod) => [pod.name, pod]));
    const each = (names: readonly string[], act: (pod: ModelPod) => void) =>
      names.flatMap((name) => {
        const pod = byName.get(name);
        return pod ? [() => act(pod)] : [];
      });
    const drain = (change: () => void) => () => {
      if (this.isReachable) change();
    };
    const writes = [
      ...each(plan.mark, (pod) => (pod.markedAt = this.now)),
      ...each(plan.mark, (pod) => drain(() => this.drains.add(pod.name))()),
      ...each(plan.first, (pod) => (pod.firstAt = this.now)),
      ...each(plan.notFirst, (pod) => this.#release(pod)),
      ...each(plan.unmark, (pod) => drain(() => this.drains.delete(pod.name))()),
      ...each(plan.unmark, (pod) => {
        pod.markedAt = undefined;
        this.#release(pod);
      }),
      () => (this.replicas = plan.replicas),
      () => (this.state = plan.state),
    ];
    for (const write of writes.slice(0, diesAfter)) write();
  }

  #settle(): void {
    for (const pod of this.pods) {
      const over = pod.actions.filter((end) => end <= this.now).length;
      this.completed += over;
      pod.actions = pod.actions.filter((end) => end > this.now);
    }
    this.pods = this.pods.filter((pod) => {
      if (pod.stopAt === undefined || (pod.actions.length > 0 && this.now < pod.stopAt + GRACE_MS))
        return true;
      this.killed += pod.actions.length;
      return false;
    });
    for (const pod of this.live) pod.isReady = pod.isRegistered = true;
    this.#schedule();
  }

  /**
   * Works some time after the operator, on what it last saw. Deletes as Kubernetes does: pods that
   * are not ready first, then those of the lowest cost, then the youngest.
   */
  #replicaSet(): void {
    for (const pod of this.live)
      if (this.now >= (pod.firstAt ?? pod.releasedAt ?? 0) + NEWS_MS)
        pod.isKnownFirst = pod.firstAt !== undefined;
    const cost = (pod: ModelPod) => (pod.isReady ? 2 : 0) + (pod.isKnownFirst ? 0 : 1);
    const surplus = this.live.length - this.replicas;
    for (const pod of this.live
      .toReversed()
      .toSorted((a, b) => cost(a) - cost(b))
      .slice(0, Math.max(0, surplus))) {
      if (pod.actions.length > 0) this.disturbed.push(pod.name);
      this.#stop(pod);
    }
    while (this.live.length < this.replicas)
      this.pods.push({
        name: `pod-${String(this.#made++).padStart(5, "0")}`,
        isReady: false,
        isRegistered: false,
        stopAt: undefined,
        markedAt: undefined,
        firstAt: undefined,
        releasedAt: undefined,
        isKnownFirst: false,
        actions: [],
      });
  }

  #release(pod: ModelPod): void {
    if (pod.firstAt !== undefined) pod.releasedAt = this.now;
    pod.firstAt = undefined;
  }

  #stop(pod: ModelPod): void {
    pod.stopAt = this.now;
  }

  #schedule(): void {
    for (const pod of this.live)
      while (pod.isRegistered && !this.drains.has(pod.name) && pod.actions.length < this.concurrency) {
        const takes = this.queue.shift();
        if (takes === undefined) return;
        pod.actions.push(this.now + takes);
      }
  }
}
