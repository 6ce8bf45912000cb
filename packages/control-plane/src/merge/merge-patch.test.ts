import fc from "fast-check";
import { expect, test } from "vitest";
import { equal, type Json, type JsonObject } from "../json.ts";
import { applyMergePatch } from "./merge-patch.ts";

test.each<[Json, Json, Json]>([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ a: [1, 2] }, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{}, { a: [{ b: null }, null] }, { a: [{}, null] }],
  [{ a: "x" }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: { x: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
])("%j patched with %j is %j", (document, patch, result) => {
  expect(applyMergePatch(document, patch)).toEqual(result);
});

test.each([[null], [[]], [1], ["text"], [true]])("a patch that is %j is refused", (patch) => {
  expect(() => applyMergePatch({}, patch)).toThrowError(expect.objectContaining({ code: 400 }));
});

test("a member called __proto__ is data like any other", () => {
  const patch: unknown = JSON.parse('{"a":{"__proto__":{"polluted":true}}}');
  const result = applyMergePatch({ a: { b: 1 } }, patch) as { a: JsonObject };
  expect(Object.hasOwn(result.a, "__proto__")).toBe(true);
  expect(result.a.polluted).toBeUndefined();
  expect(JSON.stringify(result)).toBe('{"a":{"b":1,"__proto__":{"polluted":true}}}');
});

const objects = fc.dictionary(fc.string(), fc.jsonValue());

test("once a patch holds, applying it changes nothing, and neither document nor patch is changed", () => {
  fc.assert(
    fc.property(objects, objects, (document, patch) => {
      const before = JSON.stringify([document, patch]);
      const held = applyMergePatch(applyMergePatch(document as Json, patch), patch);
      expect(equal(applyMergePatch(held, patch), held)).toBe(true);
      expect(JSON.stringify([document, patch])).toBe(before);
    }),
  );
});
