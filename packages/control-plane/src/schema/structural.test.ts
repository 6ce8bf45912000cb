import fc from "fast-check";
import { expect, test } from "vitest";
import { clone, type Json, type JsonObject } from "../json.ts";
import { matcher } from "../patterns/patterns.fixture.ts";
import { StatusError } from "../status.ts";
import type { Schema } from "./schema.ts";
import { compile, findUnknownFields } from "./structural.ts";

/** The messages for one field `f` of `spec`, as `path: message`. */
function faults(schema: Schema, value: Json, old?: Json): string[] {
  const root = compile({
    type: "object",
    properties: { spec: { type: "object", properties: { f: schema } } },
  });
  const before = old === undefined ? undefined : { spec: { f: old } };
  return root
    .validate(matcher(), { spec: { f: value } }, before)
    .map(({ field, message }) => `${field}: ${message}`);
}

const TEXT = { type: "string" } as const;

test.each<[string, Schema, Json, string[]]>([
  [
    "a wrong type",
    { type: "integer" },
    "x",
    ['spec.f: Invalid value: "string": spec.f in body must be of type integer: "string"'],
  ],
  [
    "a fraction for an integer",
    { type: "integer" },
    1.5,
    ['spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"'],
  ],
  ["an integer for a number", { type: "number" }, 1, []],
  ["null", TEXT, null, ['spec.f: Invalid value: "null": spec.f in body must be of type string: "null"']],
  ["null where it is allowed", { ...TEXT, nullable: true }, null, []],
  [
    "a boolean for int-or-string",
    { "x-kubernetes-int-or-string": true },
    true,
    ['spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"'],
  ],
  ["a long string", { ...TEXT, maxLength: 2 }, "abc", ["spec.f: Too long: may not be more than 2 bytes"]],
  ["length in code points", { ...TEXT, maxLength: 2 }, "😀😀", []],
  [
    "a short string",
    { ...TEXT, minLength: 2 },
    "a",
    ['spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long'],
  ],
  [
    "a pattern",
    { ...TEXT, pattern: "^a$" },
    "b",
    ["spec.f: Invalid value: \"b\": spec.f in body should match '^a$'"],
  ],
  [
    "an enum",
    { ...TEXT, enum: ["A", "B"] },
    "C",
    ['spec.f: Unsupported value: "C": supported values: "A", "B"'],
  ],
  [
    "a bound",
    { type: "integer", maximum: 10 },
    11,
    ["spec.f: Invalid value: 11: spec.f in body should be less than or equal to 10"],
  ],
  [
    "an exclusive bound",
    { type: "number", minimum: 0, exclusiveMinimum: true },
    0,
    ["spec.f: Invalid value: 0: spec.f in body should be greater than 0"],
  ],
  [
    "a tiny number",
    { type: "number", minimum: 1 },
    1e-7,
    ["spec.f: Invalid value: 1e-07: spec.f in body should be greater than or equal to 1"],
  ],
  ["a multiple", { type: "number", multipleOf: 0.1 }, 0.3, []],
  [
    "no multiple",
    { type: "number", multipleOf: 0.5 },
    0.3,
    ["spec.f: Invalid value: 0.3: spec.f in body should be a multiple of 0.5"],
  ],
  [
    "a fractional factor for an integer",
    { type: "number", multipleOf: 0.5 },
    1,
    ["spec.f: Invalid value: 0: factor MultipleOf declared for spec.f must be positive: 0"],
  ],
  [
    "too few items",
    { type: "array", items: TEXT, minItems: 1 },
    [],
    ["spec.f: Invalid value: 0: spec.f in body should have at least 1 items"],
  ],
  [
    "too many items",
    { type: "array", items: TEXT, maxItems: 1 },
    ["a", "b"],
    ["spec.f: Too many: 2: must have at most 1 item"],
  ],
  [
    "a wrong item",
    { type: "array", items: TEXT },
    ["a", 1],
    ['spec.f[1]: Invalid value: "integer": spec.f[1] in body must be of type string: "integer"'],
  ],
  [
    "too many entries",
    { type: "object", additionalProperties: TEXT, maxProperties: 1 },
    { a: "", b: "" },
    ["spec.f: Too many: 2: must have at most 1 item"],
  ],
  [
    "a wrong entry",
    { type: "object", additionalProperties: TEXT },
    { "a.b": 1 },
    ['spec.f.a.b: Invalid value: "integer": spec.f.a.b in body must be of type string: "integer"'],
  ],
  ["a missing field", { type: "object", required: ["x"] }, {}, ["spec.f.x: Required value"]],
  [
    "a repeated item of a set",
    { type: "array", items: TEXT, "x-kubernetes-list-type": "set" },
    ["a", "a", "a"],
    ['spec.f[1]: Duplicate value: "a"'],
  ],
  [
    "a repeated key",
    {
      type: "array",
      items: { type: "object", properties: { k: TEXT } },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    },
    [{ k: "a" }, { k: "a" }],
    ['spec.f[1]: Duplicate value: {"k":"a"}'],
  ],
  [
    "an embedded resource without a kind",
    { type: "object", "x-kubernetes-embedded-resource": true },
    { apiVersion: "v1" },
    ["spec.f.kind: Required value"],
  ],
  [
    "none of oneOf",
    { type: "object", properties: { x: TEXT }, oneOf: [{ required: ["x"] }] },
    {},
    [
      '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid',
      "spec.f.x: Required value",
    ],
  ],
  [
    "two of oneOf",
    { type: "object", oneOf: [{ minProperties: 0 }, { minProperties: 0 }] },
    {},
    [
      '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    "not",
    { type: "object", not: { minProperties: 0 } },
    {},
    ['<nil>: Invalid value: "": "spec.f" must not validate the schema (not)'],
  ],
  [
    "allOf",
    { ...TEXT, allOf: [{ minLength: 2 }, { maxLength: 5 }] },
    "a",
    [
      'spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long',
      '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf)',
    ],
  ],
  [
    "a format",
    { ...TEXT, format: "date-time" },
    "nope",
    ['spec.f: Invalid value: "nope": spec.f in body must be of type date-time: "nope"'],
  ],
  [
    "a number for a format",
    { ...TEXT, format: "date-time" },
    1,
    ['spec.f: Invalid value: "int64": spec.f in body must be of type date-time: "int64"'],
  ],
  ["an unknown format", { ...TEXT, format: "nope" }, "x", []],
])("%s", (_what, schema, value, expected) => {
  expect(faults(schema, value)).toEqual(expected);
});

test("what was wrong before an update and did not change is let pass", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      a: { ...TEXT, maxLength: 1 },
      list: { type: "array", items: { ...TEXT, maxLength: 1 } },
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        items: { type: "object", properties: { k: TEXT, v: { ...TEXT, maxLength: 1 } } },
      },
    },
  };
  const old = { a: "long", list: ["long", "b"], ports: [{ k: "x", v: "long" }] };
  expect(faults(schema, { ...old, b: 1 }, old)).toEqual([]);
  expect(faults(schema, { ...old, a: "other" }, old)).toEqual([
    "spec.f.a: Too long: may not be more than 1 byte",
  ]);
  expect(faults(schema, { ...old, list: ["long", "c"] }, old)).toEqual([
    "spec.f.list[0]: Too long: may not be more than 1 byte",
  ]);
  const moved = [
    { k: "y", v: "v" },
    { k: "x", v: "long" },
  ];
  expect(faults(schema, { ...old, ports: moved }, old)).toEqual([]);
});

const TREE: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        known: { type: "object", default: {}, properties: { deep: { ...TEXT, default: "d" } } },
        list: { type: "array", items: { type: "object", properties: { p: { ...TEXT, default: "TCP" } } } },
        free: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { known: { type: "object", properties: { q: TEXT } } },
        },
        embedded: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
        nullable: { ...TEXT, nullable: true },
        plain: TEXT,
        defaulted: { ...TEXT, default: "x" },
      },
    },
  },
};

test("more faults than the real server can list in its time are a timeout, as they are there", () => {
  const list: Schema = { type: "array", items: { type: "string" } };
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  expect(faults(list, numbers(10_000))).toHaveLength(10_000);
  const timeout = expect.objectContaining({ code: 504, reason: "Timeout" });
  expect(() => faults(list, numbers(500_000))).toThrow(timeout);
  expect(() => faults(list, numbers(500_000), ["fine"])).toThrow(timeout);
});

test("unknown fields are dropped and named; what is declared below a preserved object is pruned again", () => {
  const object: JsonObject = {
    apiVersion: "v1",
    kind: "T",
    metadata: { name: "x", bogus: 1, labels: {} },
    extra: 1,
    spec: {
      nope: 1,
      list: [{ p: "UDP" }, { q: 1 }],
      free: { any: { thing: 1 }, known: { q: "1", drop: 2 } },
      embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "y", bogus: 1 }, spec: {} },
      nullable: null,
      plain: null,
      defaulted: null,
    },
  };
  const schema = compile(TREE);
  expect(schema.prune(object)).toEqual([
    "metadata.bogus",
    "extra",
    "spec.free.known.drop",
    "spec.list[1].q",
    "spec.nope",
    "spec.embedded.metadata.bogus",
  ]);
  schema.applyDefaults(object);
  expect(object).toEqual({
    apiVersion: "v1",
    kind: "T",
    metadata: { name: "x" },
    spec: {
      list: [{ p: "UDP" }, { p: "TCP" }],
      free: { any: { thing: 1 }, known: { q: "1" } },
      embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "y" }, spec: {} },
      nullable: null,
      defaulted: "x",
      known: { deep: "d" },
    },
  });
});

test("metadata of the wrong type is a bad request", () => {
  const refused = (extra: JsonObject): (() => string[]) => {
    const object = { apiVersion: "example.com/v1", kind: "T", ...extra };
    return () => compile(TREE).prune(object);
  };
  const prefix = 'T in version "v1" cannot be handled as a T: ';
  expect(refused({ metadata: { labels: { a: 1 } } })).toThrow(
    `${prefix}json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`,
  );
  expect(refused({ metadata: { ownerReferences: [{ apiVersion: 1 }] } })).toThrow(
    `${prefix}json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.apiVersion of type string`,
  );
  expect(refused({ spec: { embedded: { apiVersion: "v1", kind: "P", metadata: "x" } } })).toThrow(
    `${prefix}spec.embedded.metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta`,
  );
});

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>(null, true, 0, 1.5, "", "x", 1e300),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        "spec",
        "metadata",
        "known",
        "deep",
        "list",
        "p",
        "free",
        "q",
        "embedded",
        "kind",
        "apiVersion",
        "plain",
        "__proto__",
        "name",
      ),
      tie("value"),
      { maxKeys: 6 },
    ),
  ),
})).value;

test("pruning and defaulting twice is the same as once, and nothing crashes on any object", () => {
  const schema = compile(TREE);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("spec", "kind", "x"), json), (object) => {
      const once = JSON.parse(JSON.stringify(object)) as JsonObject;
      try {
        schema.prune(once);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
        return;
      }
      schema.applyDefaults(once);
      schema.validate(matcher(), once);
      schema.validate(matcher(), once, object as JsonObject);
      const twice = JSON.parse(JSON.stringify(once)) as JsonObject;
      expect(schema.prune(twice)).toEqual([]);
      schema.applyDefaults(twice);
      expect(twice).toEqual(once);
      expect("polluted" in {}).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test("an object is let pass when it is compared with itself", () => {
  const schema = compile({ ...TREE, properties: { spec: { ...TREE.properties?.spec, required: ["zz"] } } });
  const object: JsonObject = { spec: { plain: 1, list: "no" } };
  expect(schema.validate(matcher(), object)).not.toEqual([]);
  expect(schema.validate(matcher(), object, clone(object))).toEqual([]);
});

test("unknown fields of built-in kinds are found in the order of the document; free-form objects have none", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      raw: { type: "object" },
      list: { type: "array", items: { type: "object", properties: { a: TEXT } } },
      map: { type: "object", additionalProperties: TEXT },
    },
  };
  const recursive: Schema = { type: "object", properties: {} };
  (recursive.properties as { [name: string]: Schema }).self = recursive;
  expect(
    findUnknownFields(schema, { z: 1, list: [{ a: "" }, { b: 1 }], raw: { anything: 1 }, map: { k: "" } }),
  ).toEqual(["z", "list[1].b"]);
  expect(findUnknownFields(recursive, { self: { self: { x: 1 } } })).toEqual(["self.self.x"]);
});
