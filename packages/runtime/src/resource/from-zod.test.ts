import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { structuralSchema } from "./from-zod.ts";
import {
  atomic,
  cel,
  duration,
  embeddedResource,
  immutable,
  intOrString,
  listMap,
  listSet,
  quantity,
} from "./index.ts";
import { specSamples } from "./random-schema.fixture.ts";
import { Problems } from "./refusal.ts";
import { fillDefaults, type StructuralSchema } from "./structural.ts";
import { checkStructure } from "./structural-rules.ts";

function schemaOf(schema: z.ZodType): StructuralSchema {
  const problems = new Problems();
  const node = structuralSchema(schema, "spec", problems);
  checkStructure(node, "spec", problems);
  expect(problems.list).toEqual([]);
  return node;
}

describe("scalars", () => {
  const expected: [string, z.ZodType, StructuralSchema][] = [
    ["a string", z.string(), { type: "string" }],
    ["a string with lengths", z.string().min(1).max(9), { type: "string", minLength: 1, maxLength: 9 }],
    ["a string of one length", z.string().length(4), { type: "string", minLength: 4, maxLength: 4 }],
    ["a pattern", z.string().regex(/^a+$/), { type: "string", pattern: "^a+$" }],
    ["a pattern with a flag", z.string().regex(/^a+$/i), { type: "string", pattern: "(?i)^a+$" }],
    [
      "two patterns",
      z.string().startsWith("a").regex(/b/),
      { type: "string", allOf: [{ pattern: "^a.*" }, { pattern: "b" }] },
    ],
    ["an e-mail address", z.email(), { type: "string", format: "email" }],
    ["a URL", z.url(), { type: "string", format: "uri" }],
    [
      "a URL of a protocol",
      z.url({ protocol: /^https$/ }),
      { type: "string", format: "uri", pattern: "^(?:https):" },
    ],
    ["a UUID", z.uuid(), { type: "string", format: "uuid" }],
    ["a timestamp", z.iso.datetime({ offset: true }), { type: "string", format: "date-time" }],
    ["a date", z.iso.date(), { type: "string", format: "date" }],
    ["an IPv4 address", z.ipv4(), { type: "string", format: "ipv4" }],
    ["an IPv6 address", z.ipv6(), { type: "string", format: "ipv6" }],
    ["a host name", z.hostname(), { type: "string", format: "hostname" }],
    [
      "a nullable enum",
      z.enum(["A", "B.b"]).nullable(),
      { type: "string", nullable: true, pattern: "^(?:A|B\\.b)$" },
    ],
    [
      "nullable numbers",
      z.literal([1, 2, null]),
      { type: "integer", nullable: true, anyOf: [1, 2].map((value) => ({ minimum: value, maximum: value })) },
    ],
    ["a phone number", z.e164(), { type: "string", pattern: "^\\+[1-9]\\d{6,14}$" }],
    ["a template", z.templateLiteral(["v", z.int()]), { type: "string", pattern: "^v-?\\d+$" }],
    ["an integer", z.int(), { type: "integer", format: "int64" }],
    ["an integer by check", z.number().int().min(3), { type: "integer", format: "int64", minimum: 3 }],
    ["an int32", z.int32(), { type: "integer", format: "int32" }],
    ["an int32 with bounds", z.int32().min(0), { type: "integer", format: "int32", minimum: 0 }],
    ["a uint32", z.uint32(), { type: "integer", format: "int64", minimum: 0, maximum: 4_294_967_295 }],
    ["a number", z.number(), { type: "number" }],
    ["a float", z.float32(), { type: "number", format: "float" }],
    ["a double", z.float64(), { type: "number", format: "double" }],
    [
      "exclusive bounds",
      z.number().gt(0).lt(1),
      { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
    ],
    [
      "a union of numbers",
      z.union([z.int32(), z.int().min(5)]),
      {
        type: "integer",
        anyOf: [{ minimum: -2147483648, maximum: 2147483647 }, { minimum: 5 }],
      },
    ],
    ["a multiple", z.int().multipleOf(5), { type: "integer", format: "int64", multipleOf: 5 }],
    ["a boolean", z.boolean(), { type: "boolean" }],
    ["an enum", z.enum(["A", "B"]), { type: "string", enum: ["A", "B"] }],
    ["a numeric enum", z.enum({ One: 1, Two: 2 }), { type: "integer", enum: [1, 2] }],
    ["a literal", z.literal("A"), { type: "string", enum: ["A"] }],
    ["a boolean literal", z.literal(true), { type: "boolean", enum: [true] }],
    ["an integer or a string", intOrString(), { "x-kubernetes-int-or-string": true }],
    ["anything", z.unknown(), { "x-kubernetes-preserve-unknown-fields": true }],
    ["a nullable", z.string().nullable(), { type: "string", nullable: true }],
    ["a union with null", z.union([z.string(), z.null()]), { type: "string", nullable: true }],
    ["a default", z.int32().default(3), { type: "integer", format: "int32", default: 3 }],
    ["a readonly", z.string().readonly(), { type: "string" }],
    ["a brand", z.string().brand("Id"), { type: "string" }],
    ["a lazy schema", z.lazy(() => z.string()), { type: "string" }],
    ["literals in a union", z.union([z.literal("A"), z.literal("B")]), { type: "string", enum: ["A", "B"] }],
    [
      "formats in a union",
      z.union([z.ipv4(), z.ipv6()]),
      { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
    ],
    [
      "an integer with bounds or a string with a pattern",
      z.union([z.int().min(1), z.string().regex(/%$/)]),
      { "x-kubernetes-int-or-string": true, minimum: 1, pattern: "%$" },
    ],
  ];
  test.each(expected)("%s", (_name, schema, node) => {
    expect(schemaOf(schema)).toEqual(node);
  });

  test("a quantity and a duration are recognized by their patterns", () => {
    expect(schemaOf(quantity())["x-kubernetes-int-or-string"]).toBe(true);
    for (const good of ["1", "500m", "1.5Gi", ".5", "2e3", "-1", 7])
      expect(quantity().safeParse(good).success).toBe(true);
    for (const bad of ["", "Gi", "1 Gi", "1GiB", "five"])
      expect(quantity().safeParse(bad).success).toBe(false);
    for (const good of ["30s", "1h30m", "1.5h", "250ms"])
      expect(duration().safeParse(good).success).toBe(true);
    for (const bad of ["", "30", "1 hour", "h"]) expect(duration().safeParse(bad).success).toBe(false);
  });
});

describe("objects, lists and maps", () => {
  test("fields are required unless optional or defaulted", () => {
    expect(
      schemaOf(z.object({ a: z.string(), b: z.string().optional(), c: z.int().default(1) })).required,
    ).toEqual(["a"]);
    expect(schemaOf(z.object({ a: z.string() }).partial()).required).toBeUndefined();
  });

  test("descriptions survive wrappers, and the outermost wins", () => {
    const node = schemaOf(
      z.object({
        a: z.string().describe("inner").optional(),
        b: z.string().describe("inner").optional().describe("outer"),
      }),
    );
    expect(node.properties?.a?.description).toBe("inner");
    expect(node.properties?.b?.description).toBe("outer");
  });

  test("a loose object keeps unknown fields, a strict one is an object like any", () => {
    expect(schemaOf(z.looseObject({ a: z.string() }))).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      "x-kubernetes-preserve-unknown-fields": true,
    });
    expect(schemaOf(z.strictObject({}))).toEqual({ type: "object" });
  });

  test("a record is a map; one over an enum has its keys as fields", () => {
    expect(schemaOf(z.record(z.string(), z.int32()))).toEqual({
      type: "object",
      additionalProperties: { type: "integer", format: "int32" },
    });
    expect(schemaOf(z.record(z.enum(["a", "b"]), z.string())).required).toEqual(["a", "b"]);
    expect(schemaOf(z.partialRecord(z.enum(["a", "b"]), z.string())).required).toBeUndefined();
  });

  test("objects of an intersection are merged", () => {
    expect(
      schemaOf(z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() }))).required,
    ).toEqual(["a", "b"]);
  });

  test("lists carry their lengths and types", () => {
    expect(schemaOf(z.array(z.string()).min(1).max(3).check(listSet()))).toEqual({
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: 3,
      "x-kubernetes-list-type": "set",
    });
    const map = schemaOf(
      z.array(z.object({ name: z.string(), port: z.int().default(80) })).check(listMap("name", "port")),
    );
    expect(map["x-kubernetes-list-map-keys"]).toEqual(["name", "port"]);
    expect(schemaOf(z.array(z.string()).check(atomic()))["x-kubernetes-list-type"]).toBe("atomic");
    expect(schemaOf(z.object({}).check(atomic()))["x-kubernetes-map-type"]).toBe("atomic");
  });

  test("an embedded resource keeps its fields", () => {
    expect(schemaOf(embeddedResource())).toMatchObject({
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    });
  });

  test("keywords of Kubernetes may be given as metadata; what is meant for others is left out", () => {
    const schema = z
      .array(z.string())
      .meta({ "x-kubernetes-list-type": "set", id: "names", examples: [["a"]] });
    expect(schemaOf(schema)).toEqual({
      type: "array",
      items: { type: "string" },
      "x-kubernetes-list-type": "set",
    });
  });

  test("a prefaulted object is defaulted and so are its fields", () => {
    const schema = z.object({ probe: z.object({ path: z.string().default("/") }).prefault({}) });
    const node = schemaOf(schema);
    expect(node.properties?.probe?.default).toEqual({});
    expect(fillDefaults({}, node)).toEqual(schema.parse({}));
  });
});

describe("rules", () => {
  test("a rule goes to the field it is put on, in order, before and after wrappers", () => {
    const node = schemaOf(
      z
        .object({ min: z.int(), max: z.int(), "my-field": z.string().optional() })
        .check(
          cel("self.min <= self.max", { message: "too small", fieldPath: ".min" }),
          cel("has(self.my__dash__field)"),
        )
        .optional()
        .check(immutable()),
    );
    expect(node["x-kubernetes-validations"]).toEqual([
      { rule: "self.min <= self.max", message: "too small", fieldPath: ".min" },
      { rule: "has(self.my__dash__field)" },
      { rule: "self == oldSelf", message: "cannot be changed once set" },
    ]);
  });

  test("zod lets values pass that only the server can judge", () => {
    expect(z.int().check(cel("self > 5")).parse(1)).toBe(1);
  });

  test("the arms of a union are distinguished by rules that name the field", () => {
    const node = schemaOf(
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("git"), git: z.object({ url: z.url() }), note: z.string().optional() }),
        z.object({ type: z.enum(["oci", "docker"]), namespace: z.string(), note: z.string().optional() }),
      ]),
    );
    expect(Object.keys(node.properties ?? {})).toEqual(["type", "git", "note", "namespace"]);
    expect(node.properties?.type).toEqual({ type: "string", enum: ["git", "oci", "docker"] });
    expect(node.required).toEqual(["type"]);
    expect(node["x-kubernetes-validations"]?.map(({ rule, message }) => [rule, message])).toEqual([
      ['!(self.type == "git") || has(self.git)', "is required when type is git"],
      ['!has(self.git) || self.type == "git"', "may only be set when type is git"],
      [
        '!(self.type == "oci" || self.type == "docker") || has(self.__namespace__)',
        "is required when type is oci or docker",
      ],
      [
        '!has(self.__namespace__) || self.type == "oci" || self.type == "docker"',
        "may only be set when type is oci or docker",
      ],
    ]);
  });
});

/** Kubernetes' rules for a structural schema, written down a second time. */
function faults(node: StructuralSchema, path = "$"): string[] {
  const found: string[] = [];
  const free =
    node["x-kubernetes-int-or-string"] === true || node["x-kubernetes-preserve-unknown-fields"] === true;
  if (node.type === undefined && !free) found.push(`${path} has no type`);
  if (node.properties !== undefined && node.additionalProperties !== undefined)
    found.push(`${path} has both kinds of fields`);
  if ((node.type === "array") !== (node.items !== undefined))
    found.push(`${path} has items and is no array, or the reverse`);
  for (const name of node.required ?? []) {
    if (node.properties?.[name] === undefined) found.push(`${path} requires ${name}, which it lacks`);
    if (node.properties?.[name]?.default !== undefined)
      found.push(`${path} requires ${name}, which has a default`);
  }
  for (const arm of [...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])]) {
    for (const keyword of [
      "type",
      "default",
      "description",
      "nullable",
      "additionalProperties",
      "x-kubernetes-validations",
    ]) {
      if (keyword in arm) found.push(`${path} has ${keyword} in a branch`);
    }
  }
  const children = { ...node.properties, "*": node.additionalProperties, "[]": node.items };
  for (const [name, child] of Object.entries(children)) {
    if (child !== undefined) found.push(...faults(child, `${path}.${name}`));
  }
  return found;
}

test("whatever is built from supported parts is structural", () => {
  fc.assert(
    fc.property(specSamples, ({ schema }) => {
      const node = schemaOf(schema);
      expect(faults(node)).toEqual([]);
      expect(JSON.parse(JSON.stringify(node))).toEqual(node);
    }),
  );
});

test("the server's defaults and zod's give the same object", () => {
  const pair = specSamples.chain(({ schema, input }) => input.map((value) => ({ schema, value })));
  fc.assert(
    fc.property(pair, ({ schema, value }) => {
      expect(fillDefaults(value, schemaOf(schema))).toEqual(schema.parse(value));
    }),
  );
});
