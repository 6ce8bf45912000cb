import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatSelector,
  matchesSelector,
  parseSelector,
  type Requirement,
  requirementsOf,
  SelectorError,
} from "./selector.ts";

const labels = [{}, { a: "b" }, { a: "" }, { a: "1" }, { a: "10", b: "c" }, { in: "in" }, { "x.io/y": "z" }];

function selected(text: string): number[] {
  const requirements = parseSelector(text);
  return labels.flatMap((it, index) => (matchesSelector(requirements, it) ? [index] : []));
}

test.each([
  ["", [0, 1, 2, 3, 4, 5, 6]],
  ["a", [1, 2, 3, 4]],
  ["!a", [0, 5, 6]],
  ["a=b", [1]],
  [" a == b ", [1]],
  ["a!=b", [0, 2, 3, 4, 5, 6]],
  ["a=", [2]],
  ["a in (b, 1)", [1, 3]],
  ["a in ()", [2]],
  ["a in (b,)", [1, 2]],
  ["a notin (b,1)", [0, 2, 4, 5, 6]],
  ["a>1", [4]],
  ["a<5", [3]],
  ["in in (in)", [5]],
  ["x.io/y=z", [6]],
  ["a, b=c", [4]],
])("%j selects what the API server selects", (text, expected) => {
  expect(selected(text)).toEqual(expected);
});

test.each([
  ["a=b=c", "found '=', expected: ',' or 'end of string'"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a,", "found '', expected: identifier after ','"],
  [
    "a>x",
    `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
])("%j is refused with the API server's reason", (text, reason) => {
  const error = expect.objectContaining({
    code: "SELECTOR_INVALID",
    reason,
    message: `label selector ${JSON.stringify(text)}: ${reason}`,
  });
  expect(() => parseSelector(text)).toThrow(error);
});

test.each([
  ["X.io/y", "prefix part a lowercase RFC 1123 subdomain must consist of"],
  ["a/b/c", "a valid label key must consist of"],
  [`a=${"b".repeat(64)}`, "must be no more than 63 bytes"],
  ["a>-5", "a valid label must be an empty string or consist of"],
])("%j is refused: %s", (text, reason) => {
  expect(() => parseSelector(text)).toThrow(reason);
});

test("the object form selects by labels and expressions", () => {
  const requirements = requirementsOf({
    matchLabels: { app: "web" },
    matchExpressions: [
      { key: "tier", operator: "NotIn", values: ["cache"] },
      { key: "old", operator: "DoesNotExist" },
    ],
  });
  expect(formatSelector(requirements)).toBe("app=web,tier!=cache,!old");
  expect(matchesSelector(requirements, { app: "web" })).toBe(true);
  expect(matchesSelector(requirements, { app: "web", tier: "cache" })).toBe(false);
  expect(matchesSelector(requirements, undefined)).toBe(false);
});

test("the object form refuses operators that the API does not have", () => {
  expect(() => requirementsOf({ matchExpressions: [{ key: "a", operator: "Like" }] })).toThrow(
    'operator "Like" must be one of',
  );
});

test("labels called after an object's own methods are labels like any other", () => {
  expect(matchesSelector(parseSelector("constructor"), {})).toBe(false);
  expect(matchesSelector(parseSelector("toString=x"), JSON.parse('{"toString":"x"}'))).toBe(true);
});

const key = fc.constantFrom("a", "b", "x.io/y", "in", "notin");
const value = fc.constantFrom("", "b", "1", "22", "c.d", "in");
const requirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc.record({
    key,
    operator: fc.constantFrom("In", "NotIn"),
    values: fc.uniqueArray(value, { minLength: 1 }),
  }),
  fc.record({ key, operator: fc.constantFrom("Exists", "DoesNotExist"), values: fc.constant([]) }),
  fc.record({ key, operator: fc.constantFrom("Gt", "Lt"), values: fc.nat().map((n) => [String(n)]) }),
);

test("what is formatted reads back as the same requirements", () => {
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      expect(parseSelector(formatSelector(requirements))).toEqual(requirements);
    }),
  );
});

test("any text parses or is refused with the documented error", () => {
  const token = fc.constantFrom("a", "in", "notin", "(", ")", ",", "=", "!", "<", ">", " ", "1", "\n", "ü");
  const text = fc.oneof(
    fc.string(),
    fc.array(token).map((tokens) => tokens.join("")),
  );
  fc.assert(
    fc.property(text, (input) => {
      try {
        parseSelector(input);
      } catch (error) {
        expect(error).toBeInstanceOf(SelectorError);
      }
    }),
    { numRuns: 2_000 },
  );
});
