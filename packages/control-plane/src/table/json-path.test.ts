import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { evaluateJsonPath, JsonPathError, parseJsonPath } from "./json-path.ts";

const object: Json = {
  spec: { items: [{ name: "a", size: 1 }, { name: "b", size: 2 }, { name: "c" }], "dotted.key": "x" },
};

function found(path: string): Json[] {
  return evaluateJsonPath(parseJsonPath(path), object);
}

test.for([
  [".spec.items[0].name", ["a"]],
  [".spec.items[-1].name", ["c"]],
  [".spec.items[*].name", ["a", "b", "c"]],
  [".spec.items[1:].name", ["b", "c"]],
  [".spec.items[0:3:2].name", ["a", "c"]],
  [".spec.items[0,2].name", ["a", "c"]],
  ['.spec.items[?(@.name=="b")].size', [2]],
  [".spec.items[?(@.size>=2)].name", ["b"]],
  [".spec.items[?(@.size)].name", ["a", "b"]],
  ["..name", ["a", "b", "c"]],
  [".spec.dotted\\.key", ["x"]],
  [".spec['dotted.key']", ["x"]],
  [".spec.missing.deeper", []],
  [".spec.items[9].name", []],
] as const)("%s", ([path, values]) => {
  expect(found(path)).toEqual(values);
});

test.for([".spec.[", "spec", ".a[?(@.b==)]", ".a[", ".a]", ".a['b", ".a[0:1:0]"])(
  "%s cannot be read",
  (path) => {
    expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  },
);

test("inherited members are not fields", () => {
  expect(found(".spec.constructor")).toEqual([]);
  expect(found(".__proto__")).toEqual([]);
});

test("any text is read or refused, and what is read can be walked", () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[.[\]*?@()'"a-c0-9:,=!<>\\ -]{0,24}$/));
  fc.assert(
    fc.property(texts, fc.jsonValue(), (path, value) => {
      try {
        expect(Array.isArray(evaluateJsonPath(parseJsonPath(path), value as Json))).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonPathError);
      }
    }),
    { numRuns: 500 },
  );
});
