import type { AnyKind, ObjectKey, ObjectOf, Reader, Writer } from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import type { Cache, Informer, InformerScope } from "../cache/contract.ts";
import type { FollowSession, Follows } from "../controller/follow.ts";
import { type Logger, lazyLogger } from "../logging/logger.ts";
import type { ControllerMetrics } from "../metrics/controller-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import type { Child, OwnedKind } from "./child.ts";
import type { Children } from "./children.ts";
import { cachedClient, describe, keyOf, type ReconcileClient, type WriteNote } from "./client.ts";
import type { Finalize, Reconcile, ReconcileContext } from "./context.ts";
import { deleteObject } from "./delete-object.ts";
import { differences } from "./differences.ts";
import { ReconcileOverError, ReconcileTimeoutError } from "./errors.ts";
import type { EventRecorder, Events } from "./events.ts";
import type { FailureReport } from "./failure-report.ts";
import type { FlappingWrite } from "./hot-loop.ts";
import { ownedReader } from "./owned.ts";
import type { StatusSchema } from "./result.ts";
import type { StatusObject } from "./status.ts";
import type { Tracing } from "./tracing.ts";

/** The rules of one controller, resolved: what a Reconciler needs of it. */
export interface ReconcilerRules<K extends AnyKind> {
  readonly name: string;
  readonly kind: K;
  /** The object, if there is one within the controller's scope. */
  readonly read: (key: ObjectKey) => ObjectOf<K> | undefined;
  readonly owns: readonly OwnedKind[];
  readonly reconcile: Reconcile<K>;
  readonly finalize: Finalize<K> | undefined;
  readonly finalizer: string;
  readonly fieldManager: string;
  readonly timeoutMs: number;
  /**
   * The condition that says when a reconcile failed; undefined for kinds that have no conditions.
   */
  readonly errorCondition: string | undefined;
  /** How many writing reconciles of one object in a minute are a loop. */
  readonly hotLoopThreshold: number;
  /** Whether the status has conditions and `observedGeneration`. */
  readonly hasConditions: boolean;
  readonly statusSchema?: StatusSchema;
  readonly follows: Follows;
}

/** What a Reconciler depends on. */
export interface ReconcilerDependencies {
  readonly client: Reader & Writer;
  /** As the controller declared it. */
  readonly cache: Cache;
  /**
   * As all controllers together have it: what the client answers from, for the kinds that it holds
   * in full.
   */
  readonly sharedCache: Cache;
  /**
   * An informer within the manager's namespaces, unless the scope says otherwise, with every index
   * that is declared for the kind.
   */
  readonly informer: <K extends AnyKind>(kind: K, scope?: InformerScope) => Informer<ObjectOf<K>>;
  readonly isCached: (kind: AnyKind) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: Events;
  readonly metrics: ControllerMetrics;
  /** The metrics of the manager, for the reconcilers' own. */
  readonly registry: Registry;
  readonly tracing: Tracing;
  /**
   * Whether it has been logged already that no server answers, so that each reconcile need not.
   *
   * @default never
   */
  readonly isServerOut?: () => boolean;
  /** Notified of each reconcile, to name it if the event loop blocks. @default none */
  readonly observer?: ReconcileObserver;
}

/** Notified of each reconcile, so that a blocked event loop can be reported with what blocks it. */
export interface ReconcileObserver {
  /** @returns to be called when it has ended. */
  begin(what: string): () => void;
  /** The cause of a blocked event loop was logged already. */
  explained(): void;
}

/** How one reconcile ended. */
export type Outcome =
  | { readonly type: "done" }
  | { readonly type: "requeueAfter"; readonly ms: number }
  /**
   * Try again by backoff, and count no error: the object changed meanwhile, or this process stopped
   * leading.
   */
  | { readonly type: "again"; readonly why: string }
  | {
      readonly type: "failed";
      readonly reason: string;
      readonly terminal: boolean;
      /** For its line in the log, which is written once the time of the next attempt is known. */
      readonly report: FailureReport;
    };

/** One reconcile under way: its client, its log, its time, and what it wrote. */
export class Run<K extends AnyKind> {
  readonly #rules: ReconcilerRules<K>;
  readonly #dependencies: ReconcilerDependencies;
  readonly #object: ObjectOf<K>;
  readonly #attempt: number;
  readonly #stop: AbortSignal;
  readonly #abort = new AbortController();
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly reconcileId: string;
  readonly client: ReconcileClient;
  #log: Logger | undefined;
  readonly events: EventRecorder;
  readonly follows: FollowSession;
  /** The status to build upon if the failure must be written. */
  fallbackStatus: StatusObject | undefined;
  readonly #writes: FlappingWrite[] = [];
  /** The resourceVersions that its writes led to. */
  readonly written: string[] = [];
  #isOver = false;

  constructor(
    rules: ReconcilerRules<K>,
    dependencies: ReconcilerDependencies,
    object: ObjectOf<K>,
    attempt: number,
    stop: AbortSignal,
    reconcileId: string,
  ) {
    this.#rules = rules;
    this.#dependencies = dependencies;
    this.#object = object;
    this.#attempt = attempt;
    this.#stop = stop;
    this.reconcileId = reconcileId;
    this.events = dependencies.events.about(rules.kind, object, rules.name);
    this.client = this.#makeClient((what) => this.#refuseIfOver(what));
    this.follows = rules.follows.begin(keyOf(object));
  }

  /** Made when it is first asked for: most reconciles have nothing to log. */
  get log(): Logger {
    const { name, namespace } = this.#object.metadata;
    this.#log ??= this.#dependencies.log.child({
      controller: this.#rules.name,
      kind: this.#rules.kind.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      reconcileID: this.reconcileId,
    });
    return this.#log;
  }

  get attempt(): number {
    return this.#attempt;
  }

  get isStopped(): boolean {
    return this.#stop.aborted;
  }

  get writes(): readonly FlappingWrite[] {
    return this.#writes;
  }

  /**
   * Runs the reconcile, and gives it up when its time is over. What it still does then finds its
   * client closed.
   */
  async within(pass: () => Promise<Outcome>): Promise<Outcome> {
    const { timeoutMs, kind, name } = this.#rules;
    const { clock, metrics } = this.#dependencies;
    const subject = () => describe(kind, keyOf(this.#object));
    const cancel =
      timeoutMs > 0
        ? clock.schedule(timeoutMs, () => this.giveUp(new ReconcileTimeoutError(subject(), name, timeoutMs)))
        : undefined;
    if (this.#stop.aborted) this.giveUp(this.#stop.reason);
    const started = clock.monotonic();
    try {
      pass().then(this.#outcome.resolve, this.#outcome.reject);
      return await this.#outcome.promise;
    } finally {
      cancel?.();
      const tookMs = clock.monotonic() - started;
      // Nothing could give it up, not even its timer: the event loop did not turn.
      if (timeoutMs > 0 && tookMs > timeoutMs && !this.#isOver) {
        metrics.timedOut();
        this.#dependencies.observer?.explained();
        this.log.warn(
          { seconds: Math.round(tookMs / 100) / 10 },
          `${subject()}: the reconcile of controller ${name} kept the CPU past its timeout of ${timeoutMs / 1000} s, and everything else stood still. Move long computations to a worker thread, or split them with await.`,
        );
      }
    }
  }

  /** Ends the wait for the reconcile, if it has not ended by itself. */
  giveUp(error: unknown): void {
    this.#isOver = true;
    this.#abort.abort(error);
    this.#outcome.reject(error);
  }

  /** A client for what the runtime itself has to write about a canceled reconcile. */
  get failureClient(): ReconcileClient {
    return this.#makeClient(() => undefined);
  }

  end(): void {
    this.#isOver = true;
  }

  /** Notes which fields made a write necessary. */
  explain(target: string, paths: readonly string[]): void {
    const last = this.#writes.at(-1);
    const write = { target, paths: () => paths };
    if (last?.target === target) this.#writes[this.#writes.length - 1] = write;
    else this.#writes.push(write);
  }

  context(object: ObjectOf<K>, children: Children): ReconcileContext {
    const { kind: ownerKind, owns } = this.#rules;
    const { cache, clock, registry } = this.#dependencies;
    const { owned, ownedAll } = ownedReader(cache, ownerKind, object, owns);
    return {
      client: this.client,
      live: this.client.live,
      cache,
      owned,
      ownedAll,
      // What is followed is let go when the object is: that may be over and done with by then.
      follow: async (followed, key) => {
        this.#refuseIfOver(`follow ${describe(followed, key)}`);
        return await this.follows.follow(followed, key);
      },
      apply: async <C extends AnyKind>(child: Child<C>) => (await children.apply(child)) as ObjectOf<C>,
      delete: (kind, child, options) => deleteObject(this.client, kind, child, options),
      events: this.events,
      log: lazyLogger(() => this.log),
      metrics: registry,
      signal: this.#abort.signal,
      attempt: this.#attempt,
      key: keyOf(object),
      reconcileId: this.reconcileId,
      clock,
      now: new Date(clock.now()),
    };
  }

  #refuseIfOver(what: string): void {
    if (this.#isOver || this.#abort.signal.aborted)
      throw new ReconcileOverError(what, { cause: this.#abort.signal.reason });
  }

  #makeClient(refuseIfOver: (what: string) => void): ReconcileClient {
    const { client, sharedCache, isCached, metrics, tracing } = this.#dependencies;
    return cachedClient({
      client,
      cache: sharedCache,
      isCached,
      guard: refuseIfOver,
      onWrite: (note) => {
        metrics.wrote(note.verb);
        const version = note.after?.metadata.resourceVersion;
        if (version !== undefined) this.written.push(version);
        this.#writes.push({ target: describe(note.kind, note.key), paths: () => changedPaths(note) });
      },
      around: tracing.write,
    });
  }
}

/** What a write changed, for the hot-loop detector. Bookkeeping of the server's does not count. */
function changedPaths(note: WriteNote): readonly string[] {
  if (!note.before || !note.after) return [`(${note.verb})`];
  const { metadata: _before, ...before } = note.before;
  const { metadata: _after, ...after } = note.after;
  const paths = differences(before, after);
  return paths.length > 0 ? paths : [`(${note.verb}, no field changed)`];
}
