import type { AnyKind, ObjectOf } from "@windlass/client";
import type { Duration } from "@windlass/clock";
import type { InformerScope } from "../cache/contract.ts";
import type { BackoffOptions } from "../queue/index.ts";
import type { Finalize, FinalizeResult, Reconcile, ReconcileResult } from "../reconcile/context.ts";
import type { DeclaredKinds, Entry, KindIn } from "./declared.ts";
import type { IndexedKind, Indexes } from "./indexes.ts";
import type { Owns } from "./owns.ts";
import type { Predicate } from "./predicate.ts";
import type { Source } from "./source.ts";
import type { Watches } from "./watch.ts";

/** A permission that the controller needs beyond what its declaration shows. */
export interface Permission {
  readonly kind: Pick<AnyKind, "group" | "plural" | "scope">;
  readonly verbs: readonly string[];
  /** @default the kind itself */
  readonly subresources?: readonly string[];
}

declare const declaredFor: unique symbol;

/** Says, for the compiler alone, which kind a declaration is for. */
export interface DeclarationOf<K extends AnyKind> {
  /** Type-level only: absent at run time. */
  readonly [declaredFor]?: K;
}

/**
 * How a controller works. The type parameters come from the options themselves: the compiler knows
 * the owned kinds, the cached kinds and the indexes by what is declared here.
 */
export interface ControllerOptions<
  K extends AnyKind,
  O extends readonly (AnyKind | Owns)[] = readonly (AnyKind | Owns)[],
  W extends readonly Watches[] = readonly Watches[],
  R extends readonly (AnyKind | IndexedKind)[] = readonly (AnyKind | IndexedKind)[],
  Index extends string = string,
  Result = ReconcileResult<K, KindIn<Entry<O>>>,
  Finalized = FinalizeResult<K>,
> extends DeclarationOf<K> {
  readonly reconcile: Reconcile<K, DeclaredKinds<K, Entry<O>, W[number], R[number], Index>, Result>;
  /**
   * Its presence gives every object the controller's finalizer; without it the field is never
   * touched.
   */
  readonly finalize?: Finalize<K, DeclaredKinds<K, Entry<O>, W[number], R[number], Index>, Finalized>;
  /**
   * The kinds of the children. Their changes ask for a reconcile of the owner; they are cached in
   * full, because reconcilers read them.
   * @default none
   */
  readonly owns?: O;
  /** Other kinds whose changes matter. @default none */
  readonly watches?: W;
  /**
   * Kinds that the reconciler reads from the cache, and whose changes do not matter by themselves.
   *
   * @default none
   */
  readonly reads?: R;
  /**
   * Kinds that reconciles may `follow`, for the generated role. Rights for kinds that are unknown
   * yet belong in `permissions`.
   *
   * @default none
   */
  readonly follows?: readonly AnyKind[];
  /** Indexes of the controller's own kind, for `cache.byIndex`. @default none */
  readonly indexes?: Indexes<ObjectOf<K>, Index>;
  /** Sources outside Kubernetes. @default none */
  readonly sources?: readonly Source[];
  /**
   * In metrics, logs, events, the field manager and the finalizer.
   *
   * @default the kind in lower case
   */
  readonly name?: string;
  /**
   * How many objects are reconciled at a time. One object is never reconciled twice at a time.
   *
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * How long until a reconcile is canceled, its signal aborted and its client closed. 0: never.
   *
   * @default "5m"
   */
  readonly timeout?: Duration;
  /**
   * How long between two looks at every object, ±10 %. Local: nothing is listed again. 0: never.
   *
   * @default "10h"
   */
  readonly resync?: Duration;
  /**
   * Which changes of the object itself count.
   *
   * @default intentChanged: spec, labels, annotations, finalizers, deletion
   */
  readonly predicate?: Predicate<ObjectOf<K>>;
  /** Backoff of failing objects. @default 5 ms doubling to 1,000 s, with jitter */
  readonly rateLimit?: BackoffOptions;
  /** Which objects of the kind to reconcile. @default all that the manager sees */
  readonly scope?: InformerScope;
  /**
   * Who server-side apply says owns the fields. Must not change over the operator's life.
   *
   * @default `<name>.windlass`
   */
  readonly fieldManager?: string;
  /** @default `<group>/<name>` */
  readonly finalizer?: string;
  /**
   * The condition that a failed reconcile sets to False, with the failure's reason and message.
   * False: none is set.
   * @default "Ready", on kinds made by defineResource
   */
  readonly errorCondition?: string | false;
  /**
   * How many reconciles of one object that write, in a minute and without a change of its intent,
   * are reported as a loop. More for objects that go through many states by themselves. @default 20
   */
  readonly hotLoopThreshold?: number;
  /**
   * Runs on every replica, not only on the leader. Only for controllers whose writes cannot
   * collide.
   *
   * @default false
   */
  readonly everywhere?: boolean;
  /**
   * What imperative code needs beyond what this declaration shows, for the generated role.
   *
   * @default none
   */
  readonly permissions?: readonly Permission[];
}
