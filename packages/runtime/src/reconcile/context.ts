import type { AnyKind, DeleteOptions, KubernetesObject, ObjectKey, ObjectOf, Reader } from "@windlass/client";
import type { Clock } from "@windlass/clock";
import type { CacheReader } from "../cache/contract.ts";
import type { Child, ChildOptions } from "./child.ts";
import type { ReconcileClient } from "./client.ts";
import type { WantedCondition } from "./condition.ts";
import type { EventInput, EventRecorder } from "./events.ts";
import type { Logger } from "./log.ts";

/**
 * What a reconciler is handed besides the object. All members may be taken out (`(app, { owned }) => …`).
 */
export interface ReconcileContext {
  /** Reads from the cache, writes to the server, and sees its own writes. */
  readonly client: ReconcileClient;
  /** Reads that always ask the server: for decisions that a stale read would spoil. */
  readonly live: Reader;
  /** The cache itself: synchronous, with indexes. */
  readonly cache: CacheReader;
  /**
   * The child of this kind that the object controls: the one of this name, or without a name the first by name.
   *
   * @throws ChildError if the kind is not in the controller's `owns`.
   */
  owned<K extends AnyKind>(kind: K, name?: string): ObjectOf<K> | undefined;
  /** All children of this kind that the object controls, by name. */
  ownedAll<K extends AnyKind>(kind: K): readonly ObjectOf<K>[];
  /**
   * Looks at an object of any kind, and has its changes ask for a reconcile: for references whose kind is known only now, such as a scale
   * target. Followed until a reconcile of this object ends well without following it. Needs get, list and watch of the kind.
   */
  follow<K extends AnyKind>(kind: K, key: ObjectKey): Promise<ObjectOf<K> | undefined>;
  /**
   * Applies a child now: sets the owner, skips the write if nothing differs, and resolves to the object on the server. For reconcilers
   * that need an answer before they go on; others return `children`.
   */
  apply<K extends AnyKind>(
    kind: K,
    child: Extract<Child, { metadata: unknown }>,
    options?: ChildOptions,
  ): Promise<ObjectOf<K>>;
  /**
   * Deletes this very object, by its uid: one of the same name that came later is not touched. That it is gone already counts as
   * done, so finalizers may call it again after a crash. Resolves once the server has taken the request.
   */
  delete(
    kind: AnyKind,
    object: KubernetesObject,
    options?: Pick<DeleteOptions, "propagationPolicy" | "gracePeriodSeconds">,
  ): Promise<void>;
  readonly events: EventRecorder;
  readonly log: Logger;
  /** Aborted when the reconcile times out, leadership is lost, or the manager stops. Pass it to whatever waits. */
  readonly signal: AbortSignal;
  /** 1 for the first try, and one more for each failure in a row. */
  readonly attempt: number;
  readonly key: ObjectKey;
  /** One per reconcile; in every log line and span of it. */
  readonly reconcileId: string;
  readonly clock: Clock;
  /** The wall-clock time at which the reconcile began. */
  readonly now: Date;
}

type StatusField<T> = T extends { readonly status?: infer S } ? NonNullable<S> : never;

/**
 * The status that a reconciler of this kind may return: the kind's own, with conditions as `condition()` makes them.
 * `observedGeneration` is filled in.
 */
export type StatusFor<K extends AnyKind> = [StatusField<ObjectOf<K>>] extends [never]
  ? Readonly<Record<string, unknown>>
  : unknown extends StatusField<ObjectOf<K>>
    ? Readonly<Record<string, unknown>> & { readonly conditions?: readonly WantedCondition[] }
    : Omit<StatusField<ObjectOf<K>>, "conditions" | "observedGeneration"> & {
        readonly conditions?: readonly WantedCondition[];
        readonly observedGeneration?: number;
      };

/** What a reconciler wants. Every field may be left out. */
export interface Wanted<K extends AnyKind> {
  /**
   * The children that should exist. They are applied with the object as their owner, and children that were applied before and are
   * not listed any more are deleted. Leave it out to leave all children alone; `[]` deletes them.
   */
  readonly children?: readonly Child[];
  /** The status that was observed, whole: fields left out that were written before are removed. */
  readonly status?: StatusFor<K>;
  /** Look again after so many milliseconds, if nothing happens before. */
  readonly requeueAfter?: number;
  readonly events?: readonly EventInput[];
}

/** What a finalizer wants. */
export interface WantedWhileDeleting<K extends AnyKind> extends Omit<Wanted<K>, "children"> {
  /** Not done yet: keep the finalizer, and look again after so many milliseconds. */
  readonly requeueAfter?: number;
}

/** What a reconciler may answer: what it wants, or nothing. */
export type ReconcileResult<K extends AnyKind> = Wanted<K> | undefined;

/**
 * Brings the world to what the object says. Called with the state as it is, never with what changed; any number of times;
 * never twice at a time for one object. Throwing means trying again later.
 */
export type Reconcile<K extends AnyKind> = (
  object: ObjectOf<K>,
  context: ReconcileContext,
) => ReconcileResult<K> | void | Promise<ReconcileResult<K>> | Promise<void>;

/**
 * Cleans up what Kubernetes does not collect by itself. The object goes once this resolves, unless `requeueAfter` is returned.
 * Called again after a crash, so it must take "already gone" for done.
 */
export type Finalize<K extends AnyKind> = (
  object: ObjectOf<K>,
  context: ReconcileContext,
) => WantedWhileDeleting<K> | undefined | void | Promise<WantedWhileDeleting<K> | undefined> | Promise<void>;
