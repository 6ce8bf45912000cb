import { expect, test } from "vitest";
import { parseWarnings, warnOnce } from "./warning.ts";

test("several warnings are read from one header and from several", () => {
  const one = '299 - "first, with \\"quotes\\"", 299 kube "second" "Sat, 25 Aug 2012 23:34:45 GMT"';
  expect(parseWarnings(one)).toEqual(['first, with "quotes"', "second"]);
  expect(parseWarnings([one, '299 - "third"'])).toHaveLength(3);
});

test("the text's bytes are UTF-8", () => {
  expect(parseWarnings(Buffer.from('299 - "unknown field \\"dät\\""').toString("latin1"))).toEqual([
    'unknown field "dät"',
  ]);
});

test("what is no warning, or none of the kind that API servers send, is left out", () => {
  expect(parseWarnings(undefined)).toEqual([]);
  expect(parseWarnings('nonsense, 110 - "stale"')).toEqual([]);
});

test("each text is passed on once, and only so many are remembered", () => {
  const passed: string[] = [];
  const warn = warnOnce((text) => passed.push(text));
  for (const text of ["a", "b", "a"]) warn(text);
  expect(passed).toEqual(["a", "b"]);
  for (let i = 0; i < 1_000; i++) warn(`other ${i}`);
  warn("a");
  expect(passed.filter((text) => text === "a")).toHaveLength(2);
});
