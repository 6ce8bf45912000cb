import type { AnyKind, KubernetesObject, MetadataOnly, ObjectOf, ScopeOf } from "@windlass/client";
import type { IndexName } from "../cache/contract.ts";
import type { Owns } from "./owns.ts";
import type { MapsTo } from "./watch.ts";

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
 * Makes the compiler refuse a `watches` whose mapping leads to objects of another kind than the
 * controller's: their keys would be treated as keys of its own.
 */
export type Mappable<K extends AnyKind, Entry> = [MappedElsewhere<K, Entry>] extends [never]
  ? unknown
  : { readonly watches: "byReference and byOwner take the controller's own kind" };

type MappedElsewhere<K extends AnyKind, Entry> =
  Entry extends MapsTo<infer Target extends AnyKind>
    ? [K] extends [Target]
      ? never
      : KubernetesObject extends ObjectOf<Target>
        ? never
        : Target
    : never;

/**
 * Takes the place of the owned kinds where a controller has none, so that the compiler says what is
 * missing.
 */
export interface NoOwnedKind extends AnyKind {
  readonly 'add the kind to "owns"': never;
}

/** The kinds that are owned, or what says that there are none. */
export type OrNoOwnedKind<K extends AnyKind> = [K] extends [never] ? NoOwnedKind : K;

/** What the options of a controller declare, for the types of its context. */
export interface DeclaredKinds<K extends AnyKind, Owns, Watches, Reads, Index extends string> {
  readonly kind: K;
  readonly owned: OrNoOwnedKind<ReadKindIn<Owns>>;
  readonly cached: K | ReadKindIn<Owns> | KindIn<Watches> | KindIn<Reads>;
  readonly index: IndexIn<Owns> | IndexIn<Watches> | IndexIn<Reads> | IndexName<K, Index>;
}

/**
 * The names of fields in `Given`, at any depth, that `Allowed` does not have. For a compiler that
 * is not strict, a field that is undefined is `any`.
 */
type UnknownFields<Given, Allowed> = unknown extends Given
  ? never
  : Given extends readonly (infer GivenItem)[]
    ? Allowed extends readonly (infer AllowedItem)[]
      ? UnknownFields<GivenItem, AllowedItem>
      : never
    : Given extends object
      ? Allowed extends object
        ?
            | Exclude<keyof Given, keyof Allowed>
            | {
                [Field in keyof Given & keyof Allowed]: UnknownFields<
                  NonNullable<Given[Field]>,
                  NonNullable<Allowed[Field]>
                >;
              }[keyof Given & keyof Allowed]
        : never
      : never;

/**
 * Unknown fields of a result: its own and those of its status. The children were checked where they
 * were made. For a compiler that is not strict, a function that returns nothing returns `any`.
 */
type UnknownInResult<Result, Allowed> = unknown extends Result
  ? never
  : Result extends object
    ?
        | Exclude<keyof Result, keyof Allowed>
        | ("status" extends keyof Result & keyof Allowed
            ? UnknownFields<NonNullable<Result["status"]>, NonNullable<Allowed["status"]>>
            : never)
    : never;

/**
 * Makes the compiler refuse a function that returns fields that are not read. The compiler finds
 * those by itself in object literals, but not in what a function returns.
 */
export type Exact<Option extends string, Result, Allowed> = [UnknownInResult<Result, Allowed>] extends [never]
  ? unknown
  : {
      readonly [Name in Option]: `"${UnknownInResult<Result, Allowed> & string}" is not a field of what ${Option} returns`;
    };
