import { isObject, type Json, type JsonObject } from "../json.ts";
import { nodeOfField, type SchemaNode } from "./node.ts";
import { childPath, keyPath } from "./paths.ts";

const META_FIELDS = new Set(["apiVersion", "kind", "metadata"]);

/** Drops the fields a schema does not declare. @returns their paths, sorted */
export function pruneUnknown(object: JsonObject, root: SchemaNode): string[] {
  const dropped: string[] = [];
  pruneFields(object, root, "", true, dropped);
  return dropped.sort();
}

/** As `pruneUnknown`, for a value anywhere in an object, such as a default. */
export function pruneDefault(value: Json, node: SchemaNode): void {
  pruneValue(value, node, "", []);
}

function pruneValue(value: Json, node: SchemaNode | undefined, path: string, dropped: string[]): void {
  if (typeof value !== "object" || value === null) return;
  if (isObject(value)) {
    pruneFields(value, node, path, node?.embedded === true, dropped);
    return;
  }
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as Json;
    if (typeof item !== "object") continue;
    const at = keyPath(path, index);
    if (node?.preserve === true) {
      if (node.items !== undefined) keepUnknown(item, node.items, at, dropped);
    } else {
      pruneValue(item, node?.items, at, dropped);
    }
  }
}

/**
 * Below `x-kubernetes-preserve-unknown-fields` unknown fields stay, but what is declared is pruned
 * again.
 */
function keepUnknown(value: Json, node: SchemaNode, path: string, dropped: string[]): void {
  if (isObject(value)) {
    for (const name of Object.keys(value)) {
      if (node.embedded && META_FIELDS.has(name)) continue;
      const child = nodeOfField(node, name);
      if (child !== undefined) pruneValue(value[name] as Json, child, childPath(path, name), dropped);
      else if (node.additional !== undefined && !node.properties.has(name)) {
        pruneValue(value[name] as Json, undefined, childPath(path, name), dropped);
      }
    }
  } else if (Array.isArray(value) && node.items !== undefined) {
    for (let index = 0; index < value.length; index++) {
      keepUnknown(value[index] as Json, node.items, keyPath(path, index), dropped);
    }
  }
}

function pruneFields(
  object: JsonObject,
  node: SchemaNode | undefined,
  path: string,
  isResource: boolean,
  dropped: string[],
): void {
  if (node?.preserve === true) {
    const declared = isResource && !node.embedded ? { ...asResource(node) } : node;
    keepUnknown(object, declared, path, dropped);
    return;
  }
  for (const name of Object.keys(object)) {
    if (isResource && META_FIELDS.has(name)) continue;
    const at = childPath(path, name);
    const declared = node?.properties.get(name);
    if (declared !== undefined) pruneValue(object[name] as Json, declared, at, dropped);
    else if (node?.additional !== undefined) {
      const values = typeof node.additional === "object" ? node.additional : undefined;
      pruneValue(object[name] as Json, values, at, dropped);
    } else {
      dropped.push(at);
      delete object[name];
    }
  }
}

function asResource(node: SchemaNode): SchemaNode {
  const { schema, properties, additional, items, preserve, nullable } = node;
  return { schema, properties, additional, items, preserve, nullable, embedded: true };
}

/**
 * Drops nulls where the schema allows none and has no default to put in their place. Items of lists
 * stay.
 */
export function pruneNulls(value: Json, node: SchemaNode | undefined): void {
  if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const child = node === undefined ? undefined : nodeOfField(node, name);
      const inner = value[name] as Json;
      if (inner !== null) {
        if (child !== undefined && typeof inner === "object") pruneNulls(inner, child);
      } else if (child !== undefined && !child.nullable && (child.schema.default ?? null) === null) {
        delete value[name];
      }
    }
  } else if (Array.isArray(value) && node?.items !== undefined) {
    const { items } = node;
    for (const item of value) if (typeof item === "object") pruneNulls(item, items);
  }
}
