import { isObject, type Json, type JsonObject } from "../json.ts";
import type { FieldSet } from "./field-set.ts";
import { listItemElement } from "./list-item.ts";
import { fieldElement } from "./path-element.ts";
import { put } from "./plain.ts";
import { memberType, shapeOf, type Type } from "./typed.ts";

/**
 * Takes fields and items out of a value. What is left empty becomes null. The result shares parts
 * with the value.
 */
export function removeFields(value: Json, gone: FieldSet, type: Type): Json {
  if (gone.empty) return value;
  switch (shapeOf(type, value)) {
    case "scalar":
      return value;
    case "list":
      return Array.isArray(value) ? removeItems(value, gone, type) : null;
    case "map":
      return isObject(value) ? removeMembers(value, gone, type) : null;
  }
}

function removeItems(value: readonly Json[], gone: FieldSet, type: Type): Json {
  const list = type.list;
  if (list === undefined || list.atomic) return null;
  const kept: Json[] = [];
  for (const item of value) {
    const element = listItemElement(list, item);
    const node = typeof element === "string" ? gone.nodes.get(element) : undefined;
    if (node?.member) continue;
    kept.push(node?.children ? removeFields(item, node.children, list.element) : item);
  }
  return kept.length > 0 ? kept : null;
}

function removeMembers(value: JsonObject, gone: FieldSet, type: Type): Json {
  const map = type.map;
  if (map === undefined || map.atomic) return null;
  const kept: JsonObject = {};
  let any = false;
  for (const name of Object.keys(value)) {
    const node = gone.nodes.get(fieldElement(name));
    if (node?.member) continue;
    const member = value[name] as Json;
    put(kept, name, node?.children ? removeFields(member, node.children, memberType(map, name)) : member);
    any = true;
  }
  return any ? kept : null;
}
