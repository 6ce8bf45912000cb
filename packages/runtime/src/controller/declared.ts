import type {
  AnyKind,
  ClusterKey,
  KubernetesObject,
  MetadataOnly,
  ObjectOf,
  ScopeOf,
} from "@windlass/client";
import type { DeclaredAs, IndexName } from "../cache/contract.ts";
import type { Child } from "../reconcile/child.ts";
import type { NotOwned } from "../reconcile/context.ts";
import type { Same, UnknownPaths } from "../reconcile/exact.ts";
import type { Owns } from "./owns.ts";
import type { GivesKeys, MapsTo } from "./watch.ts";

declare const nothing: unique symbol;

/**
 * The type of `owns` where it is left out. It is still a list of any entries: the compiler
 * takes the default of a type parameter as the context of what stands inside, and `readonly []`
 * would refuse `{ kind, predicate: anyOf(…) }`.
 */
export type NothingOwned = readonly (AnyKind | Owns)[] & { readonly [nothing]?: true };

/** An entry of `owns`; none where it is left out. */
export type Entry<O extends readonly unknown[]> = typeof nothing extends keyof O ? never : O[number];

/** The kind in an entry of `owns`, `watches` or `reads`: the entry itself, or its `kind`. */
export type KindIn<Entry> = Entry extends { readonly kind: infer K extends AnyKind }
  ? K
  : Entry extends AnyKind
    ? Entry
    : never;

/**
 * The kind in an entry as its objects are read: without spec and status, where the entry has
 * `metadataOnly`.
 */
export type ReadKindIn<Entry> = Entry extends { readonly metadataOnly: true }
  ? MetadataOnly<KindIn<Entry>>
  : KindIn<Entry>;

/** The indexes that an entry of `owns`, `watches` or `reads` declares. */
export type IndexIn<Entry> = Entry extends {
  readonly kind: infer K extends AnyKind;
  readonly indexes?: infer I;
}
  ? IndexName<K, keyof NonNullable<I> & string>
  : never;

/**
 * Makes the compiler refuse a cluster-scoped kind in the `owns` of a controller whose objects live
 * in a namespace: Kubernetes takes the owner for deleted, and collects the object.
 */
export type Ownable<K extends AnyKind, Entry> =
  ScopeOf<K> extends "Namespaced"
    ? [ClusterScoped<KindIn<Entry>>] extends [never]
      ? unknown
      : {
          readonly owns: "an object in a namespace cannot own cluster-scoped objects: apply them with context.client, and delete them in finalize";
        }
    : unknown;

type ClusterScoped<K> = K extends AnyKind ? (ScopeOf<K> extends "Cluster" ? K : never) : never;

/**
 * Makes the compiler refuse a misspelt option in an entry of `owns`: without `metadataOnly` all of
 * the kind's objects would be cached in full.
 */
export type Spelled<Entry> = [UnknownOption<Entry>] extends [never]
  ? unknown
  : { readonly owns: `"${UnknownOption<Entry>}" is not an option of an entry of owns` };

type UnknownOption<Entry> = Entry extends { readonly kind: AnyKind }
  ? Exclude<keyof Entry, keyof Owns> & string
  : never;

/**
 * Makes the compiler refuse a `watches` whose mapping leads to objects of another kind than the
 * controller's: their keys would be treated as keys of its own.
 */
export type Mappable<K extends AnyKind, Entry> = [MappedElsewhere<K, Entry>] extends [never]
  ? [MappedNowhere<K, Entry>] extends [never]
    ? unknown
    : {
        readonly watches: "a mapping gives keys without a namespace: { namespace, name }, or byLabel with the label that has it";
      }
  : { readonly watches: "byReference and byOwner take the controller's own kind" };

/**
 * The entries whose keys never have a namespace, of a controller whose objects live in one: their
 * changes would reconcile nothing.
 */
type MappedNowhere<K extends AnyKind, Entry> = [ScopeOf<K>] extends ["Namespaced"]
  ? Entry extends GivesKeys<infer Key>
    ? [Key] extends [never]
      ? never
      : [Key] extends [ClusterKey]
        ? Entry
        : never
    : never
  : never;

type MappedElsewhere<K extends AnyKind, Entry> =
  Entry extends MapsTo<infer Target extends AnyKind>
    ? [K] extends [Target]
      ? never
      : KubernetesObject extends ObjectOf<Target>
        ? never
        : Target
    : never;

/** What the options of a controller declare, for the types of its context. */
export interface DeclaredKinds<K extends AnyKind, Owns, Watches, Reads, Index extends string> {
  readonly kind: K;
  readonly owned: ReadKindIn<Owns>;
  readonly cached: K | ReadKindIn<Owns> | KindIn<Watches> | KindIn<Reads>;
  readonly index: IndexIn<Owns> | IndexIn<Watches> | IndexIn<Reads> | IndexName<K, Index>;
}

/**
 * What a function may return, and results with more fields, which {@link Returnable} reports.
 * Otherwise the compiler would say of a result whose only field is misspelt that the types have
 * nothing in common.
 */
export type Returned<Result, Fields> = Result | (Fields & { readonly [field: string]: unknown });

/** The fields of a result that are not read: its own, and those of its status and events. */
type UnknownInResult<Result, Allowed> = UnknownPaths<Omit<Result, "children" & keyof Allowed>, Allowed>;

/** The kinds of children that are not owned, by their names where those are known. */
type NotOwnedIn<Result, Owned> = Result extends { readonly children?: readonly (infer Listed)[] }
  ? Listed extends Child<infer K>
    ? K extends DeclaredAs<Owned> | NotOwned
      ? never
      : NameOf<K>
    : never
  : never;

type NameOf<K> =
  ObjectOf<K> extends { readonly kind?: infer Name extends string }
    ? string extends Name
      ? "the kinds of the children"
      : Name
    : "the kinds of the children";

/**
 * Makes the compiler refuse a function that returns fields that are not read, or children of a kind
 * that the controller does not own. The compiler finds such fields by itself in object literals,
 * but not in what a function returns. For a compiler that is not strict, a function that returns
 * nothing returns `any`.
 */
export type Returnable<Option extends string, Result, Bound, Allowed, Owned extends AnyKind> =
  Same<Result, Returned<Bound, Allowed>> extends true
    ? unknown // What is returned is of a wrong type: the compiler says so itself.
    : [Fault<Option, Result, Allowed, Owned>] extends [never]
      ? unknown
      : { readonly [Name in Option]: Fault<Option, Result, Allowed, Owned> };

type Fault<Option extends string, Result, Allowed, Owned extends AnyKind> = unknown extends Result
  ? never
  : Result extends object
    ? FieldFault<UnknownInResult<Result, Allowed>, Option> | OwnedFault<NotOwnedIn<Result, Owned>>
    : never;

type FieldFault<
  Path extends string,
  Option extends string,
> = `"${Path}" is not a field of what ${Option} returns`;
type OwnedFault<Name extends string> = `add ${Name} to "owns"`;
