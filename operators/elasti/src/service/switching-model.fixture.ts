import {
  type Arrangement,
  arrangementOf,
  type Observation,
  type Patience,
  proofOf,
  type Stage,
  step,
  type TargetPod,
} from "./stage.ts";

/** What the model is run with. A node follows EndpointSlices within less than `settleMs`. */
export const patience: Patience = { settleMs: 5_000, proofMs: 30_000, reprieveMs: 20_000 };

/** How late a node's rules, or a controller, may be at most. */
const longestLagMs = 4_000;

/** Every state that something had, so that those who watch it can be behind. */
class History<T> {
  readonly #versions: { readonly value: T; readonly atMs: number }[];

  constructor(value: T) {
    this.#versions = [{ value, atMs: 0 }];
  }

  get latest(): T {
    return (this.#versions.at(-1) as { value: T }).value;
  }

  get length(): number {
    return this.#versions.length;
  }

  write(value: T, atMs: number): void {
    this.#versions.push({ value, atMs });
  }

  at(index: number): T {
    return (this.#versions[index] as { value: T }).value;
  }

  /** The first version that may not be unseen any more. */
  seenSince(atMs: number): number {
    return this.#versions.findLastIndex((one) => one.atMs <= atMs);
  }
}

/** A watcher, which may be behind. */
class Watcher<T> {
  readonly #history: History<T>;
  #index = 0;

  constructor(history: History<T>) {
    this.#history = history;
  }

  get value(): T {
    return this.#history.at(this.#index);
  }

  get isCurrent(): boolean {
    return this.#index === this.#history.length - 1;
  }

  advance(versions: number): void {
    this.#index = Math.min(this.#index + versions, this.#history.length - 1);
  }

  catchUp(before: number): void {
    this.#index = Math.max(this.#index, this.#history.seenSince(before));
  }
}

interface ModelPod {
  readonly uid: string;
  isReady: boolean;
  /** Set by the deletion: the process ends at once, which is the worst it can do. */
  isAlive: boolean;
}

interface Slices {
  /** Ready pods in the Service. */
  readonly pods: readonly string[];
  readonly resolver: boolean;
}

interface Stored {
  readonly stage: Stage;
  readonly step: number;
  readonly sinceMs: number;
}

interface ModelResolver {
  readonly status: Watcher<Stored>;
  readonly endpoints: Watcher<readonly TargetPod[]>;
  inFlight: ModelPod[];
  held: number;
}

/** Where one new connection to the Service went. */
export type Outcome = "pod" | "forwarded" | "held";

/**
 * A cluster with one Service: API objects, the controllers that follow them late, nodes whose rules
 * follow EndpointSlices late but in order, and resolvers that follow the status late. The operator
 * under test makes its steps through `step` and `arrangementOf` alone.
 */
export class SwitchingModel {
  nowMs = 0;
  wish: Observation["wish"] = "stay";
  /** Requests wait; written to the API by the replica that the resolver called. */
  hasDemand = false;
  readonly restsAt: Observation["restsAt"];

  readonly #status = new History<Stored>({ stage: { at: "Serving" }, step: 0, sinceMs: 0 });
  readonly #isSelecting = new History(true);
  readonly #replicas = new History(0);
  readonly #slices = new History<Slices>({ pods: [], resolver: false });
  readonly #private = new History<readonly TargetPod[]>([]);
  readonly #nodes = [new Watcher(this.#slices), new Watcher(this.#slices)];
  readonly #endpointsController = new Watcher(this.#isSelecting);
  readonly #scaleController = new Watcher(this.#replicas);
  readonly #operator = { slices: new Watcher(this.#slices), private: new Watcher(this.#private) };
  readonly #resolvers: ModelResolver[] = [0, 1].map(() => ({
    status: new Watcher(this.#status),
    endpoints: new Watcher(this.#private),
    inFlight: [],
    held: 0,
  }));
  readonly #lagging = [
    this.#endpointsController,
    this.#scaleController,
    ...this.#nodes,
    this.#operator.slices,
    this.#operator.private,
  ];
  #pods: ModelPod[] = [];
  #made = 0;

  constructor(replicas: number, restsAt: Observation["restsAt"]) {
    this.restsAt = restsAt;
    this.#replicas.write(replicas, 0);
    this.settle();
  }

  get stage(): Stage {
    return this.#status.latest.stage;
  }

  get replicas(): number {
    return this.#replicas.latest;
  }

  get held(): number {
    return this.#resolvers.reduce((sum, { held }) => sum + held, 0);
  }

  get isResolverInService(): boolean {
    return this.#slices.latest.resolver;
  }

  advance(ms: number): void {
    this.nowMs += ms;
    for (const watcher of this.#lagging) watcher.catchUp(this.nowMs - longestLagMs);
  }

  /** A node's kube-proxy applies so many changes. */
  syncNode(node: number, versions: number): void {
    this.#nodes[node % 2]?.advance(versions);
  }

  /** The EndpointSlice controller sees a change, or not, and writes what it knows. */
  syncEndpoints(versions: number): void {
    this.#endpointsController.advance(versions);
    const pods = this.#pods.map(({ uid, isReady, isAlive }) => ({
      uid,
      isReady: isReady && isAlive,
      isTerminating: !isAlive,
    }));
    this.#private.write(pods, this.nowMs);
    const ready = pods.filter(({ isReady }) => isReady).map(({ uid }) => uid);
    const selected = this.#endpointsController.value ? ready : [];
    this.#writeSlices({ pods: selected });
  }

  /** The controller of the target makes or deletes pods. A deleted pod's requests are lost. */
  syncTarget(versions: number): void {
    this.#scaleController.advance(versions);
    const alive = this.#pods.filter(({ isAlive }) => isAlive);
    for (const pod of alive.slice(this.#scaleController.value)) {
      pod.isAlive = false;
      for (const { inFlight } of this.#resolvers)
        if (inFlight.includes(pod)) throw new Error(`a request in flight to ${pod.uid} was cut off`);
    }
    for (let missing = this.#scaleController.value - alive.length; missing > 0; missing--)
      this.#pods.push({ uid: `pod-${++this.#made}`, isReady: false, isAlive: true });
  }

  /** Pods become ready, and those that ended go. */
  syncKubelet(): void {
    this.#pods = this.#pods.filter(({ isAlive }) => isAlive);
    for (const pod of this.#pods) pod.isReady = true;
  }

  syncResolver(index: number, versions: number): void {
    const resolver = this.#resolvers[index % 2] as ModelResolver;
    resolver.status.advance(versions);
    resolver.endpoints.advance(versions);
    this.#release(resolver);
  }

  /** What a resolver forwarded ends well. */
  finish(index: number): void {
    (this.#resolvers[index % 2] as ModelResolver).inFlight = [];
  }

  /** A new connection to the Service, from a node. */
  request(node: number, choice: number): Outcome {
    const rules = (this.#nodes[node % 2] as Watcher<Slices>).value;
    const endpoints = [...rules.pods, ...(rules.resolver ? ["resolver-0", "resolver-1"] : [])];
    const chosen = endpoints[choice % endpoints.length];
    if (chosen === undefined) throw new Error("the Service has no endpoint");
    if (!chosen.startsWith("resolver")) {
      if (!this.#pods.some(({ uid, isAlive }) => uid === chosen && isAlive))
        throw new Error(`a connection was sent to ${chosen}, which has ended`);
      return "pod";
    }
    const resolver = this.#resolvers[Number(chosen.at(-1))] as ModelResolver;
    resolver.held++;
    this.#release(resolver);
    return resolver.held > 0 ? "held" : "forwarded";
  }

  /**
   * One look of the operator. It is killed after so many writes, and restarts at its next look.
   */
  reconcile(writes = Infinity): void {
    const { stage, step: number, sinceMs } = this.#status.latest;
    const arrangement = arrangementOf(stage, this.restsAt);
    const move = step(stage, this.#observe(stage, sinceMs, arrangement, number), patience);
    if (move) {
      if (writes > 0)
        this.#status.write({ stage: move.stage, step: number + 1, sinceMs: this.nowMs }, this.nowMs);
      return;
    }
    const enforced: (() => boolean)[] = [
      () => this.#writeSlices({ resolver: arrangement.resolverInService }),
      () => this.#write(this.#isSelecting, arrangement.podsInService),
      () => arrangement.scale === "zero" && this.#write(this.#replicas, 0),
      () => arrangement.scale === "up" && this.replicas === 0 && this.#write(this.#replicas, 1),
      () => this.#isAtRest(stage) && this.#clearDemand(),
    ];
    let left = writes;
    for (const enforce of enforced) if (left > 0 && enforce()) left--;
  }

  /**
   * All catch up, as on a cluster that is left alone; or all except some, in a shorter
   * time.
   */
  settle(rounds = 1, late: readonly string[] = [], ms = longestLagMs + 1_000): void {
    const follow = (who: string, sync: () => void) => late.includes(who) || sync();
    for (let round = 0; round < rounds; round++) {
      follow("target", () => this.syncTarget(Infinity));
      this.syncKubelet();
      this.syncEndpoints(Infinity);
      this.advance(ms);
      this.#operator.slices.advance(Infinity);
      this.#operator.private.advance(Infinity);
      for (const index of [0, 1]) {
        follow(`node ${index}`, () => this.syncNode(index, Infinity));
        follow(`resolver ${index}`, () => this.syncResolver(index, Infinity));
        this.finish(index);
      }
      this.reconcile();
    }
  }

  /** @throws if a connection made now, by any client, could be lost. */
  check(): void {
    for (const node of [0, 1]) for (let choice = 0; choice < 4; choice++) this.#checkRules(node, choice);
  }

  #checkRules(node: number, choice: number): void {
    const { pods, resolver } = (this.#nodes[node] as Watcher<Slices>).value;
    if (pods.length === 0 && !resolver) throw new Error(`node ${node} has no endpoint for the Service`);
    const uid = pods[choice];
    if (uid !== undefined && !this.#pods.some((pod) => pod.uid === uid && pod.isAlive))
      throw new Error(`node ${node} leads to ${uid}, which has ended`);
  }

  #observe(stage: Stage, sinceMs: number, arrangement: Arrangement, number: number): Observation {
    const { pods } = this.#operator.slices.value;
    const target = this.#operator.private.value;
    return {
      elapsedMs: this.nowMs - sinceMs,
      restsAt: this.restsAt,
      wish: this.wish,
      hasDemand: this.hasDemand,
      replicas: this.replicas,
      pods: target,
      resolver: "ready",
      haveSlicesFollowed: arrangement.podsInService ? pods.length > 0 : pods.length === 0,
      isProven: this.#isProven(stage, number),
    };
  }

  #isProven(stage: Stage, number: number): boolean {
    const { pods, resolver } = (this.#nodes[0] as Watcher<Slices>).value;
    switch (proofOf(stage)) {
      case "presence":
        return resolver;
      case "exclusivity":
        return resolver && pods.length === 0 && this.#operator.slices.value.pods.length === 0;
      case "quiet":
        return this.#resolvers.every(
          ({ status, inFlight }) => status.value.step === number && inFlight.length === 0,
        );
      case "pod":
        return pods.length > 0;
      default:
        return true;
    }
  }

  #isAtRest({ at }: Stage): boolean {
    return at === this.restsAt;
  }

  #clearDemand(): boolean {
    const had = this.hasDemand;
    this.hasDemand = false;
    return had;
  }

  #release(resolver: ModelResolver): void {
    const { stage } = resolver.status.value;
    const retired = "retired" in stage ? stage.retired : [];
    const isHolding = arrangementOf(stage, this.restsAt).dispatch === "hold";
    const listed = resolver.endpoints.value.filter((pod) => pod.isReady && !pod.isTerminating);
    const usable = isHolding ? [] : listed.filter(({ uid }) => !retired.includes(uid));
    // A pod that has ended refuses the connection, and the request waits on.
    const pod = this.#pods.find((one) => one.isAlive && usable.some(({ uid }) => uid === one.uid));
    if (pod && resolver.held > 0) {
      resolver.inFlight = [...resolver.inFlight, pod];
      resolver.held = 0;
    }
    if (resolver.held > 0) this.hasDemand = true;
  }

  #write<T>(history: History<T>, value: T): boolean {
    if (history.latest === value) return false;
    history.write(value, this.nowMs);
    return true;
  }

  #writeSlices(change: Partial<Slices>): boolean {
    const before = this.#slices.latest;
    const next = { ...before, ...change };
    if (next.resolver === before.resolver && next.pods.join() === before.pods.join()) return false;
    this.#slices.write(next, this.nowMs);
    return true;
  }
}
