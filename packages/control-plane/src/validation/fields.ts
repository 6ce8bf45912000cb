import { isObject, type Json, type JsonObject } from "../json.ts";

/*
 * Objects reach a strategy in the shape of their Go type: a field is absent or of its type. These
 * read them that way.
 */

const nothing: JsonObject = Object.freeze({});

/** The object under a field; an empty one, not to be changed, where there is none. */
export function child(object: JsonObject, name: string): JsonObject {
  const value = own(object, name);
  return isObject(value) ? value : nothing;
}

/** The object under a path of fields; an empty one where there is none. */
export function within(object: JsonObject, ...path: string[]): JsonObject {
  let at = object;
  for (const name of path) at = child(at, name);
  return at;
}

/** The text of a field; empty where there is none. */
export function text(object: JsonObject, name: string): string {
  const value = own(object, name);
  return typeof value === "string" ? value : "";
}

/** The number of a field, if it has one. */
export function number(object: JsonObject, name: string): number | undefined {
  const value = own(object, name);
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" ? value : undefined;
}

/** The objects in a list field; none where it is absent. */
export function items(object: JsonObject, name: string): JsonObject[] {
  const value = own(object, name);
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

/** The texts in a list field; none where it is absent. */
export function texts(object: JsonObject, name: string): string[] {
  const value = own(object, name);
  return Array.isArray(value) ? (value as string[]) : [];
}

/** A map of texts, key by key. */
export function pairs(object: JsonObject, name: string): [string, string][] {
  return Object.entries(child(object, name)) as [string, string][];
}

/** Whether a field is there at all: a pointer that is not nil. */
export function has(object: JsonObject, name: string): boolean {
  const value = own(object, name);
  return value !== undefined && value !== null;
}

export function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function specOf(object: JsonObject): JsonObject {
  return child(object, "spec");
}

export function statusOf(object: JsonObject): JsonObject {
  return child(object, "status");
}

export function metadataOf(object: JsonObject): JsonObject {
  return child(object, "metadata");
}
