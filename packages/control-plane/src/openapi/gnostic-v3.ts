import { isObject, type Json } from "../json.ts";
import type { Message, Shape } from "./gnostic.ts";

const reference: Message = { fields: [["$ref", 1, "string"]] };

/** Something, or a reference to something. */
function orReference(message: () => Message): Shape {
  return {
    choice: (value) =>
      isObject(value) && value.$ref !== undefined
        ? [2, { message: () => reference }]
        : [1, { message: () => message() }],
  };
}

const schemaOrReference = orReference(() => schema);

/** Defaults that are objects or lists have no place in the model. */
function defaultOf(value: Json): readonly [number, Shape] {
  return typeof value === "number"
    ? [1, "number"]
    : typeof value === "boolean"
      ? [2, "boolean"]
      : [3, "string"];
}

const schema: Message = {
  fields: [
    ["nullable", 1, "boolean"],
    ["title", 9, "string"],
    ["multipleOf", 10, "number"],
    ["maximum", 11, "number"],
    ["exclusiveMaximum", 12, "boolean"],
    ["minimum", 13, "number"],
    ["exclusiveMinimum", 14, "boolean"],
    ["maxLength", 15, "integer"],
    ["minLength", 16, "integer"],
    ["pattern", 17, "string"],
    ["maxItems", 18, "integer"],
    ["minItems", 19, "integer"],
    ["uniqueItems", 20, "boolean"],
    ["maxProperties", 21, "integer"],
    ["minProperties", 22, "integer"],
    ["required", 23, { list: "string" }],
    ["enum", 24, { list: "any" }],
    ["type", 25, "string"],
    ["allOf", 26, { list: schemaOrReference }],
    ["oneOf", 27, { list: schemaOrReference }],
    ["anyOf", 28, { list: schemaOrReference }],
    ["not", 29, { message: () => schema }],
    ["items", 30, { choice: () => [1, schemaOrReference] }],
    ["properties", 31, { named: schemaOrReference, at: 1 }],
    [
      "additionalProperties",
      32,
      { choice: (value) => (typeof value === "boolean" ? [2, "boolean"] : [1, schemaOrReference]) },
    ],
    ["default", 33, { choice: defaultOf }],
    ["description", 34, "string"],
    ["format", 35, "string"],
  ],
  extensions: 36,
};

const mediaType: Message = { fields: [["schema", 1, schemaOrReference]], extensions: 5 };
const content: Shape = { named: { message: () => mediaType }, at: 1 };
const response: Message = {
  fields: [
    ["description", 1, "string"],
    ["content", 3, content],
  ],
  extensions: 5,
};
const requestBody: Message = {
  fields: [
    ["description", 1, "string"],
    ["content", 2, content],
    ["required", 3, "boolean"],
  ],
  extensions: 4,
};
const parameter: Message = {
  fields: [
    ["name", 1, "string"],
    ["in", 2, "string"],
    ["description", 3, "string"],
    ["required", 4, "boolean"],
    ["schema", 10, schemaOrReference],
  ],
  extensions: 14,
};
const parameters: Shape = { list: orReference(() => parameter) };
const operation: Message = {
  fields: [
    ["tags", 1, { list: "string" }],
    ["summary", 2, "string"],
    ["description", 3, "string"],
    ["operationId", 5, "string"],
    ["parameters", 6, parameters],
    ["requestBody", 7, orReference(() => requestBody)],
    ["responses", 8, { named: orReference(() => response), at: 2 }],
  ],
  extensions: 13,
};
const pathItem: Message = {
  fields: [
    ["get", 4, { message: () => operation }],
    ["put", 5, { message: () => operation }],
    ["post", 6, { message: () => operation }],
    ["delete", 7, { message: () => operation }],
    ["patch", 10, { message: () => operation }],
    ["parameters", 13, parameters],
  ],
  extensions: 14,
};
const info: Message = {
  fields: [
    ["title", 1, "string"],
    ["description", 2, "string"],
    ["version", 6, "string"],
  ],
};
const components: Message = { fields: [["schemas", 1, { named: schemaOrReference, at: 1 }]] };

/** OpenAPI v3 as gnostic models it, as far as the documents served here go. */
export const documentV3: Message = {
  fields: [
    ["openapi", 1, "string"],
    ["info", 2, { message: () => info }],
    ["paths", 4, { named: { message: () => pathItem }, at: 1 }],
    ["components", 5, { message: () => components }],
  ],
};
