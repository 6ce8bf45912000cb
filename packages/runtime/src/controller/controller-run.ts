import type { AnyKind, KubernetesObject, ObjectKey } from "@windlass/client";
import { controllerOf } from "@windlass/client";
import { systemClock } from "@windlass/clock";
import type { CacheEvent, Informer } from "../cache/contract.ts";
import { kindIdOf } from "../cache/kind-id.ts";
import { YieldBudget } from "../cache/pace.ts";
import { countOf, LogThrottle } from "../logging/log-throttle.ts";
import { type QueueMetrics, queueMetrics } from "../metrics/queue-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import { type AddOptions, createQueue, type Lease, type Queue } from "../queue/index.ts";
import { describe, keyOf } from "../reconcile/client.ts";
import { messageOf } from "../reconcile/errors.ts";
import { logFailure } from "../reconcile/failure-report.ts";
import { refersTo } from "../reconcile/owner.ts";
import { Reconciler } from "../reconcile/reconciler.ts";
import type { Outcome, ReconcilerDependencies } from "../reconcile/run.ts";
import { DeclaredCache } from "./declared-cache.ts";
import { Follows } from "./follow.ts";
import type { Predicate } from "./predicate.ts";
import { mayWatch } from "./rbac.ts";
import type { ControllerSettings, WatchedKind } from "./settings.ts";
import type { SourceContext } from "./source.ts";
import { runSource } from "./source-run.ts";

/**
 * What starts up and resyncs waits behind what happens now. The queue's ageing sees that it does
 * not wait indefinitely.
 */
const backgroundPriority = -100;

const resyncJitter = 0.1;

/**
 * One controller at work. `open` starts its informers, so that a standby is warm; `start` lets it
 * reconcile; `stop` lets the reconciles under way end.
 */
export class ControllerRun {
  readonly controller: ControllerSettings;
  readonly #dependencies: ReconcilerDependencies;
  readonly #registry: Registry;
  readonly #informers: Informer<KubernetesObject>[] = [];
  readonly #primary: Informer<KubernetesObject>;
  readonly #owned: readonly Informer<KubernetesObject>[];
  readonly #watched: readonly Informer<KubernetesObject>[];
  #running: Running | undefined;
  #queueMetrics: QueueMetrics | undefined;

  constructor(controller: ControllerSettings, dependencies: ReconcilerDependencies, registry: Registry) {
    this.controller = controller;
    const cache = new DeclaredCache(dependencies.cache);
    this.#dependencies = { ...dependencies, cache };
    this.#registry = registry;
    const held = <T extends Informer<KubernetesObject>>(informer: T): T => {
      this.#informers.push(informer);
      cache.declare(informer);
      return informer;
    };
    this.#primary = held(dependencies.informer(controller.kind, controller.scope));
    this.#owned = controller.owns.map(({ kind, metadataOnly }) =>
      held(dependencies.informer(kind, metadataOnly ? { metadataOnly } : {})),
    );
    this.#watched = controller.watches.map(({ kind, scope }) => held(dependencies.informer(kind, scope)));
    for (const kind of controller.reads) held(dependencies.informer(kind));
  }

  get name(): string {
    return this.controller.name;
  }

  /** Resolves when every informer of the controller has its first list. */
  async synced(): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.synced));
  }

  /** Whether every informer of the controller has its first list. */
  get hasSynced(): boolean {
    return this.#informers.every((informer) => informer.hasSynced);
  }

  /**
   * Begins to reconcile. Every object that is there is reconciled once, behind what happens from
   * now on.
   */
  start(): void {
    if (this.#running) return;
    const { clock, random } = this.#dependencies;
    const queue: Queue<ObjectKey> = createQueue<ObjectKey>({
      clock,
      random,
      backoff: this.controller.rateLimit,
      observer: {
        added: () => this.#queueMetrics?.added(),
        taken: (seconds) => this.#queueMetrics?.taken(seconds),
        done: (seconds) => this.#queueMetrics?.done(seconds),
        retried: () => this.#queueMetrics?.retried(),
      },
    });
    this.#queueMetrics ??= queueMetrics(
      this.#registry,
      this.controller.name,
      () => this.#running?.queue.sample() ?? { depth: new Map(), running: [] },
    );
    this.#running = new Running(this.controller, this.#dependencies, queue, this.#primary);
    this.#running.start(this.#owned, this.#watched);
  }

  /** Stops taking work and waits for the reconciles under way; the signal aborts them. */
  async stop(abort: AbortSignal): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop(abort);
  }

  /** Lets the informers go. */
  close(): void {
    for (const informer of this.#informers.splice(0)) informer.release();
  }
}

/** One period of work, from the moment of leading to its end. */
class Running {
  readonly queue: Queue<ObjectKey>;
  readonly #controller: ControllerSettings;
  readonly #dependencies: ReconcilerDependencies;
  readonly #primary: Informer<KubernetesObject>;
  readonly #reconciler: Reconciler<AnyKind>;
  readonly #follows: Follows;
  readonly #throttle: LogThrottle;
  readonly #yieldBudget: YieldBudget | undefined;
  readonly #sourcesStop = new AbortController();
  readonly #reconcilesStop = new AbortController();
  readonly #undo: (() => void)[] = [];
  readonly #tasks: Promise<void>[] = [];

  constructor(
    controller: ControllerSettings,
    dependencies: ReconcilerDependencies,
    queue: Queue<ObjectKey>,
    primary: Informer<KubernetesObject>,
  ) {
    this.#controller = controller;
    this.#dependencies = dependencies;
    this.#primary = primary;
    this.queue = queue;
    this.#throttle = new LogThrottle(dependencies.clock);
    // A handed-in clock moves only when the event loop turns: nothing starves, and a pause would
    // make runs depend on their turns.
    this.#yieldBudget = dependencies.clock === systemClock ? new YieldBudget(dependencies.clock) : undefined;
    const followed = {
      informer: dependencies.informer,
      onKind: (kind: AnyKind) => this.#warnIfUndeclared(kind),
    };
    this.#follows = new Follows(followed, (key) => this.#add(key));
    const read = (key: ObjectKey) => (primary.holds(key) ? primary.get(key) : undefined);
    const rules = { ...controller, read, follows: this.#follows };
    this.#reconciler = new Reconciler(rules, dependencies, this.#reconcilesStop.signal);
  }

  start(owned: readonly Informer<KubernetesObject>[], watched: readonly Informer<KubernetesObject>[]): void {
    const { kind, owns, watches, predicate, concurrency, sources } = this.#controller;
    this.#undo.push(this.#primary.subscribe((change) => this.#onPrimary(change, predicate)));
    for (const [index, informer] of owned.entries()) {
      const accepts = owns[index]?.predicate;
      if (!accepts) continue;
      this.#undo.push(
        informer.subscribe((change) => {
          if (!this.#passes(informer.kind, accepts, change)) return;
          for (const object of states(change)) this.#enqueueOwner(kind, object, urgency(change));
        }),
      );
    }
    for (const [index, informer] of watched.entries()) {
      const rule = watches[index];
      if (!rule) continue;
      this.#undo.push(
        informer.subscribe((change) => {
          if (!this.#passes(rule.kind, rule.predicate, change)) return;
          for (const object of states(change)) this.#enqueueMapped(rule, object, urgency(change));
        }),
      );
    }
    for (const source of sources) this.#tasks.push(runSource(source, this.#sourceContext()));
    this.#scheduleResync();
    for (let worker = 0; worker < concurrency; worker += 1) this.#tasks.push(this.#work());
  }

  async stop(abort: AbortSignal): Promise<void> {
    this.#sourcesStop.abort(new Error(`controller ${this.#controller.name} is stopping`));
    for (const undo of this.#undo.splice(0)) undo();
    const onAbort = () => this.#reconcilesStop.abort(abort.reason);
    if (abort.aborted) onAbort();
    else abort.addEventListener("abort", onAbort, { once: true });
    await this.queue.drain({ drop: true });
    await Promise.all(this.#tasks);
    this.#follows.close();
    abort.removeEventListener("abort", onAbort);
  }

  #onPrimary(change: CacheEvent<KubernetesObject>, predicate: Predicate): void {
    if (!this.#passes(this.#controller.kind, predicate, change)) return;
    this.#add(keyOf(change.object), urgency(change), change.object);
  }

  #passes(kind: AnyKind, predicate: Predicate, change: CacheEvent<KubernetesObject>): boolean {
    try {
      return predicate(change) || isReread(change);
    } catch (error) {
      this.#threw(`the predicate of ${kind.kind}`, kind, change.object, error, "the change counts");
      return true;
    }
  }

  /** Adds a key that the user's code has given. @throws TypeError if its namespace is missing */
  #addGiven({ namespace, name }: ObjectKey, options?: AddOptions, because?: KubernetesObject): void {
    const { kind } = this.#controller;
    const isNamespaced = kind.scope === "Namespaced";
    if (isNamespaced && !namespace)
      throw new TypeError(`the key of ${kind.kind} ${name} needs a namespace: the kind is namespaced`);
    // One object has one key: by two of them it would be reconciled twice at a time.
    this.#add(isNamespaced ? { namespace, name } : { name }, options, because);
  }

  /** @param because the object whose change has the key reconciled */
  #add(key: ObjectKey, options?: AddOptions, because?: KubernetesObject): void {
    this.#reconciler.heard(key, because?.metadata.resourceVersion);
    this.queue.add(key, options);
  }

  #enqueueOwner(kind: AnyKind, object: KubernetesObject, options: AddOptions): void {
    const reference = controllerOf(object);
    if (!reference || !refersTo(reference, kind)) return;
    const { namespace } = object.metadata;
    const key =
      kind.scope === "Cluster" || namespace === undefined
        ? { name: reference.name }
        : { namespace, name: reference.name };
    this.#add(key, options, object);
  }

  #enqueueMapped({ kind, map }: WatchedKind, object: KubernetesObject, options: AddOptions): void {
    try {
      const keys = map(object, { cache: this.#dependencies.cache });
      for (const key of keys === undefined ? [] : isKey(keys) ? [keys] : keys)
        this.#addGiven(key, options, object);
    } catch (error) {
      this.#threw(`the mapping of ${kind.kind}`, kind, object, error, "the change is lost to it");
    }
  }

  /**
   * Where the operator may do everything it still works, and then not where it has its role.
   */
  #warnIfUndeclared(kind: AnyKind): void {
    const { name } = this.#controller;
    if (mayWatch(this.#controller, kind) || this.#throttle.record(`follow ${kindIdOf(kind)}`).as !== "first")
      return;
    this.#dependencies.log.warn(
      { controller: name, kind: kind.kind },
      `controller ${name} follows ${kind.kind}, of which rbacFor does not know: add it to "follows", or its rights to "permissions"`,
    );
  }

  /**
   * Logs user code that threw: the first time with its stack, and then now and then, whichever
   * object it throws for.
   */
  #threw(what: string, kind: AnyKind, object: KubernetesObject, error: unknown, outcome: string): void {
    const decision = this.#throttle.record(what);
    if (decision.as === "suppressed") return;
    const subject = describe(kind, keyOf(object));
    const fields = {
      controller: this.#controller.name,
      object: subject,
      error: messageOf(error),
      ...countOf(decision),
      ...(decision.as === "first" && error instanceof Error ? { stack: error.stack } : {}),
    };
    this.#dependencies.log.error(fields, `${what} threw for ${subject}; ${outcome}`);
  }

  #enqueueAll = (): void => {
    for (const object of this.#primary.list()) this.#add(keyOf(object), { priority: backgroundPriority });
  };

  #scheduleResync(): void {
    const { resyncMs } = this.#controller;
    if (resyncMs === 0) return;
    const { clock, random } = this.#dependencies;
    const wait = () => resyncMs * (1 + resyncJitter * (2 * random.next() - 1));
    let cancel = clock.schedule(wait(), () => tick());
    const tick = () => {
      cancel = clock.schedule(wait(), tick);
      this.#enqueueAll();
    };
    this.#undo.push(() => cancel());
  }

  #sourceContext(): SourceContext {
    const { clock, random, cache, log } = this.#dependencies;
    return {
      enqueue: (key) => this.#addGiven(key),
      enqueueAll: this.#enqueueAll,
      signal: this.#sourcesStop.signal,
      cache,
      clock,
      random,
      log: log.child({ controller: this.#controller.name }),
    };
  }

  async #work(): Promise<void> {
    for (let lease = await this.queue.take(); lease; lease = await this.queue.take()) {
      await this.#reconcile(lease);
      const pause = this.#yieldBudget?.pause();
      if (pause) await pause;
    }
  }

  async #reconcile(lease: Lease<ObjectKey>): Promise<void> {
    const { metrics, clock, tracing, log, observer } = this.#dependencies;
    const { name, kind } = this.#controller;
    const started = clock.monotonic();
    const end = observer?.begin(`${describe(kind, lease.key)} (controller ${name})`);
    metrics.working(1);
    try {
      const attributes = {
        controller: name,
        "k8s.kind": kind.kind,
        "k8s.namespace.name": lease.key.namespace ?? "",
        "k8s.object.name": lease.key.name,
        "windlass.attempt": lease.attempt,
      };
      const outcome = await tracing.reconcile(attributes, lease.waitedMs, () =>
        this.#reconciler.run(lease.key, lease.attempt),
      );
      settle(lease, outcome);
      metrics.reconciled(label(outcome), (clock.monotonic() - started) / 1000);
    } catch (error) {
      // The reconciler answers for user code. What gets here is a fault of the runtime's own, and
      // must not end the worker.
      metrics.escaped();
      metrics.reconciled("error", (clock.monotonic() - started) / 1000);
      log.error({ controller: name, error: messageOf(error) }, "an exception escaped a reconcile");
      lease.retry();
    } finally {
      end?.();
      metrics.working(-1);
    }
  }
}

function settle(lease: Lease<ObjectKey>, outcome: Outcome): void {
  switch (outcome.type) {
    case "done":
      lease.done();
      break;
    case "requeueAfter":
      lease.retryAfter(outcome.ms);
      break;
    case "again":
      lease.retry();
      break;
    case "failed":
      if (outcome.terminal) lease.done();
      logFailure(outcome.report, outcome.terminal ? undefined : lease.retry());
  }
}

function label(outcome: Outcome) {
  switch (outcome.type) {
    case "done":
      return "success";
    case "requeueAfter":
      return "requeue_after";
    case "again":
      return "requeue";
    case "failed":
      return "error";
  }
}

/**
 * Whether the object is the same and more is known of it: what the server sent could not be read in
 * full, or it went back in time.
 */
function isReread(change: CacheEvent<KubernetesObject>): boolean {
  if (change.type !== "updated") return false;
  return change.old.metadata.resourceVersion === change.object.metadata.resourceVersion;
}

/** What was there before the controller came waits behind what happens now. */
function urgency(change: CacheEvent<KubernetesObject>): AddOptions {
  return change.type === "added" && change.initial ? { priority: backgroundPriority } : {};
}

/**
 * The states of an object that a change is about: old and new, so that both sides of a moved
 * reference are reconciled.
 */
function states<T>(change: CacheEvent<T>): readonly T[] {
  return change.type === "updated" ? [change.old, change.object] : [change.object];
}

function isKey(keys: ObjectKey | readonly ObjectKey[]): keys is ObjectKey {
  return !Array.isArray(keys);
}
