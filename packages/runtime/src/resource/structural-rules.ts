import { checkRule } from "./cel-rules.ts";
import type { Problems } from "./refusal.ts";
import { own, type StructuralSchema } from "./structural.ts";

interface Place {
  /** Whether a value here can be matched with the one it replaces, as a transition rule needs. */
  readonly correlatable: boolean;
}

/** Checks what can only be seen once a schema is whole: list types, keys, rules. */
export function checkStructure(
  node: StructuralSchema,
  path: string,
  problems: Problems,
  place: Place = { correlatable: true },
): void {
  checkListType(node, path, problems);
  if (node["x-kubernetes-map-type"] !== undefined && node.type !== "object") {
    problems.add(path, "only an object can have a map type");
  }
  if (node["x-kubernetes-embedded-resource"] === true && node.type !== "object") {
    problems.add(path, "only an object can be an embedded resource");
  }
  if (
    Object.keys(own(node.properties, "metadata")?.properties ?? {}).length > 0 &&
    node["x-kubernetes-embedded-resource"] === true
  ) {
    problems.add(`${path}.metadata`, "the server knows the metadata of an embedded resource; leave it out");
  }
  for (const rule of node["x-kubernetes-validations"] ?? []) {
    checkRule(rule, node, path, place.correlatable, problems);
  }
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    checkStructure(field, `${path}.${name}`, problems, place);
  }
  if (node.additionalProperties !== undefined) {
    checkStructure(node.additionalProperties, `${path}.*`, problems, place);
  }
  if (node.items !== undefined) {
    const matched = place.correlatable && node["x-kubernetes-list-type"] === "map";
    checkStructure(node.items, `${path}[]`, problems, { correlatable: matched });
  }
}

function checkListType(node: StructuralSchema, path: string, problems: Problems): void {
  const type = node["x-kubernetes-list-type"];
  const keys = node["x-kubernetes-list-map-keys"];
  if (type === undefined) {
    if (keys !== undefined) problems.add(path, "map keys need the list type map; use .check(listMap(…))");
    return;
  }
  if (node.type !== "array") {
    problems.add(path, "only a list can have a list type");
    return;
  }
  const items = node.items ?? {};
  if (type !== "map" && keys !== undefined) problems.add(path, `a list of type ${type} has no map keys`);
  if (type === "set") checkSetItems(items, path, problems);
  if (type === "map") checkMapItems(items, keys ?? [], path, problems);
}

function checkSetItems(items: StructuralSchema, path: string, problems: Problems): void {
  const scalar = items.type !== undefined && items.type !== "object" && items.type !== "array";
  const whole =
    (items.type === "object" && items["x-kubernetes-map-type"] === "atomic") ||
    (items.type === "array" && (items["x-kubernetes-list-type"] ?? "atomic") === "atomic");
  if (!scalar && !whole) {
    problems.add(
      path,
      "the items of a set must be scalars, or be replaced as a whole; use listMap(…) for objects, or mark the item with atomic()",
    );
  }
  if (items.nullable === true) problems.add(path, "the items of a set must not be nullable");
  if (items.default !== undefined) problems.add(`${path}[]`, "an item of a set cannot have a default");
}

function checkMapItems(
  items: StructuralSchema,
  keys: readonly string[],
  path: string,
  problems: Problems,
): void {
  if (items.type !== "object") {
    problems.add(path, "the items of a list map must be objects; use listSet() for scalars");
    return;
  }
  if (items.nullable === true) problems.add(path, "the items of a list map must not be nullable");
  if (items.default !== undefined) problems.add(`${path}[]`, "an item of a list map cannot have a default");
  if (keys.length === 0) problems.add(path, "a list map needs at least one key");
  for (const [index, key] of keys.entries()) {
    const field = own(items.properties, key);
    const at = `${path}[].${key}`;
    if (keys.indexOf(key) !== index) problems.add(at, "the key is listed twice");
    if (field === undefined) {
      problems.add(at, "the key is not a field of the list's items");
      continue;
    }
    if (field.type === undefined || field.type === "object" || field.type === "array") {
      problems.add(at, "the key of a list map must be a string, a number or a boolean");
    }
    if (field.nullable === true) problems.add(at, "the key of a list map must not be nullable");
    if (items.required?.includes(key) !== true && field.default === undefined) {
      problems.add(at, "the key of a list map must be required or have a default");
    }
  }
}
