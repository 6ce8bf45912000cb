import type { StoredObject } from "./store.ts";

/** A type of `@windlass/kinds` whose fields can be assigned. */
export type Draft<T> = T extends StoredObject
  ? T
  : T extends readonly (infer Item)[]
    ? Draft<Item>[]
    : T extends object
      ? { -readonly [Field in keyof T]: Draft<T[Field]> }
      : T;

/**
 * A stored object of a built-in kind, with the fields of its type. They hold for what came in by a
 * write: it was validated, and read as Go would read it. The type says which fields are null where
 * nothing was sent.
 */
export type Stored<T> = StoredObject & T;

/** A stored object by the type of its kind. */
export function typed<T extends { readonly metadata: object }>(object: StoredObject): Stored<T> {
  return object as Stored<T>;
}
