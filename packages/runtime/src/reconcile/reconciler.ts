import {
  type AnyKind,
  ApiError,
  isNamespaceTerminating,
  isNotFound,
  type KubernetesObject,
  metadataOnly,
  type ObjectKey,
  type ObjectOf,
  TransportError,
} from "@windlass/client";
import { type Duration, milliseconds } from "@windlass/clock";
import { CacheMissError } from "../cache/errors.ts";
import { describeChild, wantedChildren } from "./child.ts";
import { ChildMemory } from "./child-memory.ts";
import { applyInOrder } from "./child-order.ts";
import { Children } from "./children.ts";
import { describe, keyId, keyOf } from "./client.ts";
import { condition, conditionsOf, type WantedCondition } from "./condition.ts";
import type { Wanted } from "./context.ts";
import {
  ChildrenError,
  causesOf,
  explain,
  FencedError,
  isOutdated,
  messageOf,
  NamesakeChildError,
  ReconcileOverError,
  ReconcileTimeoutError,
  reasonOf,
  TerminalError,
} from "./errors.ts";
import { Failures } from "./failures.ts";
import { addFinalizer, hasFinalizer, removeFinalizer } from "./finalizer.ts";
import { HotLoopDetector } from "./hot-loop.ts";
import { reconcileIds } from "./reconcile-ids.ts";
import { checkResult, finalizeResult, reconcileResult } from "./result.ts";
import { mostReverts } from "./reverts.ts";
import { type Outcome, type ReconcilerDependencies, type ReconcilerRules, Run } from "./run.ts";
import { SchemaFacts } from "./schema-facts.ts";
import { notPruned } from "./standing.ts";
import { ownStatusOf, type StatusMemory, type StatusObject, writeStatus } from "./status.ts";

const done: Outcome = { type: "done" };

/**
 * Runs the reconciles of one controller: from a key to an outcome. Never throws.
 *
 * # Flow
 * 1. Read the object from the cache. Not found: forget what is remembered of it.
 * 2. Being deleted: run `finalize`, then remove the finalizer. Without our finalizer, leave the
 *    object alone.
 * 3. With `finalize`, make sure the finalizer is there before anything else is done.
 * 4. Run `reconcile`; apply its children, prune, record its events, write its status.
 * 5. Report a failure in the condition, an event, the metrics and the log, with one reason. A
 *    conflict, or a namespace that is being deleted, is retried and not counted as an error.
 */
export class Reconciler<K extends AnyKind> {
  readonly #rules: ReconcilerRules<K>;
  readonly #dependencies: ReconcilerDependencies;
  readonly #hotLoops: HotLoopDetector;
  /** By uid; what is lost here is found out again with at most one write that changes nothing. */
  readonly #children = new Map<string, ChildMemory>();
  readonly #statuses = new Map<string, StatusMemory>();
  readonly #uids = new Map<string, string>();
  readonly #schemas = new SchemaFacts();
  readonly #failures: Failures;
  readonly #nextId: () => string;
  readonly #stop: AbortSignal;
  /**
   * Those under way. One listener on the signal serves them all: listeners that come and go are
   * linked to each other, and the garbage collector would take each reconcile for alive until it
   * has seen everything.
   */
  readonly #runs: Run<K>[] = [];

  /** @param stop aborts the reconciles under way */
  constructor(rules: ReconcilerRules<K>, dependencies: ReconcilerDependencies, stop: AbortSignal) {
    this.#rules = rules;
    this.#dependencies = dependencies;
    this.#nextId = reconcileIds(dependencies.random);
    this.#stop = stop;
    stop.addEventListener("abort", () => this.#giveUp(stop.reason), { once: true });
    this.#hotLoops = new HotLoopDetector({
      clock: dependencies.clock,
      threshold: rules.hotLoopThreshold,
    });
    this.#failures = new Failures(dependencies.clock);
  }

  async run(key: ObjectKey, attempt: number): Promise<Outcome> {
    const object = this.#rules.read(key);
    if (!object) {
      this.#forget(key);
      return done;
    }
    const run = new Run(this.#rules, this.#dependencies, object, attempt, this.#stop, this.#nextId());
    this.#runs.push(run);
    const uid = object.metadata.uid ?? "";
    this.#remember(key, uid);
    try {
      const outcome = await run.within(() => this.#pass(run, object, uid));
      run.follows.settle();
      this.#failures.settle(key);
      this.#watchForLoop(run, object);
      return outcome;
    } catch (error) {
      return await this.#failed(run, object, uid, error);
    } finally {
      run.end();
      this.#runs.splice(this.#runs.indexOf(run), 1);
    }
  }

  #giveUp(reason: unknown): void {
    for (const run of this.#runs) run.giveUp(reason);
  }

  async #pass(run: Run<K>, read: ObjectOf<K>, uid: string): Promise<Outcome> {
    const { kind, finalize, finalizer, reconcile, statusSchema: schema } = this.#rules;
    if (read.metadata.deletionTimestamp !== undefined) {
      if (!finalize || !hasFinalizer(read, finalizer)) return done;
      const wanted = await finalize(read, run.context(read, this.#childrenOf(run, read, uid)));
      checkResult(wanted, finalizeResult, `finalize of ${describe(kind, keyOf(read))}`, {
        schema,
        object: read,
      });
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
    checkResult(wanted, reconcileResult, `reconcile of ${describe(kind, keyOf(read))}`, {
      schema,
      object: read,
    });
    if (!wanted) return done;
    if (wanted.children) await this.#applyAll(run, children, wanted);
    await this.#report(run, object, uid, wanted);
    return wanted.requeueAfter === undefined ? done : requeue(wanted.requeueAfter);
  }

  /**
   * Applies all children in their order, even if one fails, so that one bad child does not hold up
   * the others. Prunes only when none failed and none waits: what is no longer wanted goes after
   * what takes its place has come.
   */
  async #applyAll(run: Run<K>, children: Children, wanted: Wanted<K>): Promise<void> {
    const listed = wantedChildren(wanted.children);
    children.checkDistinct(listed);
    const { waiting, failures: unapplied } = await applyInOrder(listed, {
      apply: (child) => children.apply(child),
      applied: (child) => children.applied(child),
    });
    if (waiting.length > 0 && unapplied.length === 0)
      run.log.debug({ waiting: waiting.map(describeChild) }, "children wait for others to be ready");
    const isToPrune = waiting.length === 0 && unapplied.length === 0;
    const failures = isToPrune ? await children.prune() : unapplied;
    const over = failures.find(isOver);
    if (over !== undefined) throw over;
    if (failures.length === 0) return;
    if (wanted.status) run.fallbackStatus = wanted.status as StatusObject;
    if (failures.length === 1) throw failures[0];
    // The fault to report is one that a user can do something about.
    const first = failures.find((failure) => !isNamespaceTerminating(failure));
    if (first === undefined) throw failures[0];
    throw new ChildrenError(failures, first);
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

  async #writeStatus(
    run: Run<K>,
    object: ObjectOf<K>,
    uid: string,
    status: StatusObject,
    client = run.client,
  ): Promise<void> {
    const { kind, read, fieldManager, hasConditions: hasObservedGeneration } = this.#rules;
    const { cache, clock, metrics } = this.#dependencies;
    const newest = read(keyOf(object));
    if (!newest || newest.metadata.uid !== object.metadata.uid) return;
    const schemas = this.#schemas;
    const options = { kind, client, cache, clock, fieldManager, schemas, hasObservedGeneration };
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
    const { metrics } = this.#dependencies;
    if (run.isStopped || isOver(error) || isNoFault(error, run.attempt)) {
      run.log.debug({ why: messageOf(error) }, "reconcile superseded, will be retried");
      return { type: "again", why: messageOf(error) };
    }
    // Its namespace has joined those that are watched, and not all of it is listed yet; or it has
    // left them while this ran.
    if (error instanceof CacheMissError) {
      const isLeft = this.#rules.read(keyOf(object)) === undefined;
      if (isLeft || error.ready !== undefined) {
        run.log.debug({ why: messageOf(error) }, "reconcile read what is not held at present");
        return isLeft ? done : { type: "again", why: messageOf(error) };
      }
    }
    // An object that is going itself, and whose `finalize` wants to create something, would hold
    // its namespace indefinitely: that is a fault.
    if (isNamespaceTerminating(error) && object.metadata.deletionTimestamp === undefined) {
      run.log.debug({ why: messageOf(error) }, "the namespace is being deleted; left alone");
      return isNamespaceOf(object, error) ? done : { type: "again", why: messageOf(error) };
    }
    const reason = reasonOf(error);
    const terminal = error instanceof TerminalError;
    const message = explain(error);
    if (error instanceof ReconcileTimeoutError) metrics.timedOut();
    metrics.failed(reason, { terminal });
    run.events.warning(reason, message);
    await this.#writeErrorCondition(run, object, uid, reason, message);
    const decision = this.#failures.note(keyOf(object), error, message);
    const isOutage = error instanceof TransportError && this.#dependencies.isServerOut?.() === true;
    const report = { log: run.log, attempt: run.attempt, error, decision, isOutage };
    return { type: "failed", reason, terminal, report };
  }

  /**
   * A best effort: the failure is in the log and the event already, and the retry will come
   * whatever happens here.
   */
  async #writeErrorCondition(
    run: Run<K>,
    object: ObjectOf<K>,
    uid: string,
    reason: string,
    message: string,
  ): Promise<void> {
    const { errorCondition, kind, read, fieldManager } = this.#rules;
    if (errorCondition === undefined) return;
    const live = read(keyOf(object));
    if (!live) return;
    const said = condition(errorCondition, false, reason, message.slice(0, 1024));
    const base = run.fallbackStatus ?? ownStatusOf(live, this.#dependencies.cache, kind, fieldManager);
    const others = conditionsOf(base).filter((one: WantedCondition) => one.type !== errorCondition);
    try {
      const { observedGeneration: _seen, ...rest } = base ?? {};
      const status = { ...rest, conditions: [...others, said] };
      await this.#writeStatus(run, object, uid, status, run.failureClient);
    } catch (failure) {
      if (!isNotFound(failure))
        run.log.debug({ error: messageOf(failure) }, "the failure could not be written to the status");
    }
  }

  #childrenOf(run: Run<K>, owner: ObjectOf<K>, uid: string): Children {
    const { kind, owns, fieldManager } = this.#rules;
    const { cache, metrics, clock } = this.#dependencies;
    let memory = this.#children.get(uid);
    if (!memory) {
      memory = new ChildMemory();
      this.#children.set(uid, memory);
    }
    return new Children({
      ownerKind: kind,
      owner,
      owns,
      client: run.client,
      cache,
      memory,
      schemas: this.#schemas,
      clock,
      fieldManager,
      onNotPruned: (childKind, object) => {
        const message = notPruned(childKind, object, { ownerKind: kind, owner, fieldManager });
        run.log.warn({ child: describe(childKind, keyOf(object)) }, message);
        run.events.warning("ChildNotPruned", message);
      },
      onReverted: (childKind, object, paths, managers) => {
        const child = describe(childKind, keyOf(object));
        const who = managers.length > 0 ? managers.join(" or ") : "another program";
        const message = `${child} was changed ${mostReverts} times within ten minutes, most recently by ${who} (${paths.slice(0, 3).join(", ")}), and put back each time by ${fieldManager}. Have only one of them set these fields`;
        run.log.warn({ child, field: paths[0], managers }, message);
        run.events.warning("ChildContested", message);
      },
      onSkip: metrics.skipped,
      onChange: ({ kind: childKind, object, because }) =>
        run.explain(describe(childKind, keyOf(object)), because.length > 0 ? because : ["(created)"]),
      // It does not name this owner, so its changes would be missed otherwise.
      onRefused: (owned, key) =>
        run.follows.follow(owned.metadataOnly ? metadataOnly(owned.kind) : owned.kind, key),
    });
  }

  /**
   * A change has this object reconciled.
   *
   * @param version the change's resourceVersion; undefined if it is not an object's
   */
  heard(key: ObjectKey, version: string | undefined): void {
    this.#hotLoops.heard(key, version);
  }

  #watchForLoop(run: Run<K>, object: ObjectOf<K>): void {
    const key = keyOf(object);
    const loop = this.#hotLoops.observe(key, object.metadata.generation, run.writes, run.written);
    if (!loop) return;
    const { kind } = this.#rules;
    const subject = describe(kind, key);
    const { reconciles, seconds, path, target } = loop;
    const message =
      loop.cause === "own"
        ? `${subject} was reconciled ${reconciles} times in ${seconds} s because of this controller's own writes: ${path} of ${target} differs each time. Make it the same for the same input.`
        : `${subject} was reconciled ${reconciles} times in ${seconds} s, and wrote each time, most often ${path} of ${target}. If nothing changes as often as that, another program undoes the writes.`;
    this.#dependencies.metrics.hotLoop();
    run.log.warn({ field: path, target, reconciles }, message);
    run.events.warning("HotLoop", message);
  }

  #remember(key: ObjectKey, uid: string): void {
    const id = keyId(key);
    const before = this.#uids.get(id);
    if (before === uid) return;
    if (before !== undefined) this.#forget(key);
    this.#uids.set(id, uid);
  }

  #forget(key: ObjectKey): void {
    const id = keyId(key);
    const uid = this.#uids.get(id);
    this.#uids.delete(id);
    this.#hotLoops.forget(key);
    this.#rules.follows.forget(key);
    this.#failures.settle(key);
    if (uid === undefined) return;
    this.#children.delete(uid);
    this.#statuses.delete(uid);
  }
}

/** A time that has passed by now is due at once. */
function requeue(after: Duration): Outcome {
  const ms = typeof after === "number" ? after : milliseconds(after, "requeueAfter");
  return { type: "requeueAfter", ms: Math.max(0, ms) };
}

function isOver(error: unknown): boolean {
  return error instanceof FencedError || error instanceof ReconcileOverError;
}

/** As many conflicts in a row are considered normal: others write to the same objects. */
const usualConflicts = 5;

/**
 * As many attempts, a second or so, are considered normal to wait for the children of a namesake:
 * the garbage collector is about to delete them.
 */
const usualWaits = 8;

/** Whether the object changed while this ran, so that the next try sees it as it is. */
function isNoFault(error: unknown, attempt: number): boolean {
  const causes = causesOf(error);
  if (causes.every(isOutdated)) return attempt <= usualConflicts;
  const isPassing = (cause: unknown) => isOutdated(cause) || cause instanceof NamesakeChildError;
  return attempt <= usualWaits && causes.every(isPassing);
}

/**
 * Whether it is the object's own namespace that goes: the object goes with it, and its deletion
 * asks for the next reconcile.
 */
function isNamespaceOf({ metadata: { namespace } }: KubernetesObject, error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.causes.some(({ message }) => message === `namespace ${namespace} is being terminated`)
  );
}
