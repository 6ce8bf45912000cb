/** Parsed JSON. The control plane works on plain data throughout: what a client sent, what is stored, what is answered. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [field: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A copy that shares nothing with the original. Three to ten times as fast as `structuredClone` on API objects. */
export function clone<T extends Json | undefined>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => clone(item)) as T;
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

/** A value is large if it has more parts than this, where so many characters of a text count as one. */
const largeParts = 5_000;
const partLength = 100;

/** Whether what is done with a value takes so long that others should have their turn in between. */
export function isLarge(value: Json): boolean {
  let parts = 0;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    parts += typeof next === "string" ? 1 + next.length / partLength : 1;
    if (typeof next === "object" && next !== null) {
      const inner = Array.isArray(next) ? next : Object.values(next);
      if (parts + inner.length > largeParts) return true;
      for (const item of inner) open.push(item);
    }
    if (parts > largeParts) return true;
  }
  return false;
}

/** A text that values share exactly if they are the same JSON: a key to find one among many. */
export function identityText(value: Json | undefined): string {
  if (value === undefined) return "";
  return JSON.stringify(typeof value === "object" ? sorted(value) : value);
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

/** A scalar as text; nothing for what is absent, and JSON for the rest. For messages, keys and comparisons. */
export function textOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
