import type { FieldLocation } from "./cel-rules.ts";
import { checkRule } from "./cel-rules.ts";
import { isVisible } from "./cel-types.ts";
import type { Problems } from "./refusal.ts";
import { own, type StructuralSchema } from "./structural.ts";

/**
 * Checks what can only be seen once a schema is whole: list types, keys, rules. The root's path is
 * empty.
 */
export function checkStructure(
  node: StructuralSchema,
  path: string,
  problems: Problems,
  place: FieldLocation = { correlatable: true, repeats: 1 },
): void {
  checkListType(node, path, problems);
  if (node["x-kubernetes-map-type"] !== undefined && node.type !== "object") {
    problems.add(path, "only an object can have a map type");
  }
  if (node["x-kubernetes-embedded-resource"] === true) checkEmbedded(node, path, problems);
  if (
    node.type === undefined &&
    node["x-kubernetes-validations"] !== undefined &&
    node["x-kubernetes-int-or-string"] !== true
  ) {
    problems.add(
      path,
      "a rule cannot run on a value of any type; give the field a type, or put the rule on its parent",
    );
  }
  if (node["x-kubernetes-validations"] !== undefined && node.type !== undefined && !isVisible(node)) {
    problems.add(
      path,
      "a rule cannot see into a list or map whose values may be of any type; give them a type, or put the rule on the parent",
    );
  }
  for (const rule of node["x-kubernetes-validations"] ?? []) {
    checkRule(rule, node, path === "" ? "validations" : path, place, problems);
  }
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    checkStructure(field, path === "" ? name : `${path}.${name}`, problems, place);
  }
  if (node.additionalProperties !== undefined) {
    const repeats = repeated(place, node.maxProperties);
    checkStructure(node.additionalProperties, `${path}.*`, problems, { ...place, repeats });
  }
  if (node.items !== undefined) {
    const matched = place.correlatable && node["x-kubernetes-list-type"] === "map";
    checkStructure(node.items, `${path}[]`, problems, {
      correlatable: matched,
      repeats: repeated(place, node.maxItems),
    });
  }
}

function repeated({ repeats }: FieldLocation, limit: number | undefined): number | undefined {
  return repeats === undefined || limit === undefined ? undefined : repeats * limit;
}

function checkEmbedded(node: StructuralSchema, path: string, problems: Problems): void {
  if (node.type !== "object") problems.add(path, "only an object can be an embedded resource");
  for (const name of ["apiVersion", "kind"]) {
    const field = own(node.properties, name);
    if (field !== undefined && field.type !== "string") problems.add(`${path}.${name}`, "must be a string");
  }
  const metadata = own(node.properties, "metadata");
  if (metadata !== undefined && metadata.type !== "object")
    problems.add(`${path}.metadata`, "must be an object");
  if (node.properties === undefined && node["x-kubernetes-preserve-unknown-fields"] !== true) {
    problems.add(path, "an embedded resource needs fields, or z.looseObject to keep all of them");
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
  const scalar = isScalar(items);
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
}

function isScalar(node: StructuralSchema): boolean {
  if (node["x-kubernetes-int-or-string"] === true) return true;
  return node.type !== undefined && node.type !== "object" && node.type !== "array";
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
  if (keys.length === 0) problems.add(path, "a list map needs at least one key");
  for (const [index, key] of keys.entries()) {
    const field = own(items.properties, key);
    const at = `${path}[].${key}`;
    if (keys.indexOf(key) !== index) problems.add(at, "the key is listed twice");
    if (field === undefined) {
      problems.add(at, "the key is not a field of the list's items");
      continue;
    }
    if (!isScalar(field)) {
      problems.add(at, "the key of a list map must be a string, a number or a boolean");
    }
    if (field.nullable === true) problems.add(at, "the key of a list map must not be nullable");
    if (items.required?.includes(key) !== true && field.default === undefined) {
      problems.add(at, "the key of a list map must be required or have a default");
    }
  }
}
