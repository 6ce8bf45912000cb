import type {
  AnyKind,
  DeleteOptions,
  KeyOf,
  KubernetesObject,
  MetadataOnly,
  ObjectOf,
  Reader,
} from "@windlass/client";
import type { Clock, Duration } from "@windlass/clock";
import type { CacheReader, DeclaredAs, IndexName } from "../cache/contract.ts";
import type { Logger } from "../logging/logger.ts";
import type { Registry } from "../metrics/registry.ts";
import type { Child } from "./child.ts";
import type { ReconcileClient } from "./client.ts";
import type { WantedCondition } from "./condition.ts";
import type { EventInput, EventRecorder } from "./events.ts";

/**
 * What a controller declares, for the compiler: which kinds and indexes its reconciler may ask for.
 */
export interface Declared {
  /** The kind that is reconciled. */
  readonly kind: AnyKind;
  /**
   * The kinds of the children as they are read: `MetadataOnly<typeof Secret>` where metadata alone
   * is cached.
   */
  readonly owned: AnyKind;
  /** The kinds that the cache holds: those above, and those that are watched or read. */
  readonly cached: AnyKind;
  readonly index: IndexName;
}

/**
 * The key of an object of the reconciled kind. Written as a condition, so that the compiler
 * compares contexts member by member: one with more kinds or indexes is good wherever one with
 * fewer is asked for.
 */
type KeyIn<D extends Declared> = D["kind"] extends infer K extends AnyKind ? KeyOf<K> : never;

/** The identity of an object. */
export type IdentityOf<K> = KubernetesObject &
  Pick<ObjectOf<K> & KubernetesObject, "apiVersion" | "kind" | "metadata">;

/** No kind is this: the compiler compares kinds with it that are not among those that are owned. */
export interface NotOwned extends MetadataOnly {
  readonly 'add the kind to "owns"': never;
}

/** A kind as its objects are written, whichever part of them is read. */
type Written<K extends AnyKind> = K extends MetadataOnly<infer Whole> ? Whole : K;

/**
 * What a reconciler is handed besides the object. All members may be taken out
 * (`(app, { owned }) => …`).
 *
 * Without a type argument it is the context of any controller: functions that take one can be
 * called from every reconciler.
 */
export interface ReconcileContext<D extends Declared = Declared> {
  /** Reads from the cache, writes to the server, and sees its own writes. */
  readonly client: ReconcileClient;
  /** Reads that always ask the server: for decisions that a stale read would spoil. */
  readonly live: Reader;
  /** The cache itself: synchronous, with indexes. */
  readonly cache: CacheReader<D["cached"], D["index"]>;
  /**
   * The child of this kind that the object controls: the one of this name, or without a name the
   * first by name. Children whose metadata alone is cached are read as
   * `owned(metadataOnly(Secret))`.
   *
   * @throws ChildError if the kind is not in the controller's `owns`.
   */
  owned<K extends DeclaredAs<D["owned"]> | NotOwned>(kind: K, name?: string): ObjectOf<K> | undefined;
  /** All children of this kind that the object controls, by name. */
  ownedAll<K extends DeclaredAs<D["owned"]> | NotOwned>(kind: K): readonly ObjectOf<K>[];
  /**
   * Looks at an object of any kind, and has its changes ask for a reconcile: for references whose
   * kind is known only now, such as a scale target. Followed until a reconcile of this object ends
   * well without following it. Needs get, list and watch of the kind.
   */
  follow<K extends AnyKind>(kind: K, key: KeyOf<K>): Promise<ObjectOf<K> | undefined>;
  /**
   * Applies a child now: sets the owner, skips the write if nothing differs, and resolves to the
   * object on the server. For reconcilers that need an answer before they go on; others return
   * `children`.
   */
  apply<K extends DeclaredAs<Written<D["owned"]>> | NotOwned>(child: Child<K>): Promise<ObjectOf<K>>;
  /**
   * Deletes this very object, by its uid: one of the same name that came later is not touched. That
   * it is gone already counts as done, so finalizers may call it again after a crash. Resolves once
   * the server has taken the request.
   */
  delete<K extends AnyKind>(
    kind: K,
    object: IdentityOf<K>,
    options?: Pick<DeleteOptions, "propagationPolicy" | "gracePeriodSeconds">,
  ): Promise<void>;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** The manager's metrics, for your own: asking twice for a name gives the same metric. */
  readonly metrics: Registry;
  /**
   * Aborted when the reconcile times out, leadership is lost, or the manager stops. Pass it to
   * whatever waits.
   */
  readonly signal: AbortSignal;
  /** 1 for the first try, and one more for each failure in a row. */
  readonly attempt: number;
  readonly key: KeyIn<D>;
  /** One per reconcile; in every log line and span of it. */
  readonly reconcileId: string;
  readonly clock: Clock;
  /** The wall-clock time at which the reconcile began. */
  readonly now: Date;
}

/** Whether the type of a kind's objects is known, and has no status. */
type HasNoStatus<T> = KubernetesObject extends T ? false : "status" extends keyof T ? false : true;

type StatusField<T> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

/**
 * The status that a reconciler of this kind may return: the kind's own, with conditions as
 * `condition()` makes them. `observedGeneration` is filled in. A kind without a status has none to
 * return.
 */
export type StatusFor<K extends AnyKind> =
  HasNoStatus<ObjectOf<K>> extends true
    ? never
    : [StatusField<ObjectOf<K>>] extends [never]
      ? Readonly<Record<string, unknown>>
      : unknown extends StatusField<ObjectOf<K>>
        ? Readonly<Record<string, unknown>> & { readonly conditions?: readonly WantedCondition[] }
        : Omit<StatusField<ObjectOf<K>>, "conditions" | "observedGeneration"> & {
            readonly conditions?: readonly WantedCondition[];
            readonly observedGeneration?: number;
          };

/** What a reconciler wants. Every field may be left out. */
export interface Wanted<K extends AnyKind = AnyKind, Owned extends AnyKind = AnyKind> {
  /**
   * The children that should exist. They are applied with the object as their owner, and children
   * that were applied before and are not listed any more are deleted. Leave it out to leave all
   * children alone; `[]` deletes them. An entry that is undefined or false counts as not listed:
   * `spec.host !== undefined && ingressFor(app)`.
   */
  readonly children?: readonly (Child<Owned> | undefined | false)[];
  /** The status that was observed, whole: fields left out that were written before are removed. */
  readonly status?: StatusFor<K>;
  /** Look again after this time, if nothing happens before. */
  readonly requeueAfter?: Duration;
  readonly events?: readonly EventInput[];
}

/** What a finalizer wants. */
export interface WantedWhileDeleting<K extends AnyKind> extends Omit<Wanted<K>, "children"> {
  /** Not done yet: keep the finalizer, and look again after this time. */
  readonly requeueAfter?: Duration;
}

/** What a reconciler may return: what it wants, or nothing. */
export type ReconcileResult<K extends AnyKind = AnyKind, Owned extends AnyKind = AnyKind> =
  | Wanted<K, Owned>
  | Nothing;

/** What a finalizer may return. */
export type FinalizeResult<K extends AnyKind = AnyKind> = WantedWhileDeleting<K> | Nothing;

/** What a function returns that returns nothing. */
type Nothing = ReturnType<() => void> | undefined;

/**
 * Brings the world to what the object says. Called with the state as it is, never with what
 * changed; any number of times; never twice at a time for one object. Throwing means trying again
 * later.
 */
export type Reconcile<
  K extends AnyKind,
  D extends Declared = Declared,
  Result = ReconcileResult<K, D["owned"]>,
> = (object: ObjectOf<K>, context: ReconcileContext<D>) => Result | Promise<Result>;

/**
 * Cleans up what Kubernetes does not collect by itself. The object goes once this resolves, unless
 * `requeueAfter` is returned. Called again after a crash, so it must take "already gone" for done.
 */
export type Finalize<K extends AnyKind, D extends Declared = Declared, Result = FinalizeResult<K>> = (
  object: ObjectOf<K>,
  context: ReconcileContext<D>,
) => Result | Promise<Result>;
