import { equal, type Json, type JsonObject } from "../json.ts";
import { field, presentObjectAt } from "../json-fields.ts";
import { type Matcher, PatternError } from "../patterns/index.ts";
import { forbiddenValue, invalidValue, required } from "../schema/causes.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";

type Level = "root" | "item" | "field";

const INT_OR_STRING: Json = [{ type: "integer" }, { type: "string" }];

/**
 * What keeps a schema from being structural: every node needs a type, and what `allOf`, `anyOf`,
 * `oneOf` and `not` say may only constrain what is declared outside of them. Sorted, because the
 * real server sorts these.
 *
 * @throws MatchPending
 */
export function structuralFaults(schema: Schema, path: string, matcher: Matcher): Cause[] {
  const causes: Cause[] = [];
  checkNode(schema, "root", path, causes, matcher);
  checkCompleteness(schema, schema, path, path, causes);
  return causes.sort((a, b) => compare(`${a.field}: ${a.message}`, `${b.field}: ${b.message}`));
}

const UNCONVERTIBLE = ["$ref", "patternProperties", "definitions", "dependencies", "additionalItems", "id"];

/** Whether a schema keeps to the part of OpenAPI that structural schemas can express at all. */
export function isConvertible(schema: Schema): boolean {
  if (UNCONVERTIBLE.some((keyword) => (field(raw(schema), keyword) ?? null) !== null)) return false;
  if (Array.isArray(field(raw(schema), "items"))) return false;
  const parts = [
    ...declaredProperties(schema).map(([, property]) => property),
    ...(["allOf", "anyOf", "oneOf"] as const).flatMap((junctor) => branches(schema, junctor)),
  ];
  for (const name of ["items", "not", "additionalProperties"] as const) {
    const part = subschema(schema, name);
    if (part !== undefined) parts.push(part);
  }
  return parts.every(isConvertible);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function raw(schema: Schema): JsonObject {
  return schema as unknown as JsonObject;
}

/** Declared fields, by name. A schema in a CRD is data, so its shape is not taken for granted. */
export function declaredProperties(schema: Schema): [string, Schema][] {
  const properties = presentObjectAt(raw(schema), "properties") ?? {};
  return Object.keys(properties)
    .sort()
    .map((name) => [name, (properties[name] ?? {}) as Schema]);
}

export function branches(schema: Schema, junctor: "allOf" | "anyOf" | "oneOf"): Schema[] {
  const list = field(raw(schema), junctor);
  return Array.isArray(list) ? (list as unknown as Schema[]) : [];
}

export function subschema(
  schema: Schema,
  name: "items" | "not" | "additionalProperties",
): Schema | undefined {
  return presentObjectAt(raw(schema), name) as Schema | undefined;
}

function checkNode(schema: Schema, level: Level, path: string, causes: Cause[], matcher: Matcher): void {
  const type = schema.type ?? "";
  const items = subschema(schema, "items");
  if (type === "array" && items === undefined) {
    causes.push(required(childPath(path, "items"), "must be specified"));
  }
  if (items !== undefined) checkNode(items, "item", childPath(path, "items"), causes, matcher);
  const properties = declaredProperties(schema);
  for (const [name, property] of properties) {
    checkNode(property, "field", keyPath(childPath(path, "properties"), name), causes, matcher);
  }
  const additional = field(raw(schema), "additionalProperties");
  const additionalPath = childPath(path, "additionalProperties");
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const preserve = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  if (additional !== undefined) {
    if (level === "root") causes.push(forbiddenValue(additionalPath, "must not be used at the root"));
    const values = subschema(schema, "additionalProperties");
    if (values !== undefined) checkNode(values, "field", additionalPath, causes, matcher);
  }
  if (intOrString && preserve) {
    const at = childPath(path, "x-kubernetes-preserve-unknown-fields");
    causes.push(invalidValue(at, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  if (intOrString && embedded) {
    const at = childPath(path, "x-kubernetes-embedded-resource");
    causes.push(invalidValue(at, true, "must be false if x-kubernetes-int-or-string is true"));
  }
  const skipAnyOf = equal(field(raw(schema), "anyOf"), INT_OR_STRING);
  const firstAllOf = branches(schema, "allOf")[0];
  const skipFirstAllOf = firstAllOf !== undefined && equal(field(raw(firstAllOf), "anyOf"), INT_OR_STRING);
  checkValidation(schema, { skipAnyOf, skipFirstAllOf }, path, causes, matcher);

  const typePath = childPath(path, "type");
  if (embedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    causes.push(type === "" ? required(typePath, detail) : invalidValue(typePath, type, detail));
  } else if (type === "" && !intOrString && !preserve) {
    const where = {
      root: "at the root",
      item: "for specified array items",
      field: "for specified object fields",
    };
    causes.push(required(typePath, `must not be empty ${where[level]}`));
  }
  if (embedded && additional !== undefined) {
    causes.push(forbiddenValue(additionalPath, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (level === "root" && type !== "" && type !== "object") {
    causes.push(invalidValue(typePath, type, "must be object at the root"));
  }
  checkResourceFields(schema, level, path, causes);
  if (embedded && !preserve && properties.length === 0) {
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    causes.push(required(childPath(path, "properties"), detail));
  }
}

/** apiVersion, kind and metadata are implied, and a schema may say little about them. */
function checkResourceFields(schema: Schema, level: Level, path: string, causes: Cause[]): void {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const properties = new Map(declaredProperties(schema));
  for (const name of ["kind", "apiVersion"]) {
    const property = properties.get(name);
    if (!isResource || property === undefined || property.type === "string") continue;
    const at = childPath(keyPath(childPath(path, "properties"), name), "type");
    causes.push(invalidValue(at, property.type ?? "", "must be string"));
  }
  const metadata = properties.get("metadata");
  if (metadata === undefined) return;
  const at = keyPath(childPath(path, "properties"), "metadata");
  if (isResource && metadata.type !== "object") {
    causes.push(invalidValue(childPath(at, "type"), metadata.type ?? "", "must be object"));
  }
  if (level !== "root") return;
  const names = declaredProperties(metadata).map(([name]) => name);
  const onlyNames = names.every((name) => name === "name" || name === "generateName");
  const others = Object.keys(metadata).filter((key) => !["type", "default", "properties"].includes(key));
  if (!onlyNames || others.length > 0) {
    const detail =
      "must not specify anything other than name and generateName, but metadata is implicitly specified";
    causes.push(forbiddenValue(at, detail));
  }
}

function checkValidation(
  schema: Schema,
  { skipAnyOf, skipFirstAllOf }: { skipAnyOf: boolean; skipFirstAllOf: boolean },
  path: string,
  causes: Cause[],
  matcher: Matcher,
): void {
  if (!skipAnyOf) {
    for (const [index, branch] of branches(schema, "anyOf").entries()) {
      checkNested(branch, false, keyPath(childPath(path, "anyOf"), index), causes, matcher);
    }
  }
  for (const [index, branch] of branches(schema, "allOf").entries()) {
    checkNested(
      branch,
      skipFirstAllOf && index === 0,
      keyPath(childPath(path, "allOf"), index),
      causes,
      matcher,
    );
  }
  for (const [index, branch] of branches(schema, "oneOf").entries()) {
    checkNested(branch, false, keyPath(childPath(path, "oneOf"), index), causes, matcher);
  }
  const not = subschema(schema, "not");
  if (not !== undefined) checkNested(not, false, childPath(path, "not"), causes, matcher);
  if (typeof schema.pattern !== "string" || schema.pattern === "") return;
  try {
    matcher.check(schema.pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const detail = `must be a valid regular expression, but isn't: ${error.message}`;
    causes.push(invalidValue(childPath(path, "pattern"), schema.pattern, detail));
  }
}

/**
 * Keywords that belong outside of `allOf`, `anyOf`, `oneOf` and `not`, each with what the real
 * server says of it.
 */
const ONLY_OUTSIDE: readonly (readonly [keyof Schema, string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNested(
  schema: Schema,
  skipAnyOf: boolean,
  path: string,
  causes: Cause[],
  matcher: Matcher,
): void {
  checkValidation(schema, { skipAnyOf, skipFirstAllOf: false }, path, causes, matcher);
  const items = subschema(schema, "items");
  if (items !== undefined) checkNested(items, false, childPath(path, "items"), causes, matcher);
  for (const [name, property] of declaredProperties(schema)) {
    checkNested(property, false, keyPath(childPath(path, "properties"), name), causes, matcher);
  }
  for (const [keyword, detail] of ONLY_OUTSIDE) {
    const value = field(raw(schema), keyword);
    const unset = value === undefined || value === null || value === false || value === "";
    const empty = Array.isArray(value) && value.length === 0;
    if (keyword === "additionalProperties" ? value === undefined : unset || empty) continue;
    causes.push(forbiddenValue(childPath(path, keyword), detail));
  }
  if (presentObjectAt(presentObjectAt(raw(schema), "properties"), "metadata") !== undefined) {
    const at = keyPath(childPath(path, "properties"), "metadata");
    causes.push(forbiddenValue(at, "must not be specified in a nested context"));
  }
}

/**
 * Whatever a branch speaks of must be declared at `outer`, which is the same place outside of all
 * branches.
 */
function checkCompleteness(
  nested: Schema,
  outer: Schema | undefined,
  outerPath: string,
  path: string,
  causes: Cause[],
): void {
  const each = (branch: Schema, at: string): void => checkBranch(branch, outer, outerPath, at, causes);
  const not = subschema(nested, "not");
  if (not !== undefined) each(not, childPath(path, "not"));
  for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
    for (const [index, branch] of branches(nested, junctor).entries()) {
      each(branch, keyPath(childPath(path, junctor), index));
    }
  }
}

function checkBranch(
  branch: Schema,
  outer: Schema | undefined,
  outerPath: string,
  path: string,
  causes: Cause[],
): void {
  if (outer === undefined) {
    causes.push(required(outerPath, `because it is defined in ${path}`));
    return;
  }
  checkCompleteness(branch, outer, outerPath, path, causes);
  const items = subschema(branch, "items");
  if (items !== undefined) {
    const outerItems = subschema(outer, "items");
    checkBranch(items, outerItems, childPath(outerPath, "items"), childPath(path, "items"), causes);
  }
  const declared = new Map(declaredProperties(outer));
  for (const [name, property] of declaredProperties(branch)) {
    const at = keyPath(childPath(path, "properties"), name);
    const outerAt = keyPath(childPath(outerPath, "properties"), name);
    checkBranch(property, declared.get(name), outerAt, at, causes);
  }
}
