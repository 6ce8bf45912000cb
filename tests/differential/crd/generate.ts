import fc from "fast-check";
import type { Json, JsonObject } from "../../../packages/control-plane/src/json.ts";
import type { Schema } from "../../../packages/control-plane/src/schema/schema.ts";

const NAMES = ["a", "b", "c", "d", "e"];

const scalarSchema = fc.oneof(
  fc.record(
    {
      type: fc.constant("string" as const),
      minLength: fc.constantFrom(1, 2),
      maxLength: fc.constantFrom(2, 3, 5),
      pattern: fc.constantFrom("^[a-z]+$", "^\\w*$", "x"),
      nullable: fc.boolean(),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record({
    type: fc.constant("string" as const),
    enum: fc.constantFrom(["A", "B"], ["A"], ["x", "", "yy"]),
  }),
  fc.record({
    type: fc.constant("string" as const),
    format: fc.constantFrom(
      "date-time",
      "date",
      "duration",
      "byte",
      "ipv4",
      "ipv6",
      "cidr",
      "email",
      "uri",
      "uuid",
      "hostname",
      "mac",
      "k8s-short-name",
      "k8s-long-name",
      "unknown-format",
      "int32",
      "password",
      "hexcolor",
    ),
  }),
  fc.record(
    {
      type: fc.constantFrom("integer" as const, "number" as const),
      minimum: fc.constantFrom(-1, 0, 1, 1.5),
      maximum: fc.constantFrom(2, 3, 10, 2.5),
      exclusiveMinimum: fc.boolean(),
      exclusiveMaximum: fc.boolean(),
      multipleOf: fc.constantFrom(0.5, 1, 2, 0.1),
      nullable: fc.boolean(),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record({ type: fc.constant("integer" as const), enum: fc.constantFrom<Json[][]>([1, 2], [3]) }),
  fc.record({ type: fc.constant("boolean" as const) }),
  fc.constant<Schema>({ "x-kubernetes-int-or-string": true }),
) as fc.Arbitrary<Schema>;

/**
 * Branches that only constrain what is declared: fields of the object, or the length of a value.
 */
function constraints(names: readonly string[]): fc.Arbitrary<Schema> {
  return fc.oneof(
    fc.record({ required: fc.subarray([...names], { minLength: 1, maxLength: Math.min(2, names.length) }) }),
    fc.record({ minProperties: fc.constantFrom(1, 2) }),
    fc.record({ maxProperties: fc.constantFrom(0, 1) }),
  );
}

function objectSchema(child: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }).chain((names) =>
    fc
      .record(
        {
          type: fc.constant("object" as const),
          properties: fc
            .tuple(...names.map(() => child))
            .map((schemas) =>
              Object.fromEntries(names.map((name, index) => [name, schemas[index] as Schema])),
            ),
          required: fc.subarray(names, { maxLength: Math.min(2, names.length) }),
          "x-kubernetes-preserve-unknown-fields": fc.constant(true),
          nullable: fc.boolean(),
          minProperties: fc.constantFrom(1, 2),
          maxProperties: fc.constantFrom(2, 3),
          "x-kubernetes-map-type": fc.constantFrom("atomic" as const, "granular" as const),
          oneOf: fc.array(constraints(names), { minLength: 1, maxLength: 3 }),
          anyOf: fc.array(constraints(names), { minLength: 1, maxLength: 3 }),
          allOf: fc.array(constraints(names), { minLength: 1, maxLength: 2 }),
          not: constraints(names),
        },
        { requiredKeys: ["type", "properties"] },
      )
      .map((schema) => thin(schema as Schema)),
  );
}

/** Leaves most of the rarer keywords out, so that not everything is always refused. */
function thin(schema: Schema): Schema {
  const copy = { ...schema };
  const rare = ["minProperties", "maxProperties", "oneOf", "anyOf", "allOf", "not"] as const;
  const weight = JSON.stringify(schema).length;
  for (const [index, keyword] of rare.entries()) if ((weight + index) % 3 !== 0) delete copy[keyword];
  return copy;
}

function listSchema(child: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.oneof(
    fc
      .record(
        {
          type: fc.constant("array" as const),
          items: child,
          minItems: fc.constantFrom(1, 2),
          maxItems: fc.constantFrom(1, 2, 3),
          nullable: fc.boolean(),
          "x-kubernetes-list-type": fc.constant("atomic" as const),
        },
        { requiredKeys: ["type", "items"] },
      )
      .map((schema) => schema as Schema),
    fc.record({
      type: fc.constant("array" as const),
      items: fc.constantFrom<Schema>({ type: "string" }, { type: "integer" }),
      "x-kubernetes-list-type": fc.constant("set" as const),
    }),
    fc.record({
      type: fc.constant("array" as const),
      items: child.map(
        (extra): Schema => ({
          type: "object",
          required: ["k"],
          properties: { k: { type: "string" }, p: { type: "string", default: "TCP" }, v: extra },
        }),
      ),
      "x-kubernetes-list-type": fc.constant("map" as const),
      "x-kubernetes-list-map-keys": fc.constantFrom(["k"], ["k", "p"]),
    }),
  ) as fc.Arbitrary<Schema>;
}

/** A structural schema that a CRD may have below `spec`. */
export const structuralSchema: fc.Arbitrary<Schema> = fc.letrec<{ node: Schema }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalarSchema,
    objectSchema(tie("node")),
    listSchema(tie("node")),
    tie("node").map((values): Schema => ({ type: "object", additionalProperties: values, maxProperties: 2 })),
    fc.constant<Schema>({
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    }),
  ),
})).node;

/** The schema of `spec` itself: an object with the nodes above as fields. */
export const specSchema: fc.Arbitrary<Schema> = fc
  .tuple(structuralSchema, structuralSchema, structuralSchema, structuralSchema)
  .map(([a, b, c, d]): Schema => ({ type: "object", properties: { a, b, c, d } }));

const STRINGS = [
  "",
  "a",
  "ab",
  "abc",
  "abcdef",
  "A",
  "B",
  "x",
  "é€😀",
  "2024-02-29T10:00:00Z",
  "2023-02-29T10:00:00Z",
  "2024-01-01",
  "1h30m",
  "3 days",
  "3d",
  "10.0.0.1",
  "::1",
  "10.0.0.0/8",
  "a@b.c",
  "https://example.com/x?y",
  "/path",
  "example.com",
  "aGVsbG8=",
  "123e4567-e89b-12d3-a456-426614174000",
  "01:23:45:67:89:ab",
  "#fff",
];

export const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...STRINGS),
    fc.constantFrom<Json>(0, 1, 2, 3, -1, 1.5, 0.3, 2.5, 100, 4294967296, true, false, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, "k", "p", "zz"), tie("value"), { maxKeys: 4 }),
  ),
})).value;

/** A value that mostly follows a schema, with something else thrown in now and then. */
export function valueFor(schema: Schema): fc.Arbitrary<Json> {
  const fitting = fittingValue(schema);
  return fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: anyValue });
}

function fittingValue(schema: Schema): fc.Arbitrary<Json> {
  if (schema["x-kubernetes-int-or-string"] === true) return fc.constantFrom<Json>("1", "50%", 3, 0, true);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum, "zzz", 9);
  switch (schema.type) {
    case "string":
      return fc.constantFrom(...STRINGS);
    case "integer":
      return fc.constantFrom(0, 1, 2, 3, 4, 10, 11, -1);
    case "number":
      return fc.constantFrom(0, 1, 1.5, 2, 2.5, 3, 0.3, 10, 1e-7, 1e21);
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor(schema.items ?? {}), { maxLength: 4 });
    case "object": {
      if (schema["x-kubernetes-embedded-resource"] === true) {
        return fc.constantFrom<Json>(
          { apiVersion: "v1", kind: "Pod", metadata: { name: "x", bogus: 1 }, spec: { y: 1 } },
          { apiVersion: "v1" },
          { kind: "Bad Kind", apiVersion: "a/b/c" },
          { apiVersion: "", kind: "" },
          {},
        );
      }
      const { additionalProperties } = schema;
      if (typeof additionalProperties === "object") {
        return fc.dictionary(fc.constantFrom(...NAMES), valueFor(additionalProperties), { maxKeys: 3 });
      }
      const properties = schema.properties ?? {};
      const fields: { [name: string]: fc.Arbitrary<Json> } = { zz: anyValue };
      for (const name of Object.keys(properties)) fields[name] = valueFor(properties[name] as Schema);
      const required = Object.keys(properties).filter((name) => schema.required?.includes(name));
      return fc.record(fields, { requiredKeys: required }).map((value) => value as JsonObject);
    }
    default:
      return anyValue;
  }
}
