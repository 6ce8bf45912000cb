import fc from "fast-check";
import { expect, test } from "vitest";
import { clone, type Json, type JsonObject } from "../json.ts";
import { matcher } from "../patterns/patterns.fixture.ts";
import { finishNow } from "../steps.ts";
import { defaultCrd, initialCrdStatus, storedVersionsAfter } from "./defaults.ts";
import { prepareCrd } from "./rule-review.ts";
import { validateCrd } from "./validate.ts";

const SPEC = {
  group: "example.com",
  scope: "Namespaced",
  names: { plural: "things", kind: "Thing" },
  versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
};

function crd(spec: JsonObject = {}): JsonObject {
  const object: JsonObject = {
    metadata: { name: "things.example.com" },
    spec: { ...clone(SPEC as JsonObject), ...spec },
  };
  defaultCrd(object);
  object.status = initialCrdStatus(object);
  return object;
}

function withSchema(schema: Json): JsonObject {
  return crd({
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  });
}

async function faults(object: JsonObject, old?: JsonObject): Promise<string[]> {
  await prepareCrd(object);
  return finishNow(validateCrd(matcher(), object, old)).map(({ field, message }) => `${field}: ${message}`);
}

const field = (schema: Json): JsonObject => withSchema({ type: "object", properties: { a: schema } });
const AT = "spec.validation.openAPIV3Schema";

test("names, list kind and conversion are filled in", () => {
  const object = crd();
  expect(object.spec).toMatchObject({
    names: { plural: "things", kind: "Thing", singular: "thing", listKind: "ThingList" },
    conversion: { strategy: "None" },
  });
  expect(object.status).toEqual({
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: ["v1"],
  });
});

test("a sound definition has no faults", async () => {
  expect(await faults(crd())).toEqual([]);
});

test.each<[string, JsonObject, string[]]>([
  [
    "a name that is not plural.group",
    { ...crd(), metadata: { name: "x.example.com" } },
    ['metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  [
    "a group without a dot",
    { ...crd({ group: "x" }), metadata: { name: "things.x" } },
    ['spec.group: Invalid value: "x": should be a domain with at least one dot'],
  ],
  [
    "an unknown scope",
    crd({ scope: "World" }),
    ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
  ],
  [
    "no schema",
    crd({ versions: [{ name: "v1", served: true, storage: true }] }),
    ["spec.versions[0].schema.openAPIV3Schema: Required value"],
  ],
  [
    "preserveUnknownFields",
    crd({ preserveUnknownFields: true }),
    [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "a protected group",
    { ...crd({ group: "x.k8s.io" }), metadata: { name: "things.x.k8s.io" } },
    [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  ],
  [
    "a node without a type",
    field({ properties: { b: { type: "string" } } }),
    [`${AT}.properties[a].type: Required value: must not be empty for specified object fields`],
  ],
  [
    "constraints on metadata",
    withSchema({
      type: "object",
      properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
    }),
    [
      `${AT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  ],
  [
    "a type inside anyOf",
    field({ type: "object", anyOf: [{ type: "object" }] }),
    [`${AT}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  ],
  [
    "a constraint on an undeclared field",
    withSchema({ type: "object", oneOf: [{ properties: { b: { minLength: 1 } } }] }),
    [`${AT}.properties[b]: Required value: because it is defined in ${AT}.oneOf[0].properties[b]`],
  ],
  [
    "a default of the wrong type",
    field({ type: "string", default: 1 }),
    [`${AT}.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"`],
  ],
  [
    "a default that would be pruned",
    field({ type: "object", default: { b: 1 } }),
    [`${AT}.properties[a].default: Invalid value: {"b":1}: must not have unknown fields`],
  ],
  [
    "a default that its rule refuses",
    field({ type: "string", default: "b", "x-kubernetes-validations": [{ rule: "self == 'a'" }] }),
    [`${AT}.properties[a].default: Invalid value: "b": failed rule: self == 'a'`],
  ],
  [
    "look-around",
    field({ type: "string", pattern: "(?=a)" }),
    [
      `${AT}.properties[a].pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
    ],
  ],
  [
    "uniqueItems",
    field({ type: "array", uniqueItems: true, items: { type: "string" } }),
    [
      `${AT}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  ],
  [
    "a map-list without keys",
    field({ type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } }),
    [
      `${AT}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
  ],
  [
    "a rule that does not compile",
    field({ type: "string", "x-kubernetes-validations": [{ rule: "self.foo == 1" }] }),
    [
      `${AT}.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.foo == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: type 'string' does not support field selection\n | self.foo == 1\n | ....^`,
    ],
  ],
  [
    "oldSelf where items cannot be distinguished",
    field({
      type: "array",
      items: { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    }),
    [
      `${AT}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${AT}.properties[a]`,
    ],
  ],
])("%s is refused", async (_what, object, expected) => {
  expect(await faults(object)).toEqual(expected);
});

test("a rule that may cost too much is refused, and accepted once its lists are bounded", async () => {
  const nested = (bounds: JsonObject, text: JsonObject): JsonObject =>
    field({
      type: "array",
      ...bounds,
      items: { type: "string", ...text },
      "x-kubernetes-validations": [{ rule: "self.all(x, self.all(y, x == y))" }],
    });
  const refused = await faults(nested({}, {}));
  expect(refused[0]).toContain("estimated rule cost exceeds budget by factor of more than 100x");
  expect(refused).toHaveLength(3);
  expect(await faults(nested({ maxItems: 20 }, { maxLength: 20 }))).toEqual([]);
});

test("versions with schemas of their own are named one by one", async () => {
  const version = (name: string, type: string): JsonObject => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: { type } },
  });
  expect(await faults(crd({ versions: [version("v1", "object"), version("v2", "string")] }))).toEqual([
    'spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
  ]);
});

test("what identifies an established kind cannot be changed", async () => {
  const old = crd();
  old.status = { ...(old.status as JsonObject), conditions: [{ type: "Established", status: "True" }] };
  const next = crd({ scope: "Cluster", names: { plural: "things", kind: "Other" } });
  expect(await faults(next, old)).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Other": field is immutable',
  ]);
});

test("a version that objects may be stored in cannot be dropped", async () => {
  const next = crd({
    versions: [{ name: "v2", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  });
  next.status = { storedVersions: storedVersionsAfter(next, crd()) };
  const [fault] = await faults(next, crd());
  expect(fault).toMatch(/^status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions/);
});

test("whatever is sent as a definition, it is validated and nothing crashes", () => {
  const words = fc.constantFrom(
    "spec",
    "names",
    "versions",
    "schema",
    "openAPIV3Schema",
    "properties",
    "items",
    "type",
    "allOf",
    "not",
    "default",
    "x-kubernetes-list-type",
    "additionalProperties",
    "required",
    "metadata",
    "__proto__",
    "status",
    "conversion",
    "webhook",
  );
  const value = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: "medium" },
      fc.constantFrom<Json>(null, true, 1, "", "object", "array", "map"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(words, tie("value"), { maxKeys: 5 }),
    ),
  })).value;
  fc.assert(
    fc.property(value, fc.dictionary(words, value, { maxKeys: 4 }), (schema, spec) => {
      for (const object of [withSchema(schema), { ...crd(), spec } as JsonObject]) {
        defaultCrd(object);
        expect(Array.isArray(finishNow(validateCrd(matcher(), object)))).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
