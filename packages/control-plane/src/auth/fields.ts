import { isObject, type Json, type JsonObject } from "../json.ts";

// Reads fields of stored or sent objects by shape: what is not of the shape asked for counts as
// absent, since the schema has refused it already or the real server would not see it either.

/** An object, or an empty one. */
export function record(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** A string, or "". */
export function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The strings of a list. */
export function strings(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The objects of a list. */
export function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The identity of an object. */
export interface ObjectIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The names and uid in an object's metadata, each "" when absent. */
export function identityOf(object: JsonObject): ObjectIdentity {
  const metadata = record(object.metadata);
  return { namespace: text(metadata.namespace), name: text(metadata.name), uid: text(metadata.uid) };
}

/** A copy without some fields. */
export function omit(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
