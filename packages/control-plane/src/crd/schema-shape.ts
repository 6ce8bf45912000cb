import { isObject, type Json, type JsonObject } from "../json.ts";
import { setField } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";

type Shape =
  | "text"
  | "number"
  | "boolean"
  | "texts"
  | "schema"
  | "schemas"
  | "schemaMap"
  | "schemaOrBoolean"
  | "rules"
  | "list";

const SHAPES = new Map<string, Shape>([
  ...(
    [
      "type",
      "format",
      "title",
      "description",
      "pattern",
      "x-kubernetes-list-type",
      "x-kubernetes-map-type",
    ] as const
  ).map((name) => [name, "text"] as const),
  ...(
    [
      "minimum",
      "maximum",
      "multipleOf",
      "minLength",
      "maxLength",
      "minItems",
      "maxItems",
      "minProperties",
      "maxProperties",
    ] as const
  ).map((name) => [name, "number"] as const),
  ...(
    [
      "nullable",
      "exclusiveMinimum",
      "exclusiveMaximum",
      "uniqueItems",
      "x-kubernetes-preserve-unknown-fields",
      "x-kubernetes-embedded-resource",
      "x-kubernetes-int-or-string",
    ] as const
  ).map((name) => [name, "boolean"] as const),
  ["required", "texts"],
  ["x-kubernetes-list-map-keys", "texts"],
  ["enum", "list"],
  ["properties", "schemaMap"],
  ["additionalProperties", "schemaOrBoolean"],
  ["items", "schema"],
  ["not", "schema"],
  ["allOf", "schemas"],
  ["anyOf", "schemas"],
  ["oneOf", "schemas"],
  ["x-kubernetes-validations", "rules"],
]);

const seen = new WeakMap<JsonObject, Schema>();

/**
 * A schema out of a CRD, with the keywords that have an impossible shape left out: nothing that
 * walks a schema has to fear `properties: 5`. A schema with none of those, which is every real one,
 * is returned as it is.
 */
export function readSchema(raw: JsonObject): Schema {
  let schema = seen.get(raw);
  if (schema === undefined) {
    schema = cleaned(raw) as unknown as Schema;
    seen.set(raw, schema);
  }
  return schema;
}

function cleaned(raw: JsonObject): JsonObject {
  let copy: JsonObject | undefined;
  for (const name of Object.keys(raw)) {
    const value = raw[name] as Json;
    const kept = keep(value, SHAPES.get(name));
    if (kept === value) continue;
    copy ??= { ...raw };
    if (kept === undefined) delete copy[name];
    else setField(copy, name, kept);
  }
  return copy ?? raw;
}

function keep(value: Json, shape: Shape | undefined): Json | undefined {
  switch (shape) {
    case undefined:
      return value;
    case "text":
      return typeof value === "string" && value !== "" ? value : undefined;
    case "number":
      return typeof value === "number" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
    case "list":
      return Array.isArray(value) ? value : undefined;
    case "schema":
      return isObject(value) ? cleaned(value) : Array.isArray(value) ? value : undefined;
    case "schemaOrBoolean":
      return typeof value === "boolean" ? value : isObject(value) ? cleaned(value) : undefined;
    case "schemas":
      return Array.isArray(value) ? each(value, (item) => (isObject(item) ? cleaned(item) : {})) : undefined;
    case "rules":
      return Array.isArray(value)
        ? each(value, (item) => (isObject(item) ? rule(item) : { rule: "" }))
        : undefined;
    case "schemaMap": {
      if (!isObject(value)) return undefined;
      let copy: JsonObject | undefined;
      for (const name of Object.keys(value)) {
        const inner = value[name] as Json;
        const kept = isObject(inner) ? cleaned(inner) : {};
        if (kept === inner) continue;
        copy ??= { ...value };
        setField(copy, name, kept);
      }
      return copy ?? value;
    }
  }
}

/** A list with its items changed; the list itself when none was. */
function each(list: Json[], change: (item: Json) => Json): Json[] {
  const changed = list.map(change);
  return changed.some((item, index) => item !== list[index]) ? changed : list;
}

const RULE_TEXTS = ["rule", "message", "messageExpression", "reason", "fieldPath"];

function rule(raw: JsonObject): JsonObject {
  const isSound = RULE_TEXTS.every((name) => raw[name] === undefined || typeof raw[name] === "string");
  const old = raw.optionalOldSelf;
  if (isSound && typeof raw.rule === "string" && (old === undefined || typeof old === "boolean")) return raw;
  const copy: JsonObject = { rule: "" };
  for (const name of RULE_TEXTS) if (typeof raw[name] === "string") copy[name] = raw[name];
  if (typeof old === "boolean") copy.optionalOldSelf = old;
  return copy;
}
