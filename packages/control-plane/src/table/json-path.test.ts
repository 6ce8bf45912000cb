import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { evaluateJsonPath, JsonPathError, parseJsonPath } from "./json-path.ts";

const object: Json = {
  spec: { items: [{ name: "a", size: 1 }, { name: "b", size: 2 }, { name: "c" }], "dotted.key": "x" },
};

function found(path: string): Json[] {
  return [...evaluateJsonPath(parseJsonPath(path), object)];
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

test("a path that leads to too many places ends", () => {
  const deep = JSON.parse(`${"[".repeat(900)}${"]".repeat(900)}`) as Json;
  const wide: Json = { spec: Array.from({ length: 2_000 }, () => [1, 2, 3]) };
  for (const path of [
    "..*..*..*.none",
    `.${"[0,0]".repeat(40)}.none`,
    "..[?(@..x==1)]",
    "..[0,0,0]..*.none",
  ]) {
    for (const value of [deep, wide]) expect([...evaluateJsonPath(parseJsonPath(path), value)]).toEqual([]);
  }
});

test("the first of many values is found without the others", () => {
  const value: Json = { spec: { items: Array.from({ length: 100_000 }, (_, index) => ({ index })) } };
  const [first] = evaluateJsonPath(parseJsonPath("..index"), value);
  expect(first).toBe(0);
  const [last] = evaluateJsonPath(parseJsonPath(".spec.items[-1].index"), value);
  expect(last).toBe(99_999);
});

test("any text is read or refused, and what is read can be walked", () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[.[\]*?@()'"a-c0-9:,=!<>\\ -]{0,24}$/));
  fc.assert(
    fc.property(texts, fc.jsonValue(), (path, value) => {
      try {
        expect(Array.from(evaluateJsonPath(parseJsonPath(path), value as Json))).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonPathError);
      }
    }),
    { numRuns: 500 },
  );
});
