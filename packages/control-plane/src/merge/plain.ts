import type { Json, JsonObject } from "../json.ts";

/**
 * Reads, writes and copies of plain data that stay right for every key JSON allows. A member called
 * `__proto__` is data like any other: assigned with `=` it would change the object's prototype
 * instead.
 */
export function get(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function put(object: JsonObject, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** A copy of one level: the members are shared with the original. */
export function shallow(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) put(copy, key, object[key] as Json);
  return copy;
}

/** A copy that shares nothing with the original. */
export function copy<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy) as T;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) put(result, key, copy((value as JsonObject)[key] as Json));
  return result as T;
}
