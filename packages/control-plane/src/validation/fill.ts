import { clone, isObject, type Json, type JsonObject } from "../json.ts";

/** Sets fields that are absent (or null, which means the same to the real server's types). */
export function fill(object: JsonObject, defaults: JsonObject): void {
  for (const name of Object.keys(defaults)) {
    if (object[name] === undefined || object[name] === null) object[name] = clone(defaults[name] as Json);
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

/** Sets a field, or takes it away where there is no value. */
export function put(object: JsonObject, name: string, value: Json | undefined): void {
  if (value === undefined) delete object[name];
  else object[name] = clone(value);
}
