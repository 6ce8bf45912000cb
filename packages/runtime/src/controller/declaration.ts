import type { AnyKind, ObjectOf } from "@windlass/client";
import type { DeclaredAs } from "../cache/contract.ts";
import type {
  Finalize,
  NotOwned,
  Reconcile,
  ReconcileContext,
  ReconcileResult,
} from "../reconcile/context.ts";
import type { DeclaredKinds, Entry, KindIn, Mappable, NothingOwned, Ownable, Spelled } from "./declared.ts";
import type { IndexedKind, Indexes } from "./indexes.ts";
import type { DeclarationOf } from "./options.ts";
import type { Owns } from "./owns.ts";
import type { Watches } from "./watch.ts";

/** What a controller reads and owns, apart from what it does. Make one with {@link declaration}. */
export interface Declaration<
  K extends AnyKind = AnyKind,
  O extends readonly (AnyKind | Owns)[] = readonly (AnyKind | Owns)[],
  W extends readonly Watches[] = readonly Watches[],
  R extends readonly (AnyKind | IndexedKind)[] = readonly (AnyKind | IndexedKind)[],
  Index extends string = string,
> extends DeclarationOf<K> {
  readonly owns: O;
  readonly watches: W;
  readonly reads: R;
  readonly indexes: Indexes<ObjectOf<K>, Index>;
}

/**
 * Declares what a controller owns, watches and reads before the controller itself, so that its
 * functions can name the type of their context: {@link ContextOf}. Spread it into the controller's
 * options.
 *
 * @example
 * const declared = declaration(WebApp, { owns: [Deployment, Service], reads: [ConfigMap] });
 *
 * const webapp = controller(WebApp, { ...declared, reconcile: (app, context) => ({ children: childrenFor(app, context) }) });
 *
 * function childrenFor(app: ObjectOf<typeof WebApp>, { cache, owned }: ContextOf<typeof declared>) { … }
 */
export function declaration<
  K extends AnyKind,
  const O extends readonly (AnyKind | Owns)[] = NothingOwned,
  const W extends readonly Watches[] = readonly [],
  const R extends readonly (AnyKind | IndexedKind)[] = readonly [],
  Index extends string = never,
>(
  _kind: K,
  declared: Partial<Omit<Declaration<K, O, W, R, Index>, keyof DeclarationOf<K>>> &
    Ownable<K, Entry<O>> &
    Spelled<Entry<O>> &
    Mappable<K, W[number]>,
): Declaration<K, O, W, R, Index> {
  const { owns = [], watches = [], reads = [], indexes = {} } = declared as Partial<Declaration>;
  // What is left out has its type from the parameters' defaults: no entries.
  return { owns, watches, reads, indexes } as unknown as Declaration<K, O, W, R, Index>;
}

/** What the functions of a controller are handed that has this {@link declaration}. */
export type ContextOf<D extends Declaration> =
  D extends Declaration<infer K, infer O, infer W, infer R, infer Index>
    ? ReconcileContext<DeclaredKinds<K, Entry<O>, W[number], R[number], Index>>
    : never;

/**
 * A `reconcile` that is written apart from its controller. What it may read and return follows from
 * the {@link declaration}. Written after `satisfies`, it leaves the function the type of what it
 * returns, so that a misspelt field does not compile; as the type of a variable it hides that.
 *
 * @example
 * const reconcile = ((app, { owned }) => ({ children: childrenFor(app) })) satisfies ReconcileOf<typeof declared>;
 *
 * const webapp = controller(WebApp, { ...declared, reconcile });
 */
export type ReconcileOf<D extends Declaration> =
  D extends Declaration<infer K, infer O, infer W, infer R, infer Index>
    ? Reconcile<
        K,
        DeclaredKinds<K, Entry<O>, W[number], R[number], Index>,
        ReconcileResult<K, DeclaredAs<KindIn<Entry<O>>> | NotOwned>
      >
    : never;

/**
 * A `finalize` that is written apart from its controller, after `satisfies` like
 * {@link ReconcileOf}.
 */
export type FinalizeOf<D extends Declaration> =
  D extends Declaration<infer K, infer O, infer W, infer R, infer Index>
    ? Finalize<K, DeclaredKinds<K, Entry<O>, W[number], R[number], Index>>
    : never;
