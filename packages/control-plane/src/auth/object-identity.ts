import type { JsonObject } from "../json.ts";
import { objectAt, textAt } from "../json-fields.ts";

/** The identity of an object. */
export interface ObjectIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The names and uid in an object's metadata, each "" when absent. */
export function identityOf(object: JsonObject): ObjectIdentity {
  const metadata = objectAt(object.metadata);
  return { namespace: textAt(metadata.namespace), name: textAt(metadata.name), uid: textAt(metadata.uid) };
}

/** A copy without some fields. */
export function omit(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
