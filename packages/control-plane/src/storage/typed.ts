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
 * A stored object of a built-in kind by its type, which holds: it was validated when it was
 * written.
 */
export function typed<T extends { readonly metadata: object }>(object: StoredObject): T {
  return object as unknown as T;
}
