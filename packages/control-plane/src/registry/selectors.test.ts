import fc from "fast-check";
import { expect, test } from "vitest";
import { builtinKinds } from "../kinds/index.ts";
import { StatusError } from "../status.ts";
import { builtinResource } from "./builtin-resource.ts";
import { fieldMatcher, parseFieldSelector, selectedName } from "./field-selector.ts";
import { parseLabelSelector, selectorMatcher, selectorString } from "./label-selector.ts";
import type { Resource } from "./resource.ts";

test.each([
  ["a=1", { a: "1" }, true],
  ["a==1,b!=2", { a: "1" }, true],
  ["a=1,b!=2", { a: "1", b: "2" }, false],
  ["a in (1,2)", { a: "2" }, true],
  ["a notin (1,2)", { a: "2" }, false],
  ["a notin (1,2)", {}, true],
  ["a", { a: "" }, true],
  ["!a", { a: "" }, false],
  ["a>1", { a: "2" }, true],
  ["a<1", { a: "x" }, false],
  ["a=", { a: "" }, true],
  ["", { a: "1" }, true],
])("the selector %j on %j gives %j", (selector, labels, expected) => {
  expect(parseLabelSelector(selector)(labels)).toBe(expected);
});

test("a selector of many terms selects what its terms select", () => {
  const key = fc.constantFrom("a", "b", "x.io/y", "constructor");
  const value = fc.constantFrom("", "1", "2", "30", "x");
  const term = fc.oneof(
    fc.tuple(key, fc.constantFrom("=", "!="), value).map((parts) => parts.join("")),
    fc
      .tuple(key, fc.constantFrom(" in ", " notin "), fc.array(value, { minLength: 1 }))
      .map(([name, operator, values]) => `${name}${operator}(${values.join(",")})`),
    fc.tuple(fc.constantFrom("", "!"), key).map((parts) => parts.join("")),
    fc
      .tuple(key, fc.constantFrom(">", "<"), fc.constantFrom("0", "1", "7", "30"))
      .map((parts) => parts.join("")),
  );
  const labels = fc.dictionary(key, value, { noNullPrototype: true });
  // Terms that everything meets make it long.
  const padding = Array.from({ length: 20 }, (_, index) => `!pad${index}`);
  fc.assert(
    fc.property(fc.array(term, { maxLength: 4 }), labels, (terms, each) => {
      const expected = terms.every((one) => parseLabelSelector(one)(each));
      expect(parseLabelSelector([...terms, ...padding].join(","))(each)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

/** What a real server answered. */
test.each([
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  ["a===b", "unable to parse requirement: found '=', expected: identifier"],
  [
    "a>b",
    `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
  ["a in (x,y", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a,,b", "found ',', expected: identifier after ','"],
  ["a=b,", "found '', expected: identifier after ','"],
  ["a=b c", "found 'c', expected: ',' or 'end of string'"],
  ["a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
  ["(", "found '(', expected: !, identifier, or 'end of string'"],
  ["!a=b", "found '=', expected: ',' or 'end of string'"],
  ["a in (x y)", "unable to parse requirement: found 'y', expected: ',' or ')'"],
])("the selector %j is refused in the real server's words", (selector, message) => {
  expect(() => parseLabelSelector(selector)).toThrow(message);
});

test("no text makes a selector parser fail but with a 400", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z!=()<>, \\.]{0,20}$/)), (text) => {
      for (const parse of [parseLabelSelector, parseFieldSelector]) {
        try {
          parse(text);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
          expect((error as StatusError).code).toBe(400);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test("an absent selector object matches nothing, an empty one everything", () => {
  expect(selectorMatcher(undefined)({ a: "1" })).toBe(false);
  expect(selectorMatcher({})({ a: "1" })).toBe(true);
});

test("a selector object and its string form choose alike", () => {
  const selector = {
    matchLabels: { app: "web" },
    matchExpressions: [
      { key: "tier", operator: "In", values: ["b", "a"] },
      { key: "gone", operator: "DoesNotExist" },
    ],
  };
  expect(selectorString(selector)).toBe("app=web,!gone,tier in (a,b)");
  const [object, text] = [selectorMatcher(selector), parseLabelSelector(selectorString(selector))];
  for (const labels of [{ app: "web", tier: "a" }, { app: "web" }, { app: "web", tier: "a", gone: "x" }]) {
    expect(object(labels)).toBe(text(labels));
  }
});

function resource(plural: string): Resource {
  const info = builtinKinds().byResource("", "v1", plural);
  if (!info) throw new Error(`there is no ${plural}`);
  return builtinResource(info);
}

const pod = resource("pods");

test("fields are compared as text, and absent ones as empty", () => {
  const matches = (selector: string) => fieldMatcher(pod, parseFieldSelector(selector));
  const object = {
    metadata: { name: "a", namespace: "n" },
    spec: { nodeName: "one" },
    status: { phase: "Running" },
  };
  expect(matches("spec.nodeName=one,status.phase!=Failed")(object)).toBe(true);
  expect(matches("spec.nodeName=")(object)).toBe(false);
  expect(matches("spec.hostNetwork=false")(object)).toBe(true);
});

test("a field that cannot be selected by is refused", () => {
  expect(() => fieldMatcher(pod, parseFieldSelector("spec.foo=1"))).toThrow(
    "field label not supported: spec.foo",
  );
  const map = resource("configmaps");
  expect(() => fieldMatcher(map, parseFieldSelector("spec.foo=1"))).toThrow(
    '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
});

test.each([
  ["metadata.name=a", "a"],
  ["metadata.name==a,metadata.namespace=b", "a"],
  ["metadata.name=b,metadata.name=a", "a"],
  ["metadata.name!=a", undefined],
  ["metadata.namespace=a", undefined],
  ["metadata.name=", undefined],
  ["metadata.name=..", undefined],
  ["metadata.name=a/b", undefined],
  ["metadata.name=a,nonsense", undefined],
  ["", undefined],
])("the selector %j is of the name %j alone", (selector, name) => {
  expect(selectedName(selector)).toBe(name);
});
