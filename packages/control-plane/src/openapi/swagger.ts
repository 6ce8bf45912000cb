import { countParts, isObject, type Json, type JsonObject } from "../json.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";

const produces = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const methods = ["get", "put", "post", "delete", "patch"];

/** How many parts of documents are rewritten between two turns of the event loop. */
const partsPerTurn = 20_000;

/**
 * One OpenAPI v2 document out of the v3 documents of every group version: what older clients and
 * tools still read.
 */
export function* swaggerOf(info: JsonObject, documents: readonly JsonObject[]): Steps<JsonObject> {
  const paths: JsonObject = {};
  const definitions: JsonObject = {};
  const budget = new TurnBudget(partsPerTurn);
  for (const document of documents) {
    for (const [path, item] of entriesOf(document.paths)) {
      paths[path] = pathItem(item);
      if (budget.spend(countParts(item))) yield nextTurn;
    }
    for (const [name, schema] of entriesOf((document.components as JsonObject).schemas)) {
      definitions[name] ??= schemaOf(schema);
      if (budget.spend(countParts(schema))) yield nextTurn;
    }
  }
  return { swagger: "2.0", info, paths: sorted(paths), definitions: sorted(definitions) };
}

function entriesOf(value: Json | undefined): [string, JsonObject][] {
  return isObject(value) ? (Object.entries(value) as [string, JsonObject][]) : [];
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pathItem(item: JsonObject): JsonObject {
  const converted: JsonObject = {};
  for (const method of methods) {
    const operation = item[method];
    if (isObject(operation)) converted[method] = operationOf(operation);
  }
  if (Array.isArray(item.parameters)) converted.parameters = item.parameters.map(parameterOf);
  return converted;
}

function operationOf(operation: JsonObject): JsonObject {
  const { parameters, requestBody, responses, ...rest } = operation;
  const body = isObject(requestBody) ? requestBody : undefined;
  const content = body ? Object.entries(body.content as { [type: string]: JsonObject }) : [];
  const given = Array.isArray(parameters) ? parameters.map(parameterOf) : [];
  const schema = content[0]?.[1].schema;
  return {
    consumes: content.length > 0 ? content.map(([type]) => type) : ["*/*"],
    produces,
    schemes: ["https"],
    ...rest,
    parameters: [
      ...(isObject(schema)
        ? [
            {
              name: "body",
              in: "body",
              ...(body?.required === true ? { required: true } : {}),
              schema: schemaOf(schema),
            },
          ]
        : []),
      ...given,
    ],
    responses: Object.fromEntries(
      entriesOf(responses).map(([code, { description, content: answers }]) => {
        const answer = entriesOf(answers)[0]?.[1].schema;
        return [
          code,
          { description: description ?? "", ...(isObject(answer) ? { schema: schemaOf(answer) } : {}) },
        ];
      }),
    ),
  };
}

function parameterOf(parameter: Json): JsonObject {
  const { schema, ...rest } = parameter as JsonObject;
  return { ...(schema as JsonObject), ...rest };
}

/** What v2 has no words for, or what its readers are known to stumble over. */
const unspoken = new Set([
  "allOf",
  "anyOf",
  "default",
  "items",
  "not",
  "nullable",
  "oneOf",
  "properties",
  "additionalProperties",
]);

const kindsKey = "x-kubernetes-group-version-kind";
const openKey = "x-kubernetes-preserve-unknown-fields";

function schemaOf(schema: JsonObject): JsonObject {
  // A kind that takes any field is not described: a reader would complain of all fields that are
  // not.
  if (schema[kindsKey] !== undefined && schema[openKey] === true) {
    return { type: "object", [kindsKey]: schema[kindsKey] };
  }
  const target = referenceIn(schema);
  if (target !== undefined) {
    const description = schema.description === undefined ? {} : { description: schema.description };
    return { ...description, $ref: target.replace("#/components/schemas/", "#/definitions/") };
  }
  const converted = Object.fromEntries(Object.entries(schema).filter(([key]) => !unspoken.has(key)));
  // Of these, a reader of v2 must not believe to know the shape.
  const isOpen =
    schema.nullable === true || schema[openKey] === true || schema["x-kubernetes-int-or-string"] === true;
  if (isOpen) {
    delete converted.type;
    delete converted.required;
    return converted;
  }
  if (isObject(schema.properties)) {
    converted.properties = Object.fromEntries(
      entriesOf(schema.properties).map(([name, property]) => [name, schemaOf(property)]),
    );
  }
  if (isObject(schema.items)) converted.items = schemaOf(schema.items);
  const { additionalProperties } = schema;
  if (typeof additionalProperties === "boolean") converted.additionalProperties = additionalProperties;
  else if (isObject(additionalProperties)) converted.additionalProperties = schemaOf(additionalProperties);
  return converted;
}

function referenceIn(schema: JsonObject): string | undefined {
  if (typeof schema.$ref === "string") return schema.$ref;
  const [only, ...others] = Array.isArray(schema.allOf) ? schema.allOf : [];
  return others.length === 0 && isObject(only) && typeof only.$ref === "string" ? only.$ref : undefined;
}
