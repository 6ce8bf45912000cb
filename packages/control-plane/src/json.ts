/**
 * Parsed JSON. The control plane works on plain data throughout: what a client sent, what is
 * stored, what is answered. An integer that a number cannot hold exactly is a bigint.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;

export interface JsonObject {
  [field: string]: Json;
}

/**
 * Reads JSON, integers of up to 64 bits exactly. Other numbers are what a float64 holds of them.
 *
 * @throws SyntaxError
 */
export function parse(text: string): Json {
  return mayBeInexact.test(text) ? parseExact(text) : (JSON.parse(text) as Json);
}

/**
 * Integers that a number cannot hold have at least this many digits. Strings may match too, which
 * only costs time.
 */
const mayBeInexact = /\d{16}/;

/**
 * Called with each number whose text differs from its value, with its holder and its name or index
 * there.
 */
export type NoteNumber = (holder: object, key: string, source: string) => void;

/** As {@link parse}, number by number. @throws SyntaxError */
export function parseExact(text: string, note?: NoteNumber): Json {
  const revive = function (this: object, key: string, value: Json, context?: { readonly source?: string }) {
    if (typeof value !== "number") return value;
    const source = context?.source ?? String(value);
    const exact = exactNumber(source);
    if (typeof exact === "number" && String(exact) !== source) note?.(this, key, source);
    return exact;
  };
  return JSON.parse(text, revive) as Json;
}

/**
 * A number by its text: a bigint where it is an integer of 64 bits that a number does not hold
 * exactly.
 */
export function exactNumber(source: string): number | bigint {
  const value = Number(source);
  if (Number.isSafeInteger(value) || !/^-?\d{1,19}$/.test(source)) return value;
  const integer = BigInt(source);
  return BigInt.asIntN(64, integer) === integer ? integer : value;
}

/** Writes JSON: what {@link parse} reads. */
export function stringify(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Bigints, which are rare, are all that it does not take.
    if (error instanceof TypeError) return exactText(value);
    throw error;
  }
}

function exactText(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactText).join(",")}]`;
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${exactText(value[key] as Json)}`);
  return `{${fields.join(",")}}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy that shares nothing with the original. Three to ten times as fast as `structuredClone` on
 * API objects.
 */
export function clone<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => clone(item)) as T;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = clone((value as JsonObject)[key] as Json);
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: item, enumerable: true, writable: true, configurable: true });
    else copy[key] = item;
  }
  return copy as T;
}

/** A copy with the keys of all objects in the order in which Go writes those of a map. */
export function sorted<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted) as T;
  const entries = Object.keys(value).toSorted();
  return Object.fromEntries(entries.map((key) => [key, sorted((value as JsonObject)[key] as Json)])) as T;
}

/**
 * A value is large if it has more parts than this, where so many characters of a text count as one.
 */
export const largeParts = 5_000;
const partLength = 100;

/** Whether processing a value takes so long that the event loop should get a turn in between. */
export function isLarge(value: Json): boolean {
  return countParts(value) > largeParts;
}

/**
 * How many parts a value has, itself included: all of its objects, lists and scalars. Of a large
 * one no more are counted than it takes to know that it is large.
 *
 * @param wide the objects that are known to be large, which the keys of 100,000 fields take long to
 *   tell. What is found is added.
 */
export function countParts(value: Json, wide?: WeakMap<object, number>): number {
  let parts = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    parts += typeof next === "string" ? 1 + next.length / partLength : 1;
    if (typeof next === "object" && next !== null) {
      // An array of so many items is not asked for its keys.
      if (Array.isArray(next) && next.length > largeParts) return parts + next.length;
      const counted = wide?.get(next);
      if (counted !== undefined) return parts + counted;
      const names = Object.keys(next);
      if (names.length > largeParts) wide?.set(next, names.length);
      const known = parts + open.length + names.length;
      if (known > largeParts) return known;
      for (const name of names) open.push((next as JsonObject)[name] as Json);
    }
    if (parts > largeParts) return parts;
  }
  return parts;
}

/** A text that values share exactly if they are the same JSON: a key to find one among many. */
export function identityText(value: Json | undefined): string {
  if (value === undefined) return "";
  return stringify(typeof value === "object" ? sorted(value) : value);
}

/** Whether two values are the same JSON: order of keys aside, order of items not. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal((a as JsonObject)[key], (b as JsonObject)[key]));
}

/** Whether a value is an integer, of whatever size. */
export function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || Number.isInteger(value);
}

/**
 * A scalar as text; nothing for what is absent, and JSON for the rest. For messages, keys and
 * comparisons.
 */
export function textOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? stringify(value) : String(value);
}
