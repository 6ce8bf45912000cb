import type { AnyKind } from "@windlass/client";
import type { IndexName } from "../cache/contract.ts";

/** The kind in an entry of `owns`, `watches` or `reads`: the entry itself, or its `kind`. */
export type KindIn<Entry> = Entry extends { readonly kind: infer K extends AnyKind }
  ? K
  : Entry extends AnyKind
    ? Entry
    : never;

/** The indexes that an entry of `owns`, `watches` or `reads` declares. */
export type IndexIn<Entry> = Entry extends {
  readonly kind: infer K extends AnyKind;
  readonly indexes?: infer I;
}
  ? IndexName<K, keyof NonNullable<I> & string>
  : never;

/** What the options of a controller declare, for the types of its context. */
export interface DeclaredKinds<K extends AnyKind, Owns, Watches, Reads, Index extends string> {
  readonly kind: K;
  readonly owned: KindIn<Owns>;
  readonly cached: K | KindIn<Owns> | KindIn<Watches> | KindIn<Reads>;
  readonly index: IndexIn<Owns> | IndexIn<Watches> | IndexIn<Reads> | IndexName<K, Index>;
}

/** The names of fields in `Given`, at any depth, that `Allowed` does not have. */
type UnknownFields<Given, Allowed> = Given extends readonly (infer GivenItem)[]
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

/** Unknown fields of a result: its own and those of its status. The children were checked where they were made. */
type UnknownInResult<Result, Allowed> = Result extends object
  ?
      | Exclude<keyof Result, keyof Allowed>
      | ("status" extends keyof Result & keyof Allowed
          ? UnknownFields<NonNullable<Result["status"]>, NonNullable<Allowed["status"]>>
          : never)
  : never;

/**
 * Makes the compiler refuse a function that returns fields nobody looks at. The compiler finds those by itself in object
 * literals, but not in what a function returns.
 */
export type Exact<Option extends string, Result, Allowed> = [UnknownInResult<Result, Allowed>] extends [never]
  ? unknown
  : {
      readonly [Name in Option]: `"${UnknownInResult<Result, Allowed> & string}" is not a field of what ${Option} returns`;
    };
