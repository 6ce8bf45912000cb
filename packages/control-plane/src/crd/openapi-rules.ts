import { append } from "../append.ts";
import type { Json, JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import { forbiddenValue, invalidValue, notSupported, required } from "../schema/causes.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema, ValidationRule } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { schemaAtFieldPath } from "./field-path.ts";
import { branches, declaredProperties, subschema } from "./structural-rules.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const RESOURCE_FIELDS = new Set(["metadata", "kind", "apiVersion"]);

/** What holds at one place of a schema because of the places above it. */
export interface SchemaContext {
  /** Why a default may not stand here; undefined where it may. */
  readonly defaultsForbidden?: string;
  readonly insideMetadata: boolean;
  /**
   * The nearest place above whose parts cannot be distinguished between two revisions; rules below
   * may not use oldSelf.
   */
  readonly uncorrelatable?: string;
  /** How many values may stand here; undefined where a list or map above sets no bound. */
  readonly cardinality?: number;
  /** False below `allOf`, `anyOf`, `oneOf` and `not`, where rules have no place. */
  readonly rulesAllowed: boolean;
}

/** Called for each node with rules and without faults of its own, with the place they stand at. */
export type RuleVisitor = (schema: Schema, path: string, context: SchemaContext) => void;

export const ROOT_CONTEXT: SchemaContext = { insideMetadata: false, rulesAllowed: true, cardinality: 1 };

/** What a CRD's schema may not say, beyond being structural. */
export function openApiFaults(
  schema: Schema,
  path: string,
  isRoot: boolean,
  context: SchemaContext,
  visitRules: RuleVisitor,
): Cause[] {
  const causes = keywordFaults(schema, path, context);
  const cardinality = cardinalityBelow(schema, context.cardinality);
  const descend = (child: Schema, at: string, { cardinality: _above, ...inner }: SchemaContext): void => {
    const below = cardinality === undefined ? inner : { ...inner, cardinality };
    append(causes, openApiFaults(child, at, false, below, visitRules));
  };
  const raw = schema as unknown as JsonObject;

  if (schema.uniqueItems === true) {
    const detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    causes.push(forbiddenValue(childPath(path, "uniqueItems"), detail));
  }
  const properties = declaredProperties(schema);
  const additional = field(raw, "additionalProperties");
  if (additional !== undefined) {
    const at = childPath(path, "additionalProperties");
    if (properties.length > 0 && additional !== true) {
      causes.push(forbiddenValue(at, "additionalProperties and properties are mutual exclusive"));
    }
    const values = subschema(schema, "additionalProperties");
    if (values !== undefined) {
      const reason = "inside additionalProperties applying to object metadata";
      descend(values, at, context.insideMetadata ? { ...context, defaultsForbidden: reason } : context);
    }
  }
  for (const [name, property] of properties) {
    let inner = context;
    if ((isRoot || schema["x-kubernetes-embedded-resource"] === true) && RESOURCE_FIELDS.has(name)) {
      inner = { ...inner, insideMetadata: true };
      if (isRoot) inner = { ...inner, defaultsForbidden: `in top-level ${name}` };
    }
    descend(property, keyPath(childPath(path, "properties"), name), inner);
  }
  const nested = { ...context, rulesAllowed: false };
  const not = subschema(schema, "not");
  if (not !== undefined) descend(not, childPath(path, "not"), nested);
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const) {
    for (const [index, branch] of branches(schema, junctor).entries()) {
      descend(branch, keyPath(childPath(path, junctor), index), nested);
    }
  }
  const items = subschema(schema, "items");
  if (items !== undefined) {
    const isMap = schema["x-kubernetes-list-type"] === "map";
    descend(items, childPath(path, "items"), isMap ? context : { uncorrelatable: path, ...context });
  }
  if (field(raw, "x-kubernetes-preserve-unknown-fields") === false) {
    const at = childPath(path, "x-kubernetes-preserve-unknown-fields");
    causes.push(invalidValue(at, false, "must be true or undefined"));
  }
  append(causes, mapTypeFaults(schema, path));
  append(causes, listTypeFaults(schema, path));

  const rules = schema["x-kubernetes-validations"];
  if (Array.isArray(rules) && rules.length > 0) {
    for (const [index, rule] of rules.entries()) {
      append(causes, ruleFaults(schema, rule, keyPath(childPath(path, "x-kubernetes-validations"), index)));
    }
    if (causes.length === 0 && context.rulesAllowed) visitRules(schema, path, context);
  }
  return causes;
}

function cardinalityBelow(schema: Schema, above: number | undefined): number | undefined {
  const isMap =
    schema.type === "object" && field(schema as unknown as JsonObject, "additionalProperties") !== undefined;
  if (above === undefined || (schema.type !== "array" && !isMap)) return above;
  const most = schema.type === "array" ? schema.maxItems : schema.maxProperties;
  return most === undefined ? undefined : above * Math.max(0, most);
}

function keywordFaults(schema: Schema, path: string, context: SchemaContext): Cause[] {
  const causes: Cause[] = [];
  const raw = schema as unknown as JsonObject;
  const type = typeof schema.type === "string" ? schema.type : "";
  if (type !== "" && !TYPES.includes(type)) causes.push(notSupported(childPath(path, "type"), type, TYPES));
  if (schema.default !== undefined && context.defaultsForbidden !== undefined) {
    causes.push(forbiddenValue(childPath(path, "default"), `must not be set ${context.defaultsForbidden}`));
  }
  for (const keyword of [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
  ]) {
    const value = field(raw, keyword);
    if (value === undefined || value === null || value === "") continue;
    causes.push(forbiddenValue(childPath(path, keyword), `${keyword} is not supported`));
  }
  if ((type as string) === "null") {
    const detail = "type cannot be set to null, use nullable as an alternative";
    causes.push(forbiddenValue(childPath(path, "type"), detail));
  }
  if (Array.isArray(field(raw, "items"))) {
    causes.push(forbiddenValue(childPath(path, "items"), "items must be a schema object and not an array"));
  }
  if (context.insideMetadata && schema["x-kubernetes-embedded-resource"] === true) {
    const at = childPath(path, "x-kubernetes-embedded-resource");
    causes.push(forbiddenValue(at, "must not be used inside of resource meta"));
  }
  return causes;
}

function wrongType(schema: Schema, path: string, detail: string): Cause {
  const at = childPath(path, "type");
  return schema.type === undefined ? required(at, detail) : invalidValue(at, schema.type, detail);
}

function mapTypeFaults(schema: Schema, path: string): Cause[] {
  const causes: Cause[] = [];
  const type = schema["x-kubernetes-map-type"];
  if (type === undefined) return causes;
  if (schema.type !== "object") {
    causes.push(wrongType(schema, path, "must be object if x-kubernetes-map-type is specified"));
  }
  if (type !== "atomic" && type !== "granular") {
    causes.push(notSupported(childPath(path, "x-kubernetes-map-type"), type, ["atomic", "granular"]));
  }
  return causes;
}

function listTypeFaults(schema: Schema, path: string): Cause[] {
  const causes: Cause[] = [];
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const items = subschema(schema, "items");
  const typePath = childPath(path, "x-kubernetes-list-type");
  const itemsPath = childPath(path, "items");
  if (type !== undefined && schema.type !== "array") {
    causes.push(wrongType(schema, path, "must be array if x-kubernetes-list-type is specified"));
  } else if (type === "set" && items !== undefined) {
    const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const inner = items["x-kubernetes-list-type"];
    if (items.type === "array" && inner !== undefined && inner !== "atomic") {
      causes.push(invalidValue(childPath(itemsPath, "x-kubernetes-list-type"), inner, detail));
    } else if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
      const shown = (inner ?? null) as Json;
      causes.push(invalidValue(childPath(itemsPath, "x-kubernetes-map-type"), shown, detail));
    }
  }
  if (type !== undefined && !["atomic", "set", "map"].includes(type)) {
    causes.push(notSupported(typePath, type, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && type !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    causes.push(type === undefined ? required(typePath, detail) : invalidValue(typePath, type, detail));
  }
  if (type === "map") append(causes, mapListFaults(schema, keys, items, path));
  if ((type === "set" || type === "map") && items !== undefined) {
    append(causes, uniqueListFaults(type, keys, items, itemsPath));
  }
  return causes;
}

function mapListFaults(
  schema: Schema,
  keys: readonly string[],
  items: Schema | undefined,
  path: string,
): Cause[] {
  const causes: Cause[] = [];
  const keysPath = childPath(path, "x-kubernetes-list-map-keys");
  const itemsPath = childPath(path, "items");
  if (keys.length === 0) {
    causes.push(required(keysPath, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (items === undefined) {
    if (field(schema as unknown as JsonObject, "items") === undefined) {
      causes.push(required(itemsPath, "must have a schema if x-kubernetes-list-type is map"));
    }
    return causes;
  }
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    causes.push(invalidValue(childPath(itemsPath, "type"), items.type ?? "", detail));
    return causes;
  }
  const declared = new Map(declaredProperties(items));
  const seen = new Set<string>();
  for (const key of keys) {
    const property = declared.get(key);
    if (property === undefined) {
      causes.push(invalidValue(keysPath, [...keys], "entries must all be names of item properties"));
    } else if (property.type === "array" || property.type === "object") {
      const at = childPath(keyPath(childPath(itemsPath, "properties"), key), "type");
      causes.push(
        invalidValue(at, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
      );
    }
    if (seen.has(key)) causes.push(invalidValue(keysPath, [...keys], "must not contain duplicate entries"));
    seen.add(key);
  }
  return causes;
}

function uniqueListFaults(
  type: "set" | "map",
  keys: readonly string[],
  items: Schema,
  itemsPath: string,
): Cause[] {
  const causes: Cause[] = [];
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${type}`;
    causes.push(forbiddenValue(childPath(itemsPath, "nullable"), detail));
  }
  if (type === "set") return causes;
  const declared = new Map(declaredProperties(items));
  for (const key of keys) {
    const property = declared.get(key);
    if (property === undefined) continue;
    const at = keyPath(childPath(itemsPath, "properties"), key);
    const why = "this property is in x-kubernetes-list-map-keys, so it";
    if (!(items.required ?? []).includes(key) && property.default === undefined) {
      causes.push(required(childPath(at, "default"), `${why} must have a default or be a required property`));
    }
    if (property.nullable === true) {
      causes.push(forbiddenValue(childPath(at, "nullable"), `${why} cannot be nullable`));
    }
  }
  return causes;
}

const LINE_BREAK = /[\n\r]/;

function ruleFaults(schema: Schema, rule: ValidationRule, path: string): Cause[] {
  const causes: Cause[] = [];
  const text = rule.rule ?? "";
  const message = rule.message ?? "";
  const messageExpression = rule.messageExpression ?? "";
  const fieldPath = rule.fieldPath ?? "";
  if (text.trim() === "") causes.push(required(childPath(path, "rule"), "rule is not specified"));
  else if (message !== "" && message.trim() === "") {
    causes.push(invalidValue(childPath(path, "message"), message, "must be non-empty if specified"));
  } else if (LINE_BREAK.test(message.trim())) {
    causes.push(invalidValue(childPath(path, "message"), message, "must not contain line breaks"));
  } else if (LINE_BREAK.test(text.trim()) && message.trim() === "") {
    const detail = "message must be specified if rule contains line breaks";
    causes.push(required(childPath(path, "message"), detail));
  }
  if (messageExpression !== "" && messageExpression.trim() === "") {
    const detail = "messageExpression must be non-empty if specified";
    causes.push(required(childPath(path, "messageExpression"), detail));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    causes.push(notSupported(childPath(path, "reason"), rule.reason, REASONS));
  }
  const fieldPathAt = childPath(path, "fieldPath");
  if (fieldPath !== "" && fieldPath.trim() === "") {
    causes.push(invalidValue(fieldPathAt, fieldPath, "must be non-empty if specified"));
  }
  if (LINE_BREAK.test(fieldPath)) {
    causes.push(invalidValue(fieldPathAt, fieldPath, "must not contain line breaks"));
  }
  if (fieldPath !== "" && schemaAtFieldPath(fieldPath, schema, "allowed").fault !== undefined) {
    causes.push(invalidValue(fieldPathAt, fieldPath, "must be a valid path"));
  }
  return causes;
}

/** Whether anything in a schema has rules. */
export function hasRules(schema: Schema | undefined): boolean {
  if (schema === undefined) return false;
  if ((schema["x-kubernetes-validations"]?.length ?? 0) > 0) return true;
  const items = subschema(schema, "items");
  const additional = subschema(schema, "additionalProperties");
  return (
    hasRules(items) ||
    hasRules(additional) ||
    declaredProperties(schema).some(([, property]) => hasRules(property))
  );
}
