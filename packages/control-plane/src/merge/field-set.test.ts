import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EMPTY_SET, FieldSet } from "./field-set.ts";
import { decodeFields, encodeFields } from "./fields-v1.ts";
import { elementText } from "./path-element.ts";

const elements = fc.constantFrom(
  "f:a",
  "f:b",
  "f:__proto__",
  'k:{"name":"x"}',
  'k:{"port":80,"protocol":"TCP"}',
  'k:{"port":443,"protocol":"TCP"}',
  'v:"x"',
  "v:9",
  "v:10",
  "i:0",
);
const path = fc.array(elements, { minLength: 1, maxLength: 4 });
const sets = fc.array(path, { maxLength: 8 }).map((paths) => FieldSet.of(...paths));
const text = (set: FieldSet) => [...set.paths()].map((members) => members.join("/")).toSorted();

describe("the algebra of sets", () => {
  test("agrees with that of plain sets of paths", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const inB = new Set(text(b));
        expect(text(a.union(b))).toEqual([...new Set([...text(a), ...inB])].toSorted());
        expect(text(a.intersection(b))).toEqual(text(a).filter((member) => inB.has(member)));
        expect(text(a.difference(b))).toEqual(text(a).filter((member) => !inB.has(member)));
        expect(text(a.recursiveDifference(b))).toEqual(
          text(a).filter(
            (member) => ![...inB].some((gone) => member === gone || member.startsWith(`${gone}/`)),
          ),
        );
        expect(text(a.leaves())).toEqual(
          text(a).filter((member) => !text(a).some((other) => other.startsWith(`${member}/`))),
        );
        expect([...inB].every((member) => b.has(member.split("/")))).toBe(true);
      }),
    );
  });

  test("is one of equals", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(a.union(b).equals(b.union(a))).toBe(true);
        expect(a.intersection(b).equals(b.intersection(a))).toBe(true);
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true);
        expect(a.difference(a).empty).toBe(true);
        expect(a.equals(b)).toBe(text(a).join() === text(b).join());
      }),
    );
  });
});

describe("fieldsV1", () => {
  test("reads back as the set that was written", () => {
    fc.assert(
      fc.property(sets, (set) => {
        const written = JSON.stringify(encodeFields(set));
        const read = decodeFields(JSON.parse(written));
        expect(read.equals(set)).toBe(true);
        expect(JSON.stringify(encodeFields(read))).toBe(written);
      }),
    );
  });

  test("lists fields, keys, values and indices in this order, numbers by amount", () => {
    const set = FieldSet.of(
      ["v:10"],
      ["i:0"],
      ["v:9"],
      ['v:"9"'],
      ['k:{"a":2}'],
      ['k:{"a":10}'],
      ["f:b"],
      ["f:a"],
    );
    expect(Object.keys(encodeFields(set))).toEqual([
      "f:a",
      "f:b",
      'k:{"a":2}',
      'k:{"a":10}',
      "v:9",
      "v:10",
      'v:"9"',
      "i:0",
    ]);
  });

  test("is the same however keys are ordered and spaced", () => {
    const given = decodeFields({ 'k:{ "b": 1, "a": "x" }': { ".": {}, "f:c": {} } });
    expect(encodeFields(given)).toEqual({ 'k:{"a":"x","b":1}': { ".": {}, "f:c": {} } });
  });

  test("a path of unknown elements is skipped", () => {
    expect(encodeFields(decodeFields({ "f:a": {}, "z:new": { "f:b": {} } }))).toEqual({ "f:a": {} });
  });

  test("escapes what HTML would take for markup", () => {
    expect(encodeFields(decodeFields({ 'v:"<&>"': {} }))).toEqual({ 'v:"\\u003c\\u0026\\u003e"': {} });
  });

  test("of any shape is read, or refused as a syntax error", () => {
    const keys = fc.oneof(
      fc.string(),
      fc.constantFrom("f:", "k:", "v:", "i:", ".").chain((kind) => fc.string().map((rest) => kind + rest)),
    );
    fc.assert(
      fc.property(
        fc.dictionary(keys, fc.oneof(fc.constant({}), fc.dictionary(keys, fc.constant({})), fc.jsonValue())),
        (fields) => {
          try {
            decodeFields(JSON.parse(JSON.stringify(fields)));
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        },
      ),
    );
  });
});

test("elements are named in messages as the API server names them", () => {
  expect(["f:spec", 'k:{"k":"1","p":"TCP"}', 'v:"x"', "v:1", "i:3"].map(elementText)).toEqual([
    ".spec",
    '[k="1",p="TCP"]',
    '[="x"]',
    "[=1]",
    "[3]",
  ]);
});

test("the empty path is no member of anything", () => {
  expect(FieldSet.of([])).toBe(EMPTY_SET);
  expect(EMPTY_SET.has([])).toBe(false);
});
