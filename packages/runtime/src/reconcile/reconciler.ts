import {
  type AnyKind,
  ApiError,
  isConflict,
  isNotFound,
  type KubernetesObject,
  type ObjectKey,
  type ObjectOf,
  type Reader,
  type Writer,
} from "@windlass/client";
import { type Clock, type Random, uuid } from "@windlass/clock";
import type { Cache, InformerScope } from "../cache/contract.ts";
import type { FollowSession, Follows } from "../controller/follow.ts";
import type { ControllerMetrics } from "../metrics/controller-metrics.ts";
import { type ChildMemory, Children, type OwnedKind } from "./children.ts";
import { cachedClient, describe, keyOf, type ReconcileClient, type WriteNote } from "./client.ts";
import { deviations } from "./compare.ts";
import { condition, conditionsOf, type WantedCondition } from "./condition.ts";
import type { Finalize, Reconcile, ReconcileContext, Wanted } from "./context.ts";
import {
  ChildError,
  FencedError,
  messageOf,
  ReconcileOverError,
  ReconcileTimeoutError,
  reasonOf,
  TerminalError,
} from "./errors.ts";
import type { EventRecorder, Events } from "./events.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { type FlappingWrite, HotLoopDetector } from "./hot-loop.ts";
import type { Logger } from "./log.ts";
import { type StatusMemory, type StatusObject, statusOf, writeStatus } from "./status.ts";
import type { Tracing } from "./tracing.ts";

/** The rules of one controller, resolved: what {@link Reconciler} needs of it. */
export interface ReconcilerRules<K extends AnyKind> {
  readonly name: string;
  readonly kind: K;
  readonly owns: readonly OwnedKind[];
  readonly reconcile: Reconcile<K>;
  readonly finalize: Finalize<K> | undefined;
  readonly finalizer: string;
  readonly fieldManager: string;
  readonly timeoutMs: number;
  /** The condition that says when a reconcile failed; undefined for kinds that have no conditions. */
  readonly errorCondition: string | undefined;
  readonly hasObservedGeneration: boolean;
  readonly follows: Follows;
}

/** What the world gives a {@link Reconciler}. */
export interface ReconcilerWorld {
  readonly client: Reader & Writer;
  readonly cache: Cache;
  /** Where informers look that are given no scope of their own. */
  readonly defaultScope: InformerScope;
  readonly isCached: (kind: AnyKind) => boolean;
  /** Throws when this process may not write. */
  readonly guard: (what: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: Events;
  readonly metrics: ControllerMetrics;
  readonly tracing: Tracing;
}

/** How one reconcile ended. */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "requeueAfter"; readonly ms: number }
  /** Try again by backoff; nobody is at fault: the object changed meanwhile, or this process stopped leading. */
  | { readonly type: "again"; readonly why: string }
  | { readonly type: "failed"; readonly reason: string; readonly terminal: boolean };

const done: Outcome = { type: "done" };

/**
 * Runs the reconciles of one controller: from a key to an outcome. Never throws.
 *
 * # Flow
 * 1. Read the object from the cache. Gone: forget what is remembered of it.
 * 2. Going: run `finalize`, then take the finalizer away. Going without our finalizer: leave it alone.
 * 3. With `finalize`, make sure the finalizer is there before anything else is done.
 * 4. Run `reconcile`; apply its children, prune, record its events, write its status.
 * 5. On failure say so in the condition, an event, the metrics and the log, with one reason.
 */
export class Reconciler<K extends AnyKind> {
  readonly #rules: ReconcilerRules<K>;
  readonly #world: ReconcilerWorld;
  readonly #hotLoops: HotLoopDetector;
  /** By uid; what is lost here is found out again with at most one write that changes nothing. */
  readonly #children = new Map<string, ChildMemory>();
  readonly #statuses = new Map<string, StatusMemory>();
  readonly #uids = new Map<string, string>();

  constructor(rules: ReconcilerRules<K>, world: ReconcilerWorld) {
    this.#rules = rules;
    this.#world = world;
    this.#hotLoops = new HotLoopDetector({ clock: world.clock });
  }

  async run(key: ObjectKey, attempt: number, stop: AbortSignal): Promise<Outcome> {
    const { kind } = this.#rules;
    const object = this.#world.cache.get(kind, key);
    if (!object) {
      this.#forget(key);
      return done;
    }
    const run = new Run(this.#rules, this.#world, object, attempt, stop);
    const uid = object.metadata.uid ?? "";
    this.#remember(key, uid);
    try {
      const outcome = await run.within(() => this.#pass(run, object, uid));
      run.follows.settle();
      this.#watchForLoop(run, object);
      return outcome;
    } catch (error) {
      return await this.#failed(run, object, uid, error);
    } finally {
      run.end();
    }
  }

  async #pass(run: Run<K>, read: ObjectOf<K>, uid: string): Promise<Outcome> {
    const { kind, finalize, finalizer, reconcile } = this.#rules;
    if (read.metadata.deletionTimestamp !== undefined) {
      if (!finalize || !hasFinalizer(read, finalizer)) return done;
      const wanted = await finalize(read, run.context(read, this.#childrenOf(run, read, uid)));
      if (wanted) await this.#report(run, read, uid, wanted);
      if (wanted?.requeueAfter !== undefined) return requeue(wanted.requeueAfter);
      await removeFinalizer(run.client, kind, read, finalizer);
      return done;
    }
    let object: ObjectOf<K> = read;
    if (finalize && !hasFinalizer(read, finalizer)) {
      const marked = await addFinalizer(run.client, kind, read, finalizer);
      if (!marked || marked.metadata.deletionTimestamp !== undefined) return done;
      object = marked;
    }
    const children = this.#childrenOf(run, object, uid);
    const wanted = await reconcile(object, run.context(object, children));
    if (!wanted) return done;
    if (wanted.children) await this.#applyAll(run, children, wanted);
    await this.#report(run, object, uid, wanted);
    return wanted.requeueAfter === undefined ? done : requeue(wanted.requeueAfter);
  }

  /** Applies all children even if one fails, so that one bad child does not hold up the others; prunes only if none did. */
  async #applyAll(run: Run<K>, children: Children, wanted: Wanted<K>): Promise<void> {
    const failures: unknown[] = [];
    for (const child of wanted.children ?? []) {
      try {
        await children.apply(child);
      } catch (error) {
        if (isOver(error)) throw error;
        failures.push(error);
      }
    }
    if (failures.length === 0) {
      await children.prune();
      return;
    }
    if (wanted.status) run.fallbackStatus = wanted.status as StatusObject;
    if (failures.length === 1) throw failures[0];
    throw new ChildError(reasonOf(failures[0]), failures.map(messageOf).join("; "), { cause: failures[0] });
  }

  async #report(
    run: Run<K>,
    object: ObjectOf<K>,
    uid: string,
    wanted: Omit<Wanted<K>, "children">,
  ): Promise<void> {
    for (const event of wanted.events ?? []) run.events.record(event);
    if (wanted.status) await this.#writeStatus(run, object, uid, wanted.status as StatusObject);
  }

  async #writeStatus(run: Run<K>, object: ObjectOf<K>, uid: string, status: StatusObject): Promise<void> {
    const { kind, fieldManager, hasObservedGeneration } = this.#rules;
    const { cache, clock, metrics } = this.#world;
    const newest = cache.get(kind, keyOf(object));
    if (!newest || newest.metadata.uid !== object.metadata.uid) return;
    const options = { kind, client: run.client, clock, fieldManager, hasObservedGeneration };
    const written = await writeStatus(
      options,
      newest,
      status,
      object.metadata.generation,
      this.#statuses.get(uid),
    );
    this.#statuses.set(uid, written.memory);
    if (written.because.length === 0) metrics.skipped();
    else run.explain(describe(kind, keyOf(object)), written.because);
  }

  async #failed(run: Run<K>, object: ObjectOf<K>, uid: string, error: unknown): Promise<Outcome> {
    const { metrics } = this.#world;
    if (run.isStopped || isOver(error) || isNoFault(error)) {
      run.log.debug({ why: messageOf(error) }, "reconcile gave way, will try again");
      return { type: "again", why: messageOf(error) };
    }
    const reason = reasonOf(error);
    const terminal = error instanceof TerminalError;
    if (error instanceof ReconcileTimeoutError) metrics.timedOut();
    metrics.failed(reason, { terminal });
    run.log.error(
      {
        reason,
        terminal,
        error: messageOf(error),
        ...(run.isDebugging && error instanceof Error ? { stack: error.stack } : {}),
      },
      terminal ? "reconcile failed for good" : "reconcile failed",
    );
    run.events.warning(reason, messageOf(error));
    await this.#sayInCondition(run, object, uid, reason, messageOf(error));
    return { type: "failed", reason, terminal };
  }

  /** A best effort: the failure is in the log and the event already, and the retry will come whatever happens here. */
  async #sayInCondition(
    run: Run<K>,
    object: ObjectOf<K>,
    uid: string,
    reason: string,
    message: string,
  ): Promise<void> {
    const { errorCondition, kind } = this.#rules;
    if (errorCondition === undefined) return;
    const live = this.#world.cache.get(kind, keyOf(object));
    if (!live) return;
    const said = condition(errorCondition, false, reason, message.slice(0, 1024));
    const base =
      run.fallbackStatus ?? this.#statuses.get(uid)?.wanted ?? (statusOf(live) as StatusObject | undefined);
    const others = (base?.conditions ?? conditionsOf(statusOf(live))).filter(
      (one: WantedCondition) => one.type !== errorCondition,
    );
    try {
      run.reopen();
      const { observedGeneration: _seen, ...rest } = base ?? {};
      await this.#writeStatus(run, object, uid, { ...rest, conditions: [...others, said] });
    } catch (failure) {
      if (!isNotFound(failure))
        run.log.debug({ error: messageOf(failure) }, "the failure could not be written to the status");
    }
  }

  #childrenOf(run: Run<K>, owner: ObjectOf<K>, uid: string): Children {
    const { kind, owns, fieldManager } = this.#rules;
    const { cache, metrics } = this.#world;
    let memory = this.#children.get(uid);
    if (!memory) {
      memory = new Map();
      this.#children.set(uid, memory);
    }
    return new Children({
      ownerKind: kind,
      owner,
      owns,
      client: run.client,
      cache,
      memory,
      fieldManager,
      onSkip: metrics.skipped,
      onChange: ({ kind: childKind, object, because }) =>
        run.explain(describe(childKind, keyOf(object)), because.length > 0 ? because : ["(created)"]),
    });
  }

  #watchForLoop(run: Run<K>, object: ObjectOf<K>): void {
    const key = keyOf(object);
    const loop = this.#hotLoops.observe(key, object.metadata.generation, run.writes);
    if (!loop) return;
    const { kind } = this.#rules;
    const message = `${describe(kind, key)} was reconciled ${loop.reconciles} times in ${loop.seconds} s because of this controller's own writes: ${loop.path} of ${loop.target} differs each time. Make it the same for the same input.`;
    this.#world.metrics.hotLoop();
    run.log.warn({ field: loop.path, target: loop.target, reconciles: loop.reconciles }, message);
    run.events.warning("HotLoop", message);
  }

  #remember(key: ObjectKey, uid: string): void {
    const id = `${key.namespace ?? ""}/${key.name}`;
    const before = this.#uids.get(id);
    if (before === uid) return;
    if (before !== undefined) this.#forget(key);
    this.#uids.set(id, uid);
  }

  #forget(key: ObjectKey): void {
    const id = `${key.namespace ?? ""}/${key.name}`;
    const uid = this.#uids.get(id);
    this.#uids.delete(id);
    this.#hotLoops.forget(key);
    this.#rules.follows.forget(key);
    if (uid === undefined) return;
    this.#children.delete(uid);
    this.#statuses.delete(uid);
  }
}

/** One reconcile under way: its client, its log, its time, and what it wrote. */
class Run<K extends AnyKind> {
  readonly #rules: ReconcilerRules<K>;
  readonly #world: ReconcilerWorld;
  readonly #object: ObjectOf<K>;
  readonly #attempt: number;
  readonly #stop: AbortSignal;
  readonly #abort = new AbortController();
  readonly #onStop: () => void;
  readonly reconcileId: string;
  readonly client: ReconcileClient;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly follows: FollowSession;
  readonly isDebugging = process.env.NODE_ENV !== "production";
  /** The status to build upon if the failure must be written. */
  fallbackStatus: StatusObject | undefined;
  readonly #writes: FlappingWrite[] = [];
  #isOver = false;
  #hasReopened = false;

  constructor(
    rules: ReconcilerRules<K>,
    world: ReconcilerWorld,
    object: ObjectOf<K>,
    attempt: number,
    stop: AbortSignal,
  ) {
    this.#rules = rules;
    this.#world = world;
    this.#object = object;
    this.#attempt = attempt;
    this.#stop = stop;
    this.#onStop = () => this.#abort.abort(stop.reason);
    if (stop.aborted) this.#onStop();
    else stop.addEventListener("abort", this.#onStop, { once: true });
    this.reconcileId = uuid(world.random);
    const { name, namespace } = object.metadata;
    this.log = world.log.child({
      controller: rules.name,
      kind: rules.kind.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      reconcileID: this.reconcileId,
    });
    this.events = world.events.about(rules.kind, object, rules.name);
    this.client = this.#makeClient();
    this.follows = rules.follows.begin(keyOf(object));
  }

  get isStopped(): boolean {
    return this.#stop.aborted;
  }

  get writes(): readonly FlappingWrite[] {
    return this.#writes;
  }

  /** Runs the reconcile, and gives it up when its time is over. What it still does then finds its client closed. */
  async within(pass: () => Promise<Outcome>): Promise<Outcome> {
    const { timeoutMs, kind } = this.#rules;
    const { clock } = this.#world;
    const subject = describe(kind, keyOf(this.#object));
    const { promise: over, reject } = Promise.withResolvers<never>();
    const giveUp = (error: unknown) => {
      this.#isOver = true;
      this.#abort.abort(error);
      reject(error);
    };
    const cancel =
      timeoutMs > 0
        ? clock.schedule(timeoutMs, () => giveUp(new ReconcileTimeoutError(subject, timeoutMs)))
        : undefined;
    const onStop = () => giveUp(this.#stop.reason);
    if (this.#stop.aborted) onStop();
    else this.#stop.addEventListener("abort", onStop, { once: true });
    try {
      return await Promise.race([pass(), over]);
    } finally {
      cancel?.();
      this.#stop.removeEventListener("abort", onStop);
    }
  }

  /** Lets the runtime itself write once more after the reconcile was given up. */
  reopen(): void {
    this.#hasReopened = true;
  }

  end(): void {
    this.#isOver = true;
    this.#hasReopened = false;
    this.#stop.removeEventListener("abort", this.#onStop);
  }

  /** Notes which fields made a write necessary. */
  explain(target: string, paths: readonly string[]): void {
    const last = this.#writes.at(-1);
    if (last?.target === target) this.#writes[this.#writes.length - 1] = { target, paths };
    else this.#writes.push({ target, paths });
  }

  context(object: ObjectOf<K>, children: Children): ReconcileContext {
    const { kind: ownerKind, owns } = this.#rules;
    const { cache, clock } = this.#world;
    const uid = object.metadata.uid ?? "";
    const checkOwned = (kind: AnyKind) => {
      if (!owns.some((one) => one.kind.kind === kind.kind && one.kind.group === kind.group))
        throw new ChildError(
          "ChildNotDeclared",
          `${describe(ownerKind, keyOf(object))} asks for an owned ${kind.kind}; add it to the controller's "owns"`,
        );
    };
    const ownedAll = <C extends AnyKind>(kind: C): readonly ObjectOf<C>[] => {
      checkOwned(kind);
      return cache
        .ownedBy(kind, uid)
        .filter((child) => isControlledBy(child, uid))
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    };
    return {
      client: this.client,
      live: this.client.live,
      cache,
      ownedAll,
      follow: this.follows.follow,
      owned: (kind, name) => {
        if (name === undefined || object.metadata.namespace === undefined)
          return ownedAll(kind).find((child) => name === undefined || child.metadata.name === name);
        checkOwned(kind);
        const child = cache.get(kind, { namespace: object.metadata.namespace, name });
        return child && isControlledBy(child, uid) ? child : undefined;
      },
      apply: async <C extends AnyKind>(kind: C, child: Parameters<ReconcileContext["apply"]>[1]) =>
        (await children.apply([kind, child])) as ObjectOf<C>,
      events: this.events,
      log: this.log,
      signal: this.#abort.signal,
      attempt: this.#attempt,
      key: keyOf(object),
      reconcileId: this.reconcileId,
      clock,
      now: new Date(clock.now()),
    };
  }

  #makeClient(): ReconcileClient {
    const { client, cache, isCached, guard, metrics, tracing } = this.#world;
    return cachedClient({
      client,
      cache,
      isCached,
      guard: (what) => {
        guard(what);
        if ((this.#isOver || this.#abort.signal.aborted) && !this.#hasReopened)
          throw new ReconcileOverError(what, { cause: this.#abort.signal.reason });
      },
      onWrite: (note) => {
        metrics.wrote(note.verb);
        this.#writes.push({ target: describe(note.kind, note.key), paths: changedPaths(note) });
      },
      around: tracing.write,
    });
  }
}

function requeue(ms: number): Outcome {
  if (!(ms >= 0)) throw new RangeError(`requeueAfter (${ms}) must be a number of milliseconds, 0 or more`);
  return { type: "requeueAfter", ms };
}

function isControlledBy(child: KubernetesObject, uid: string): boolean {
  return child.metadata.ownerReferences?.some((one) => one.controller === true && one.uid === uid) ?? false;
}

function isOver(error: unknown): boolean {
  return error instanceof FencedError || error instanceof ReconcileOverError;
}

/** The world moved on while this ran. The next try sees it as it is. */
function isNoFault(error: unknown): boolean {
  // Applying with the uid of an object that has been replaced by a namesake is refused as a change of its uid.
  const isNamesake =
    error instanceof ApiError && error.causes.some((cause) => cause.field === "metadata.uid");
  return isConflict(error) || isNamesake;
}

/** What a write changed, for the hot-loop detector. Bookkeeping of the server's does not count. */
function changedPaths(note: WriteNote): readonly string[] {
  if (!note.before || !note.after) return [`(${note.verb})`];
  const { metadata: _before, ...before } = note.before;
  const { metadata: _after, ...after } = note.after;
  const paths = [...deviations(after, before).keys()];
  return paths.length > 0 ? paths : [`(${note.verb}, no field changed)`];
}
