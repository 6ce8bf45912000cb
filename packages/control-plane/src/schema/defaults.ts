import { clone, isObject, type Json, type JsonObject } from "../json.ts";
import { nodeOf, type SchemaNode } from "./node.ts";
import { setField } from "./paths.ts";
import type { Schema } from "./schema.ts";

const withDefaults = new WeakMap<Schema, boolean>();

/**
 * Whether a schema or anything below it has a default. Most subtrees have none, and are not walked.
 */
function hasDefaults(node: SchemaNode): boolean {
  const known = withDefaults.get(node.schema);
  if (known !== undefined) return known;
  // A recursive type is taken to have defaults while it is being walked: walking more than
  // needed is harmless.
  withDefaults.set(node.schema, true);
  const children: SchemaNode[] = [...node.properties.values()];
  if (typeof node.additional === "object") children.push(node.additional);
  if (node.items !== undefined) children.push(node.items);
  let found = false;
  for (const child of children) {
    if (child.schema.default !== undefined || hasDefaults(child)) found = true;
  }
  withDefaults.set(node.schema, found);
  return found;
}

/** Fills in defaults: for absent fields, and for nulls the schema does not allow. */
export function applySchemaDefaults(object: JsonObject, schema: Schema): void {
  fill(object, nodeOf(schema));
}

function fill(value: Json, node: SchemaNode): void {
  if (typeof value !== "object" || value === null || !hasDefaults(node)) return;
  if (isObject(value)) {
    for (const [name, property] of node.properties) {
      const fallback = property.schema.default;
      if (fallback === undefined || fallback === null) continue;
      if (!Object.hasOwn(value, name) || (value[name] === null && !property.nullable)) {
        setField(value, name, clone(fallback));
      }
    }
    for (const name of Object.keys(value)) {
      const property = node.properties.get(name);
      if (property !== undefined) fill(value[name] as Json, property);
      else if (typeof node.additional === "object") {
        if (value[name] === null && !node.additional.nullable) {
          setField(value, name, clone(node.additional.schema.default ?? null));
        }
        fill(value[name] as Json, node.additional);
      }
    }
    return;
  }
  const { items } = node;
  if (items === undefined) return;
  for (let index = 0; index < value.length; index++) {
    if (value[index] === null && !items.nullable) value[index] = clone(items.schema.default ?? null);
    fill(value[index] as Json, items);
  }
}
