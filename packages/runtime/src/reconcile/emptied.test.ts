import { expect, test } from "vitest";
import { withoutEmptied } from "./emptied.ts";

const fields = {
  "f:map": { "f:a": {} },
  "f:whole": {},
  "f:struct": { "f:map": { "f:a": {} }, "f:b": {} },
  "f:items": { 'k:{"name":"x"}': { ".": {}, "f:name": {}, "f:options": { "f:o": {} } } },
};

test("maps that lose the last field that is owned are left out, wherever they are", () => {
  expect(
    withoutEmptied(
      {
        map: {},
        struct: { map: {}, b: 1 },
        items: [
          { name: "x", options: {} },
          { name: "y", options: {} },
        ],
      },
      fields,
    ),
  ).toEqual({ struct: { b: 1 }, items: [{ name: "x" }, { name: "y", options: {} }] });
});

test("nothing else is", () => {
  const wanted = {
    map: { b: "1" },
    whole: {},
    other: {},
    struct: { map: { a: "2" } },
    items: [{ name: "x", options: { o: "2" } }],
    list: [],
  };
  expect(withoutEmptied(wanted, fields)).toBe(wanted);
});
