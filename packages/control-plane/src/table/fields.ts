import { isObject, type Json } from "../json.ts";
import * as untyped from "../json-fields.ts";
import * as text from "./text.ts";

/*
 * Reads fields of an object by the type of its kind: names that the type does not have do not
 * compile. Values are checked when they are read, so that an object of another shape, such as one
 * that an earlier version stored, is shown with empty cells.
 */

/** The names of the fields of a type. */
type Name<T> = NonNullable<T> extends readonly unknown[] ? never : keyof NonNullable<T> & string;

/** The type of a field. */
type At<T, N> = N extends keyof NonNullable<T> ? NonNullable<T>[N] : never;

type Item<T> = NonNullable<T> extends readonly (infer Of)[] ? Of : never;

/** Reads a field by the names on the way to it, of which there are at most four. */
interface ReadsAt<Before extends readonly unknown[], Result> {
  <T, A extends Name<T>>(...args: [...Before, of: T, a: A]): Result;
  <T, A extends Name<T>, B extends Name<At<T, A>>>(...args: [...Before, of: T, a: A, b: B]): Result;
  <T, A extends Name<T>, B extends Name<At<T, A>>, C extends Name<At<At<T, A>, B>>>(
    ...args: [...Before, of: T, a: A, b: B, c: C]
  ): Result;
  <
    T,
    A extends Name<T>,
    B extends Name<At<T, A>>,
    C extends Name<At<At<T, A>, B>>,
    D extends Name<At<At<At<T, A>, B>, C>>,
  >(
    ...args: [...Before, of: T, a: A, b: B, c: C, d: D]
  ): Result;
}

type Path = readonly string[];

/** What a value of a kind's type is read as. */
const json = (of: unknown) => of as Json | undefined;

/** The string at a path; empty where there is none. */
export const textAt: ReadsAt<[], string> = (of: unknown, ...path: Path) => untyped.textAt(json(of), ...path);

/** The number at a path; zero where there is none, as in a struct of Go. */
export const countAt: ReadsAt<[], number> = (of: unknown, ...path: Path) =>
  untyped.countAt(json(of), ...path);

/** The strings in the list at a path. */
export const textsAt: ReadsAt<[], string[]> = (of: unknown, ...path: Path) =>
  untyped.textsAt(json(of), ...path);

/** The names in the map at a path; none where there is none. */
export const namesAt: ReadsAt<[], string[]> = (of: unknown, ...path: Path) =>
  Object.keys(untyped.objectAt(json(of), ...path));

/** How many items the list at a path has. */
export const lengthAt: ReadsAt<[], number> = (of: unknown, ...path: Path) =>
  untyped.listAt(json(of), ...path).length;

/** Whether the field at a path is true. */
export const isTrueAt: ReadsAt<[], boolean> = (of: unknown, ...path: Path) =>
  untyped.valueAt(json(of), ...path) === true;

/** The scalar at a path as text, or `otherwise` where it is absent. */
export const shown: ReadsAt<[otherwise: string], string> = (otherwise: string, of: unknown, ...path: Path) =>
  text.shown(otherwise, json(of), ...path);

/** The quantity at a path in its canonical form, or `otherwise` where it is absent. */
export const quantity: ReadsAt<[otherwise: string], string> = (
  otherwise: string,
  of: unknown,
  ...path: Path
) => text.quantity(otherwise, json(of), ...path);

/** The object at a path, or undefined where there is none. */
export function partAt<T, A extends Name<T>>(of: T, a: A): NonNullable<At<T, A>> | undefined;
export function partAt<T, A extends Name<T>, B extends Name<At<T, A>>>(
  of: T,
  a: A,
  b: B,
): NonNullable<At<At<T, A>, B>> | undefined;
export function partAt<T, A extends Name<T>, B extends Name<At<T, A>>, C extends Name<At<At<T, A>, B>>>(
  of: T,
  a: A,
  b: B,
  c: C,
): NonNullable<At<At<At<T, A>, B>, C>> | undefined;
export function partAt(of: unknown, ...path: Path): unknown {
  const part = untyped.valueAt(json(of), ...path);
  return isObject(part) ? part : undefined;
}

/** The items of the list at a path; none where there is none. */
export function itemsAt<T, A extends Name<T>>(of: T, a: A): readonly Item<At<T, A>>[];
export function itemsAt<T, A extends Name<T>, B extends Name<At<T, A>>>(
  of: T,
  a: A,
  b: B,
): readonly Item<At<At<T, A>, B>>[];
export function itemsAt<T, A extends Name<T>, B extends Name<At<T, A>>, C extends Name<At<At<T, A>, B>>>(
  of: T,
  a: A,
  b: B,
  c: C,
): readonly Item<At<At<At<T, A>, B>, C>>[];
export function itemsAt(of: unknown, ...path: Path): readonly unknown[] {
  return untyped.listAt(json(of), ...path);
}
