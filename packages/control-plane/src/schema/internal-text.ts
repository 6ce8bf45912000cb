import { isObject, type Json, type JsonObject } from "../json.ts";
import { goJson } from "./go-text.ts";
import type { Schema, ValidationRule } from "./schema.ts";

/*
 * Some messages show a schema or a rule as the real server holds it inside: under Go names, in the
 * order they are declared there, with the zero value of what is absent.
 */

type Show = (value: Json | undefined) => string;

const value: Show = (given) => goJson(given ?? null);
const text: Show = (given) => goJson(given ?? "");
const flag: Show = (given) => goJson(given ?? false);
const schema: Show = (given) => (isObject(given) ? record(given, schemaFields()) : "null");
const schemas: Show = (given) => (Array.isArray(given) ? `[${given.map(schema).join(",")}]` : "null");
const rules: Show = (given) =>
  Array.isArray(given)
    ? `[${given.map((rule) => record(rule as JsonObject, ruleFields)).join(",")}]`
    : "null";

const mapOf =
  (show: Show): Show =>
  (given) =>
    isObject(given)
      ? `{${Object.keys(given)
          .sort()
          .map((key) => `${goJson(key)}:${show(given[key])}`)
          .join(",")}}`
      : "null";

const items: Show = (given) => {
  if (given === undefined || given === null) return "null";
  const [one, many] = Array.isArray(given) ? [undefined, given] : [given, undefined];
  return `{"Schema":${schema(one)},"JSONSchemas":${schemas(many)}}`;
};

const allowed: Show = (given) => {
  if (given === undefined || given === null) return "null";
  return `{"Allows":${goJson(given !== false)},"Schema":${schema(given)}}`;
};

const dependency: Show = (given) =>
  `{"Schema":${schema(given)},"Property":${Array.isArray(given) ? goJson(given) : "null"}}`;

const documentation: Show = (given) =>
  isObject(given) ? `{"Description":${text(given.description)},"URL":${text(given.url)}}` : "null";

type Fields = readonly (readonly [goName: string, field: string, show: Show])[];

const ruleFields: Fields = [
  ["Rule", "rule", text],
  ["Message", "message", text],
  ["MessageExpression", "messageExpression", text],
  ["Reason", "reason", value],
  ["FieldPath", "fieldPath", text],
  ["OptionalOldSelf", "optionalOldSelf", value],
];

/** Schemas hold schemas: a function, so that each may name the other. */
const schemaFields = (): Fields => [
  ["ID", "id", text],
  ["Schema", "$schema", text],
  ["Ref", "$ref", value],
  ["Description", "description", text],
  ["Type", "type", text],
  ["Nullable", "nullable", flag],
  ["Format", "format", text],
  ["Title", "title", text],
  ["Default", "default", value],
  ["Maximum", "maximum", value],
  ["ExclusiveMaximum", "exclusiveMaximum", flag],
  ["Minimum", "minimum", value],
  ["ExclusiveMinimum", "exclusiveMinimum", flag],
  ["MaxLength", "maxLength", value],
  ["MinLength", "minLength", value],
  ["Pattern", "pattern", text],
  ["MaxItems", "maxItems", value],
  ["MinItems", "minItems", value],
  ["UniqueItems", "uniqueItems", flag],
  ["MultipleOf", "multipleOf", value],
  ["Enum", "enum", value],
  ["MaxProperties", "maxProperties", value],
  ["MinProperties", "minProperties", value],
  ["Required", "required", value],
  ["Items", "items", items],
  ["AllOf", "allOf", schemas],
  ["OneOf", "oneOf", schemas],
  ["AnyOf", "anyOf", schemas],
  ["Not", "not", schema],
  ["Properties", "properties", mapOf(schema)],
  ["AdditionalProperties", "additionalProperties", allowed],
  ["PatternProperties", "patternProperties", mapOf(schema)],
  ["Dependencies", "dependencies", mapOf(dependency)],
  ["AdditionalItems", "additionalItems", allowed],
  ["Definitions", "definitions", mapOf(schema)],
  ["ExternalDocs", "externalDocs", documentation],
  ["Example", "example", value],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", value],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", flag],
  ["XIntOrString", "x-kubernetes-int-or-string", flag],
  ["XListMapKeys", "x-kubernetes-list-map-keys", value],
  ["XListType", "x-kubernetes-list-type", value],
  ["XMapType", "x-kubernetes-map-type", value],
  ["XValidations", "x-kubernetes-validations", rules],
];

function record(object: JsonObject, fields: Fields): string {
  const shown = fields.map(([name, field, show]) => {
    const given = Object.hasOwn(object, field) ? object[field] : undefined;
    return `"${name}":${show(given)}`;
  });
  return `{${shown.join(",")}}`;
}

/** A schema as the real server's messages show it. */
export function internalSchema(given: Schema): string {
  return schema(given as unknown as Json);
}

/** A rule as the real server's messages show it. */
export function internalRule(given: ValidationRule): string {
  return record(given as unknown as JsonObject, ruleFields);
}
