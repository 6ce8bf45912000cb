import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  cel,
  defineResource,
  immutable,
  intOrString,
  listMap,
  listSet,
  type Problem,
  type ResourceDefinition,
  ResourceDefinitionError,
} from "./index.ts";
import { beyondRe2 } from "./pattern.ts";

function problemsOf(definition: Partial<ResourceDefinition>): readonly Problem[] {
  const whole: ResourceDefinition = {
    group: "example.com",
    version: "v1",
    kind: "Thing",
    spec: z.object({}),
    ...definition,
  };
  try {
    defineResource(whole).crd();
  } catch (error) {
    if (error instanceof ResourceDefinitionError) return error.problems;
    throw error;
  }
  return [];
}

function expectRefused(definition: Partial<ResourceDefinition>, path: string, message: string): void {
  expect(problemsOf(definition)).toContainEqual({ path, message: expect.stringContaining(message) });
}

interface Node {
  readonly value: string;
  readonly children: Node[];
}
const recursive: z.ZodType<Node> = z.object({
  value: z.string(),
  children: z.array(z.lazy(() => recursive)),
});

describe("fields that have no structural form", () => {
  const cases: [string, z.ZodType, string, string?][] = [
    ["a date", z.date(), "z.iso.datetime"],
    ["a bigint", z.bigint(), "z.int()"],
    ["a map", z.map(z.string(), z.string()), "z.record"],
    ["a set", z.set(z.string()), "listSet()"],
    ["a tuple", z.tuple([z.string(), z.int()]), "one type of item"],
    ["a symbol", z.symbol(), "z.enum"],
    ["NaN", z.nan(), "z.number()"],
    ["a step that is no whole number", z.number().multipleOf(0.5), "smaller unit"],
    ["a function", z.custom<() => void>(), "cel("],
    ["only null", z.null(), ".nullable()"],
    ["never", z.never(), "leave it out"],
    ["undefined", z.undefined(), "leave it out"],
    ["a transform", z.string().transform((text) => text.length), "runs no transform"],
    ["a preprocess", z.preprocess((value) => value, z.string()), "runs no transform"],
    ["a codec", z.stringbool(), "runs no transform"],
    ["a coercion", z.coerce.number(), "does not coerce"],
    ["a catch", z.string().catch("x"), ".default("],
    ["a refinement", z.string().refine((text) => text !== "x"), "cel("],
    ["a trimmed string", z.string().trim(), "stores what was written"],
    ["a recursive schema", recursive, "contains itself", "spec.field.children[]"],
    ["JSON", z.json(), "contains itself", "spec.field[]"],
    [
      "a union of objects",
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      "z.discriminatedUnion",
    ],
    ["a union of a list and a string", z.union([z.string(), z.array(z.string())]), "has one type"],
    ["a number or a string", z.union([z.number(), z.string()]), "not number or string"],
    ["a boolean or a string", z.union([z.boolean(), z.string()]), "not boolean or string"],
    ["values of several types", z.literal(["a", 1]), "all be strings"],
    [
      "a union member with a default",
      z.union([z.ipv4().default("1.1.1.1"), z.ipv6()]),
      "put it on the union",
    ],
    ["an intersection of scalars", z.intersection(z.string(), z.string()), "only objects"],
    [
      "an intersection that contradicts itself",
      z.intersection(z.object({ a: z.string() }), z.object({ a: z.int() })),
      "define it once",
      "spec.field.a",
    ],
    ["fields of both kinds", z.object({ a: z.string() }).catchall(z.int()), "not both"],
    ["a map with constrained keys", z.record(z.string().min(3), z.string()), "keys of a map"],
    ["a map with keys of a format", z.record(z.uuid(), z.string()), "keys of a map"],
    ["look-ahead", z.string().regex(/(?=a)b/), "look-around"],
    ["a format without a pattern", z.jwt(), "format jwt"],
    ["a host of a URL", z.url({ hostname: /^example\.com$/ }), "host of a URL"],
    ["an ISO duration", z.iso.duration(), "look-around"],
    ["uniqueItems", z.array(z.string()).meta({ uniqueItems: true }), "listSet()"],
    [
      "a keyword that Kubernetes does not have",
      z.string().meta({ "x-kubernetes-magic": true }),
      "x-kubernetes-magic",
    ],
  ];
  test.each(cases)("%s", (_name, schema, message, path = "spec.field") => {
    expectRefused({ spec: z.object({ field: schema }) }, path, message);
  });
});

describe("defaults", () => {
  const cases: [string, z.ZodType, string, string?][] = [
    ["that do not fit", z.int().max(3).default(9), "does not fit"],
    [
      "that lack a required field",
      z.object({ a: z.string() }).prefault({} as { a: string }),
      "does not fit",
      "spec.field.a",
    ],
    [
      "with unknown fields",
      z.object({ a: z.string() }).default({ a: "", b: 1 } as { a: string }),
      "does not have",
      "spec.field.b",
    ],
    ["of null", z.string().nullable().default(null), ".nullish()"],
    ["that are no JSON", z.unknown().default(() => 1n), "not JSON"],
    ["that change", z.string().default(() => crypto.randomUUID()), "one constant value"],
    [
      "in one arm of a union",
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("a"), n: z.int().default(1) }),
        z.object({ type: z.literal("b") }),
      ]),
      "filled in for all",
      "spec.field.n",
    ],
  ];
  test.each(cases)("%s", (_name, schema, message, path = "spec.field") => {
    expectRefused({ spec: z.object({ field: schema }) }, path, message);
  });
});

describe("discriminated unions", () => {
  const a = z.object({ type: z.literal("a"), x: z.string() });
  const cases: [string, z.ZodType, string, string?][] = [
    [
      "with one field of two schemas",
      z.discriminatedUnion("type", [a, z.object({ type: z.literal("b"), x: z.int() })]),
      "different schemas",
      "spec.field.x",
    ],
    [
      "with unknown fields",
      z.discriminatedUnion("type", [a, z.looseObject({ type: z.literal("b") })]),
      "keep unknown fields",
    ],
    [
      "with a rule on an arm",
      z.discriminatedUnion("type", [a.check(cel("self.x != ''")), z.object({ type: z.literal("b") })]),
      "rule of its own",
    ],
  ];
  test.each(cases)("%s", (_name, schema, message, path = "spec.field") => {
    expectRefused({ spec: z.object({ field: schema }) }, path, message);
  });
});

describe("list types", () => {
  const item = z.object({
    name: z.string(),
    nick: z.string().optional(),
    list: z.array(z.string()),
    maybe: z.string().nullable(),
  });
  const cases: [string, z.ZodType, string, string?][] = [
    ["a set of objects", z.array(item).check(listSet()), "must be scalars"],
    ["a set of nullables", z.array(z.string().nullable()).check(listSet()), "must not be nullable"],
    ["a map of scalars", z.array(z.string()).check(listMap("name")), "must be objects"],
    ["a map of nullables", z.array(item.nullable()).check(listMap("name")), "must not be nullable"],
    ["a key that is no field", z.array(item).check(listMap("id")), "not a field", "spec.field[].id"],
    [
      "a key that is optional",
      z.array(item).check(listMap("nick")),
      "required or have a default",
      "spec.field[].nick",
    ],
    ["a key that is a list", z.array(item).check(listMap("list")), "a string, a number", "spec.field[].list"],
    [
      "a key that is nullable",
      z.array(item).check(listMap("maybe")),
      "must not be nullable",
      "spec.field[].maybe",
    ],
    ["a key given twice", z.array(item).check(listMap("name", "name")), "twice", "spec.field[].name"],
    ["a list type on an object", z.object({}).meta({ "x-kubernetes-list-type": "atomic" }), "only a list"],
    [
      "keys without a map",
      z.array(item).meta({ "x-kubernetes-list-map-keys": ["name"] }),
      "need the list type map",
    ],
    [
      "a map type on a list",
      z.array(z.string()).meta({ "x-kubernetes-map-type": "atomic" }),
      "only an object",
    ],
    [
      "an embedded resource without fields",
      z.object({}).meta({ "x-kubernetes-embedded-resource": true }),
      "needs fields",
    ],
    [
      "an embedded resource that is a string",
      z.string().meta({ "x-kubernetes-embedded-resource": true }),
      "only an object",
    ],
  ];
  test.each(cases)("%s", (_name, schema, message, path = "spec.field") => {
    expectRefused({ spec: z.object({ field: schema }) }, path, message);
  });
});

describe("rules", () => {
  const target = z.object({
    min: z.int(),
    max: z.int(),
    tags: z.array(z.string()),
    labels: z.record(z.string(), z.string()),
  });
  const refused: [string, string][] = [
    ["self.mix <= self.max", "uses self.mix"],
    ["self.min.low > 1", "uses self.min.low"],
    ["has(self.tags.first)", "uses self.tags.first"],
    ["oldSelf.mix == 1", "uses oldSelf.mix"],
    ["(self.min < self.max", "a ( without"],
    ["self.min < self.max]", "a ] without"],
    ["self.tags[0] == 'x", "does not end"],
    ["  ", "must not be empty"],
    ["true\n&& true", "needs a message"],
  ];
  test.each(refused)("%s", (rule, message) => {
    expectRefused({ spec: z.object({ field: target.check(cel(rule)) }) }, "spec.field", message);
  });

  const accepted = [
    "self.min <= self.max && self.tags.all(tag, tag.startsWith('self.none'))",
    "self.labels.any != ''",
    "self.?min.orValue(1) > 0",
    'self.tags.exists(t, t == "it\'s")',
    "oldSelf.min <= self.min",
    "size(self.tags) > 0 && self.labels['a.b'] == r'\\d'",
  ];
  test.each(accepted)("%s passes", (rule) => {
    expect(problemsOf({ spec: z.object({ field: target.check(cel(rule)) }) })).toEqual([]);
  });

  const options: [string, Parameters<typeof cel>[1], string][] = [
    ["a blank message", " ", "one line that is not blank"],
    ["a message of two lines", "a\nb", "one line"],
    ["a field that is not there", { fieldPath: ".mix" }, "is not a field"],
    ["a field in a list", { fieldPath: ".tags[0]" }, "into a list"],
    [
      "a message about a field that is not there",
      { messageExpression: "'got ' + self.mix" },
      "uses self.mix",
    ],
    ["optionalOldSelf without oldSelf", { optionalOldSelf: true }, "does not use oldSelf"],
    ["a custom reason", { reason: "Because" as "FieldValueInvalid" }, "must be one of"],
  ];
  test.each(options)("%s", (_name, given, message) => {
    expectRefused({ spec: z.object({ field: target.check(cel("true", given)) }) }, "spec.field", message);
  });

  test("old values cannot be compared inside a list that is no map", () => {
    const item = z.object({ name: z.string(), size: z.int().check(immutable()) });
    expectRefused({ spec: z.object({ list: z.array(item) }) }, "spec.list[].size", "listMap(");
    expect(problemsOf({ spec: z.object({ list: z.array(item).check(listMap("name")) }) })).toEqual([]);
  });

  test("comparing long strings in a long list costs too much", () => {
    const list = (most: number, longest: number) =>
      z
        .array(z.object({ name: z.string(), value: z.string().max(longest).check(immutable()) }))
        .max(most)
        .check(listMap("name"));
    expectRefused({ spec: z.object({ list: list(1_000_000, 63) }) }, "spec.list[].value", "costs more");
    expect(problemsOf({ spec: z.object({ list: list(100, 63) }) })).toEqual([]);
  });

  test("comparing long strings by any rule, and long lists, costs too much where there may be many of them", () => {
    const values = (value: z.ZodType) => ({ spec: z.object({ map: z.record(z.string(), value) }) });
    const changing = cel("self != oldSelf || true");
    expectRefused(values(z.string().check(changing)), "spec.map.*", "costs more");
    expectRefused(values(z.array(z.string()).max(1000).check(changing)), "spec.map.*", "costs more");
    expectRefused(values(intOrString().check(changing)), "spec.map.*", "costs more");
    expectRefused(values(z.string().max(18).check(changing)), "spec.map.*", "costs more");
    expect(problemsOf(values(z.string().max(17).check(changing)))).toEqual([]);
    expect(problemsOf(values(z.iso.date().check(changing)))).toEqual([]);
    expect(problemsOf(values(z.enum(["a", "b"]).check(changing)))).toEqual([]);
  });

  test("the more an item must hold, the fewer there can be: what the server would take is not refused", () => {
    const name = "a-field-whose-name-alone-is-long-enough-to-make-the-items-few";
    const item = z
      .object({ key: z.string(), value: z.string().max(60), [name]: z.string() })
      .check(cel("self.value == oldSelf.value"));
    expect(problemsOf({ spec: z.object({ list: z.array(item).check(listMap("key")) }) })).toEqual([]);
  });

  test("a field whose values may be anything is one that no rule sees", () => {
    expectRefused(
      { spec: z.object({ any: z.unknown() }).check(cel("has(self.any)")) },
      "spec",
      "whose values may be of any type",
    );
    expectRefused(
      { spec: z.object({ list: z.array(z.unknown()).check(cel("self.size() < 3")) }) },
      "spec.list",
      "cannot see into",
    );
    const arm = z.object({ type: z.literal("a"), any: z.record(z.string(), z.unknown()) });
    expectRefused(
      { spec: z.object({ field: z.discriminatedUnion("type", [arm, z.object({ type: z.literal("b") })]) }) },
      "spec.field.any",
      "must have a type",
    );
  });

  test("a rule on a value of any type is refused", () => {
    expectRefused(
      { spec: z.object({ field: z.unknown().check(cel("true")) }) },
      "spec.field",
      "give the field a type",
    );
  });

  test("rules on the whole object see of the metadata only the name", () => {
    expect(problemsOf({ validations: [{ rule: "self.metadata.name.size() < 63" }] })).toEqual([]);
    expectRefused(
      { validations: [{ rule: "self.metadata.labels.size() < 63" }] },
      "validations",
      "self.metadata.labels",
    );
  });
});

describe("names", () => {
  const cases: [Partial<ResourceDefinition>, string, string][] = [
    [{ group: "example" }, "group", "with a dot"],
    [{ group: "Example.com" }, "group", "with a dot"],
    [{ group: "apps.k8s.io" }, "group", "belongs to Kubernetes"],
    [{ version: "V1" }, "version", "lower-case"],
    [{ kind: "web_app", plural: "webapps", singular: "webapp" }, "kind", "CamelCase"],
    [{ plural: "Webapps" }, "plural", "lower-case"],
    [{ plural: "1things" }, "plural", "start with a letter"],
    [{ singular: "a".repeat(64) }, "singular", "63"],
    [{ shortNames: ["t", "t"] }, "shortNames[1]", "twice"],
    [{ shortNames: ["things"] }, "shortNames[0]", "own name"],
    [{ shortNames: ["T"] }, "shortNames[0]", "lower-case"],
    [{ categories: ["All"] }, "categories[0]", "lower-case"],
    [{ deprecated: "two\nlines" }, "deprecated", "one line"],
  ];
  test.each(cases)("%o", (definition, path, message) => {
    expectRefused(definition, path, message);
  });
});

describe("columns, scale and selectable fields", () => {
  const spec = z.object({
    replicas: z.int(),
    host: z.string(),
    ratio: z.number(),
    tags: z.array(z.string()),
    any: z.looseObject({}),
  });
  const status = z.object({ replicas: z.int().optional(), selector: z.string().optional() });
  const column = (jsonPath: string) => ({ spec, status, printerColumns: [{ name: "A", jsonPath }] });
  const select = (...selectableFields: string[]) => ({ spec, status, selectableFields });
  const cases: [string, Partial<ResourceDefinition>, string, string][] = [
    ["a path without a dot", column("spec.host"), "printerColumns[0].jsonPath", "start with a dot"],
    ["a path in braces", column("{.spec.host}"), "printerColumns[0].jsonPath", "start with a dot"],
    [
      "a path that does not close",
      column(".status.conditions[?(@.type"),
      "printerColumns[0].jsonPath",
      "not a JSONPath",
    ],
    ["a path that leads nowhere", column(".spec.hots"), "printerColumns[0].jsonPath", "no .spec.hots"],
    [
      "a column without a name",
      { printerColumns: [{ name: "", jsonPath: ".kind" }] },
      "printerColumns[0].name",
      "empty",
    ],
    [
      "a column of an unknown format",
      { printerColumns: [{ name: "A", jsonPath: ".kind", format: "x" }] },
      "printerColumns[0].format",
      "one of",
    ],
    ["a selectable list", select(".spec.tags"), "selectableFields[0]", "a string, a boolean or an integer"],
    [
      "a selectable number",
      select(".spec.ratio"),
      "selectableFields[0]",
      "a string, a boolean or an integer",
    ],
    ["a selectable item", select(".spec.tags[0]"), "selectableFields[0]", "joined by dots"],
    ["a selectable that is not there", select(".spec.nope"), "selectableFields[0]", "leads nowhere"],
    ["a selectable in unknown fields", select(".spec.any.x"), "selectableFields[0]", "leads nowhere"],
    ["a selectable name", select(".kind"), "selectableFields[0]", "only fields of spec and status"],
    ["a selectable twice", select(".spec.host", ".spec.host"), "selectableFields[1]", "twice"],
    [
      "nine selectables",
      select(..."abcdefghi".split("").map((name) => `.spec.${name}`)),
      "selectableFields",
      "at most 8",
    ],
    [
      "scaling a status",
      { spec, status, scale: { specReplicasPath: ".status.replicas" } },
      "scale.specReplicasPath",
      "under .spec.",
    ],
    [
      "scaling a string",
      { spec, status, scale: { specReplicasPath: ".spec.host" } },
      "scale.specReplicasPath",
      "type integer",
    ],
    ["scaling without a status", { spec, scale: {} }, "scale.statusReplicasPath", "leads nowhere"],
    [
      "a selector that is a number",
      { spec, status, scale: { labelSelectorPath: ".status.replicas" } },
      "scale.labelSelectorPath",
      "type string",
    ],
    ["a status that is no object", { status: z.string() }, "status", "must be an object"],
    ["a status with a default", { status: z.object({}).default({}) }, "status", "never defaulted"],
    ["a spec that is no object", { spec: z.string() }, "spec", "must be an object"],
  ];
  test.each(cases)("%s", (_name, definition, path, message) => {
    expectRefused(definition, path, message);
  });

  test("paths into conditions, metadata and unknown fields are fine", () => {
    const paths = [
      ".status.conditions[?(@.type=='Ready')].status",
      ".metadata.creationTimestamp",
      ".spec.any.x",
      ".spec.tags[0]",
      ".metadata.labels['a.b/c']",
    ];
    expect(paths.flatMap((path) => problemsOf(column(path)))).toEqual([]);
  });
});

test("every problem is reported at once, each on a line that names kind and field", () => {
  const spec = z.object({ a: z.date(), b: z.object({ c: z.bigint() }) });
  const Thing = defineResource({ group: "example.com", version: "v1", kind: "Thing", spec });
  expect(() => Thing.crd()).toThrow(
    "Thing (example.com/v1): spec.a: JSON has no dates; use z.iso.datetime({ offset: true })\n" +
      "Thing (example.com/v1): spec.b.c: JSON has no bigint; use z.int()",
  );
});

describe("patterns", () => {
  test.each([
    ["(?<!a)b", "look-around"],
    ["(a)\\1", "a back-reference"],
    ["(?<n>a)\\k<n>", "a back-reference"],
    ["\\u0041", "the escape \\u"],
    ["[\\b]", "the escape \\b"],
    ["[^]", "an empty character class"],
    ["[[:alpha:]]", "a POSIX class"],
    ["a{1001}", "a repetition of more than 1000"],
    ["(a{100}){100}", "a repetition of more than 1000"],
    ["\\p{Emoji}", "the Unicode property Emoji"],
  ])("%s is beyond RE2", (pattern, fault) => {
    expect(beyondRe2(pattern)).toBe(fault);
  });

  test.each([
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "\\(\\?=",
    "[(?=]",
    "(?<name>a)",
    "a{3,}b{1000}",
    "\\p{L}\\d\\b",
    "(a{10}){100}",
  ])("%s is fine", (pattern) => {
    expect(beyondRe2(pattern)).toBeUndefined();
  });

  test("any text is judged without failing", () => {
    fc.assert(fc.property(fc.string(), (text) => ["string", "undefined"].includes(typeof beyondRe2(text))));
  });
});

test("any rule and any path are judged without failing", () => {
  const spec = z.object({ a: z.object({ b: z.string() }) });
  const tokens = fc.constantFrom(
    "self",
    "oldSelf",
    ".a",
    ".b",
    "?",
    "[",
    "]",
    "(",
    ")",
    "'",
    '"',
    " ",
    "\\",
    "r'",
    "'''",
    "__dot__",
    "\n",
    "0",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(tokens).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (code) => {
      problemsOf({ spec: spec.check(cel(code, { message: code, fieldPath: code })) });
      problemsOf({ spec, printerColumns: [{ name: "A", jsonPath: code }], selectableFields: [code] });
    }),
  );
});
