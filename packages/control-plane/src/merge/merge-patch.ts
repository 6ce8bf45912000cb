import { isObject, type Json, type JsonObject } from "../json.ts";
import { badRequest } from "../status.ts";
import { copy, get, put } from "./plain.ts";

/**
 * Applies an RFC 7386 patch: objects are merged member by member, null removes, anything else
 * replaces. Like the API server it also drops nulls from objects that the patch adds,
 * those inside lists included, except in a list that takes the place of an object.
 *
 * Neither the document nor the patch is changed.
 *
 * @throws {StatusError} 400 when the patch is not an object.
 */
export function applyMergePatch(document: Json, patch: unknown): Json {
  if (patch === null) throw badRequest("Invalid JSON Patch");
  if (!isObject(patch)) {
    const kind = Array.isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`,
    );
  }
  return isObject(document) ? mergeObjects(document, patch) : withoutNulls(patch);
}

function mergeObjects(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(target)) {
    if (!Object.hasOwn(patch, key)) put(result, key, copy(target[key] as Json));
    else if (patch[key] !== null) put(result, key, mergeValues(target[key] as Json, patch[key] as Json));
  }
  for (const key of Object.keys(patch)) {
    const value = get(patch, key) as Json;
    if (value !== null && !Object.hasOwn(target, key)) put(result, key, withoutNulls(value));
  }
  return result;
}

function mergeValues(target: Json, patch: Json): Json {
  if (!isObject(target)) return withoutNulls(patch);
  return isObject(patch) ? mergeObjects(target, patch) : copy(patch);
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (value[key] !== null) put(result, key, withoutNulls(value[key] as Json));
  }
  return result;
}
