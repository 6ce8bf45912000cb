import { clone, isObject, type Json, type JsonObject } from "../../json.ts";

/** Sets fields that are absent (or null, which means the same to the real server's types). */
export function fill(object: JsonObject, defaults: JsonObject): void {
  for (const [name, value] of Object.entries(defaults)) {
    if (object[name] === undefined || object[name] === null) object[name] = clone(value);
  }
}

/** The object under a field, made if it is not there. */
export function ensure(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  if (isObject(value)) return value;
  const made: JsonObject = {};
  object[name] = made;
  return made;
}

/** The objects in a list field; none if it is absent. */
export function each(object: Json | undefined, name: string): JsonObject[] {
  const value = isObject(object) ? object[name] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
}
