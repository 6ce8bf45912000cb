import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { matcher } from "../patterns/patterns.fixture.ts";
import type { Schema } from "../schema/schema.ts";
import { finish, finishNow } from "../steps.ts";
import { compileRules } from "./rules.ts";

function faults(schema: Schema, value: Json, old?: Json): string[] {
  const rules = compileRules({ type: "object", properties: { f: schema } });
  const before = old === undefined ? undefined : { f: old };
  return finishNow(rules.evaluate(matcher(), { f: value }, before)).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

test("a transition rule runs on an update only", () => {
  const schema: Schema = {
    type: "string",
    "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "f is fixed" }],
  };
  expect(faults(schema, "a")).toEqual([]);
  expect(faults(schema, "a", "a")).toEqual([]);
  expect(faults(schema, "b", "a")).toEqual(['f: Invalid value: "b": f is fixed']);
});

test("items of a map-list have a past; those of other lists have none", () => {
  const item: Schema = {
    type: "object",
    properties: {
      k: { type: "string" },
      v: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "shrank" }] },
    },
  };
  const list: Schema = { type: "array", items: item };
  const mapList: Schema = { ...list, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] };
  const before = [
    { k: "a", v: 5 },
    { k: "b", v: 5 },
  ];
  const after = [
    { k: "b", v: 1 },
    { k: "a", v: 9 },
  ];
  expect(faults(mapList, after, before)).toEqual(["f[0].v: Invalid value: 1: shrank"]);
  expect(faults(list, after, before)).toEqual([]);
});

test("with optionalOldSelf a transition rule runs on a create as well", () => {
  const schema: Schema = {
    type: "string",
    "x-kubernetes-validations": [
      { rule: "oldSelf.orValue('none') != self", optionalOldSelf: true, message: "m" },
    ],
  };
  expect(faults(schema, "none")).toEqual(['f: Invalid value: "none": m']);
  expect(faults(schema, "a", "a")).toEqual(['f: Invalid value: "a": m']);
  expect(faults(schema, "a", "b")).toEqual([]);
});

test("what was wrong before and did not change is let pass, unless the rule looks at the past", () => {
  const schema: Schema = {
    type: "string",
    maxLength: 20,
    "x-kubernetes-validations": [{ rule: "self.size() < 3", message: "long" }],
  };
  expect(faults(schema, "long one", "long one")).toEqual([]);
  expect(faults(schema, "long two", "long one")).toEqual(['f: Invalid value: "long two": long']);
});

test.each<[string, object, string]>([
  ["the rule itself", {}, "f: Invalid value: failed rule: self.n < 1"],
  ["a message", { message: " too big " }, "f: Invalid value: too big"],
  ["a computed message", { messageExpression: "'n is ' + string(self.n)" }, "f: Invalid value: n is 5"],
  [
    "the message when the computed one fails",
    { message: "m", messageExpression: "string(1 / (self.n - 5))" },
    "f: Invalid value: m",
  ],
  ["a reason", { message: "m", reason: "FieldValueForbidden" }, "f: Forbidden: m"],
  ["a required value", { message: "m", reason: "FieldValueRequired" }, "f: Required value: m"],
  ["a duplicate", { message: "m", reason: "FieldValueDuplicate" }, "f: Duplicate value"],
  ["a path of its own", { message: "m", fieldPath: ".n" }, "f.n: Invalid value: m"],
])("a rule that does not hold is reported with %s", (_what, extra, expected) => {
  const schema: Schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "self.n < 1", ...extra }],
  };
  expect(faults(schema, { n: 5 })).toEqual([expected]);
});

test("a rule that fails says how", () => {
  const schema: Schema = {
    type: "object",
    properties: { x: { type: "string" } },
    "x-kubernetes-validations": [{ rule: "self.x == 'a'" }],
  };
  expect(faults(schema, {})).toEqual([
    "f: Invalid value: \"object\": no such key: x evaluating rule: self.x == 'a'",
  ]);
});

test("a rule that costs too much ends the evaluation of all", async () => {
  const schema: Schema = {
    type: "array",
    items: { type: "integer" },
    "x-kubernetes-validations": [{ rule: "self.all(x, self.all(y, x + y >= 0))" }, { rule: "false" }],
  };
  const rules = compileRules({ type: "object", properties: { f: schema } });
  const value = { f: Array.from({ length: 1000 }, (_, index) => index) };
  const causes = await finish(rules.evaluate(matcher(), value));
  expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    "f: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.all(x, self.all(y, x + y >= 0))",
  ]);
});

test("field names that are no identifiers are escaped", () => {
  const schema: Schema = {
    type: "object",
    properties: {
      "a-b": { type: "integer" },
      "c.d": { type: "integer" },
      namespace: { type: "integer" },
      __x: { type: "integer" },
    },
    "x-kubernetes-validations": [
      {
        rule: "self.a__dash__b + self.c__dot__d + self.namespace + self.__namespace__ + self.__underscores__x == 14",
      },
    ],
  };
  expect(faults(schema, { "a-b": 1, "c.d": 2, namespace: 3, __x: 5 })).toEqual([]);
});
