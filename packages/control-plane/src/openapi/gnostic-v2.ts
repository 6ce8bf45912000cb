import { isObject } from "../json.ts";
import type { Message, Shape } from "./gnostic.ts";

const schemaShape: Shape = { message: () => schema };

const schema: Message = {
  fields: [
    ["$ref", 1, "string"],
    ["format", 2, "string"],
    ["title", 3, "string"],
    ["description", 4, "string"],
    ["default", 5, "any"],
    ["multipleOf", 6, "number"],
    ["maximum", 7, "number"],
    ["exclusiveMaximum", 8, "boolean"],
    ["minimum", 9, "number"],
    ["exclusiveMinimum", 10, "boolean"],
    ["maxLength", 11, "integer"],
    ["minLength", 12, "integer"],
    ["pattern", 13, "string"],
    ["maxItems", 14, "integer"],
    ["minItems", 15, "integer"],
    ["uniqueItems", 16, "boolean"],
    ["maxProperties", 17, "integer"],
    ["minProperties", 18, "integer"],
    ["required", 19, { list: "string" }],
    ["enum", 20, { list: "any" }],
    [
      "additionalProperties",
      21,
      { choice: (value) => (typeof value === "boolean" ? [2, "boolean"] : [1, schemaShape]) },
    ],
    ["type", 22, { choice: () => [1, "string"] }],
    ["items", 23, { choice: () => [1, schemaShape] }],
    ["properties", 25, { named: schemaShape, at: 1 }],
  ],
  extensions: 31,
};

const response: Message = {
  fields: [
    ["description", 1, "string"],
    ["schema", 2, { choice: () => [1, schemaShape] }],
  ],
  extensions: 5,
};
const bodyParameter: Message = {
  fields: [
    ["description", 1, "string"],
    ["name", 2, "string"],
    ["in", 3, "string"],
    ["required", 4, "boolean"],
    ["schema", 5, schemaShape],
  ],
  extensions: 6,
};
const queryParameter: Message = {
  fields: [
    ["required", 1, "boolean"],
    ["in", 2, "string"],
    ["description", 3, "string"],
    ["name", 4, "string"],
    ["type", 6, "string"],
    ["uniqueItems", 20, "boolean"],
  ],
  extensions: 23,
};
const pathParameter: Message = {
  fields: [
    ["required", 1, "boolean"],
    ["in", 2, "string"],
    ["description", 3, "string"],
    ["name", 4, "string"],
    ["type", 5, "string"],
    ["uniqueItems", 19, "boolean"],
  ],
  extensions: 22,
};
const otherParameter: Shape = {
  choice: (value) =>
    isObject(value) && value.in === "path"
      ? [4, { message: () => pathParameter }]
      : [3, { message: () => queryParameter }],
};
const parameter: Shape = {
  choice: (value) =>
    isObject(value) && value.in === "body" ? [1, { message: () => bodyParameter }] : [2, otherParameter],
};
const parameters: Shape = { list: { choice: () => [1, parameter] } };
const operation: Message = {
  fields: [
    ["tags", 1, { list: "string" }],
    ["summary", 2, "string"],
    ["description", 3, "string"],
    ["operationId", 5, "string"],
    ["produces", 6, { list: "string" }],
    ["consumes", 7, { list: "string" }],
    ["parameters", 8, parameters],
    ["responses", 9, { named: { choice: () => [1, { message: () => response }] }, at: 1 }],
    ["schemes", 10, { list: "string" }],
  ],
  extensions: 13,
};
const pathItem: Message = {
  fields: [
    ["get", 2, { message: () => operation }],
    ["put", 3, { message: () => operation }],
    ["post", 4, { message: () => operation }],
    ["delete", 5, { message: () => operation }],
    ["patch", 8, { message: () => operation }],
    ["parameters", 9, parameters],
  ],
  extensions: 10,
};
const info: Message = {
  fields: [
    ["title", 1, "string"],
    ["version", 2, "string"],
    ["description", 3, "string"],
  ],
};

/** OpenAPI v2 as gnostic models it, as far as the document served here goes. */
export const documentV2: Message = {
  fields: [
    ["swagger", 1, "string"],
    ["info", 2, { message: () => info }],
    ["paths", 8, { named: { message: () => pathItem }, at: 2 }],
    ["definitions", 9, { named: schemaShape, at: 1 }],
  ],
};
