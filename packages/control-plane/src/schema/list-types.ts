import { isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import type { Cause } from "../status.ts";
import { duplicateValue, invalidValue } from "./causes.ts";
import { goJson } from "./go-text.ts";
import { nodeOf, type SchemaNode } from "./node.ts";
import { childPath, keyPath } from "./paths.ts";
import type { Schema } from "./schema.ts";

/** Repeated items of sets, and repeated keys of map-lists. */
export function duplicateItems(object: JsonObject, schema: Schema): Cause[] {
  const causes: Cause[] = [];
  walk(object, nodeOf(schema), "", causes);
  return causes;
}

const withUniqueLists = new WeakMap<Schema, boolean>();

function hasUniqueLists(node: SchemaNode): boolean {
  const known = withUniqueLists.get(node.schema);
  if (known !== undefined) return known;
  withUniqueLists.set(node.schema, true);
  const type = node.schema["x-kubernetes-list-type"];
  let found = type === "set" || type === "map";
  for (const property of node.properties.values()) if (hasUniqueLists(property)) found = true;
  if (typeof node.additional === "object" && hasUniqueLists(node.additional)) found = true;
  if (node.items !== undefined && hasUniqueLists(node.items)) found = true;
  withUniqueLists.set(node.schema, found);
  return found;
}

function walk(value: Json, node: SchemaNode, path: string, causes: Cause[]): void {
  if (typeof value !== "object" || value === null || !hasUniqueLists(node)) return;
  if (isObject(value)) {
    if (typeof node.additional === "object") {
      for (const name of Object.keys(value)) {
        walk(value[name] as Json, node.additional, keyPath(path, name), causes);
      }
    }
    for (const [name, property] of node.properties) {
      const inner = field(value, name);
      if (inner !== undefined) walk(inner, property, childPath(path, name), causes);
    }
    return;
  }
  const type = node.schema["x-kubernetes-list-type"];
  if (type === "set") reportRepeats(value, path, causes);
  else if (type === "map") reportRepeatedKeys(value, node, path, causes);
  if (node.items === undefined) return;
  for (let index = 0; index < value.length; index++) {
    walk(value[index] as Json, node.items, keyPath(path, index), causes);
  }
}

function reportRepeatedKeys(list: readonly Json[], node: SchemaNode, path: string, causes: Cause[]): void {
  for (const [index, item] of list.entries()) {
    if (item === null || isObject(item)) continue;
    causes.push(invalidValue(keyPath(path, index), item, "must be an object for an array of list-type map"));
    return;
  }
  const names = node.schema["x-kubernetes-list-map-keys"] ?? [];
  const keys = list.map((item) => {
    const key: JsonObject = {};
    for (const name of names) {
      const value = isObject(item) ? field(item, name) : undefined;
      if (value !== undefined) key[name] = value;
    }
    return key;
  });
  reportRepeats(keys, path, causes);
}

/** Only the second occurrence is reported, however many follow. */
function reportRepeats(list: readonly Json[], path: string, causes: Cause[]): void {
  if (list.length < 2) return;
  const times = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const text = goJson(item);
    const count = (times.get(text) ?? 0) + 1;
    times.set(text, count);
    if (count === 2) causes.push(duplicateValue(keyPath(path, index), item));
  }
}
