import { isObject, type Json, type JsonObject, textOf } from "../json.ts";
import { field } from "./store.ts";

export function namespaceOf(object: JsonObject): string {
  return textOf(field(object, "metadata", "namespace"));
}

/** A number in an object, or what it counts as when it is not there. */
export function numberAt(object: JsonObject, path: readonly string[], absent: number): number {
  const value = field(object, ...path);
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : absent;
}

/** The objects of a list in an object; none if it is not there. */
export function listAt(object: Json | undefined, ...path: string[]): JsonObject[] {
  const value = field(object, ...path);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A map of strings in an object (labels, say); empty if it is not there. */
export function mapAt(object: Json | undefined, ...path: string[]): { readonly [key: string]: Json } {
  const value = field(object, ...path);
  return isObject(value) ? value : {};
}

/**
 * The milliseconds since the epoch that a timestamp in an object says; undefined if there is none.
 */
export function timeAt(object: Json | undefined, ...path: string[]): number | undefined {
  const value = field(object, ...path);
  return typeof value === "string" ? millisOf(value) : undefined;
}

/**
 * The milliseconds since the epoch that a timestamp says; undefined if there is none. One that was
 * never set is null in an object.
 */
export function millisOf(timestamp: string | null | undefined): number | undefined {
  const millis = Date.parse(timestamp ?? "");
  return Number.isNaN(millis) ? undefined : millis;
}

/** The object at a path in an object; an empty one if it is not there. */
export function objectAt(object: Json | undefined, ...path: string[]): JsonObject {
  const value = field(object, ...path);
  return isObject(value) ? value : {};
}

/** The spec of an object; an empty one if it has none. */
export function specOf(object: JsonObject): JsonObject {
  return objectAt(object, "spec");
}

/** The status of an object; an empty one if it has none. */
export function statusOf(object: JsonObject): JsonObject {
  return objectAt(object, "status");
}
