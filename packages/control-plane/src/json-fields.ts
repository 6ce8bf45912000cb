import { isObject, type Json, type JsonObject, textOf } from "./json.ts";

/*
 * Reads fields of JSON whose type the compiler does not know: what a client sent, and objects of
 * any kind. What is missing or has another shape reads as empty; validation refuses it elsewhere.
 * Objects of a built-in kind are read by its type instead: see `storage/typed.ts`.
 */

/** An own field, or undefined. Never looks at the prototype. */
export function field(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value at a path of field names, or undefined where one of them is missing. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let held = value;
  for (const name of path) {
    if (typeof held !== "object" || held === null || Array.isArray(held)) return undefined;
    held = Object.hasOwn(held, name) ? held[name] : undefined;
  }
  return held;
}

/** Whether a field is set: neither missing nor null, as a pointer that is not nil. */
export function hasAt(object: JsonObject, name: string): boolean {
  const value = field(object, name);
  return value !== undefined && value !== null;
}

/** The string at a path; empty where there is none. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const held = valueAt(value, ...path);
  return typeof held === "string" ? held : "";
}

/** The number at a path, or undefined. */
export function numberAt(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const held = valueAt(value, ...path);
  if (typeof held === "bigint") return Number(held);
  return typeof held === "number" ? held : undefined;
}

/** The number at a path; zero where there is none, as in a struct of Go. */
export function countAt(value: Json | undefined, ...path: readonly string[]): number {
  return numberAt(value, ...path) ?? 0;
}

/** The object at a path; an empty one where there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const held = valueAt(value, ...path);
  return isObject(held) ? held : {};
}

/** The object at a path, or undefined. */
export function presentObjectAt(value: Json | undefined, ...path: readonly string[]): JsonObject | undefined {
  const held = valueAt(value, ...path);
  return isObject(held) ? held : undefined;
}

/** The items of the list at a path; none where there is none. */
export function listAt(value: Json | undefined, ...path: readonly string[]): Json[] {
  const held = valueAt(value, ...path);
  return Array.isArray(held) ? held : [];
}

/**
 * The objects in the list at a path. An item of another shape counts as an empty object, so that
 * every item keeps its index.
 */
export function objectsAt(value: Json | undefined, ...path: readonly string[]): JsonObject[] {
  const items = listAt(value, ...path);
  return items.every(isObject) ? items : items.map((item) => objectAt(item));
}

/**
 * The items of a list of objects that were decoded by the type of their kind. They are not looked
 * at, so that validation may ask once for each of ten thousand items.
 */
export function itemsAt(object: JsonObject, name: string): JsonObject[] {
  const items = field(object, name);
  return Array.isArray(items) ? (items as JsonObject[]) : [];
}

/** The strings in the list at a path. */
export function textsAt(value: Json | undefined, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((item) => typeof item === "string");
}

/** The entries of a map of strings, such as labels; none where there is none. */
export function pairsAt(value: Json | undefined, ...path: readonly string[]): [string, string][] {
  return Object.entries(objectAt(value, ...path)) as [string, string][];
}

/** A timestamp in milliseconds since the epoch, or undefined. */
export function timeAt(value: Json | undefined, ...path: readonly string[]): number | undefined {
  const held = valueAt(value, ...path);
  return typeof held === "string" ? millisOf(held) : undefined;
}

/**
 * The milliseconds since the epoch of a timestamp, or undefined. One that was never set is null in
 * an object.
 */
export function millisOf(timestamp: string | null | undefined): number | undefined {
  const millis = Date.parse(timestamp ?? "");
  return Number.isNaN(millis) ? undefined : millis;
}

/** The spec of an object; an empty one where it has none. */
export function specOf(object: JsonObject): JsonObject {
  return objectAt(object, "spec");
}

/** The status of an object; an empty one where it has none. */
export function statusOf(object: JsonObject): JsonObject {
  return objectAt(object, "status");
}

/** The metadata of an object; empty where it has none. */
export function metadataOf(object: JsonObject): JsonObject {
  return objectAt(object, "metadata");
}

/** The namespace of an object; empty where it has none. */
export function namespaceOf(object: JsonObject): string {
  return textOf(valueAt(object, "metadata", "namespace"));
}
