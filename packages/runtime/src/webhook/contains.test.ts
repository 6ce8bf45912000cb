import { expect, test } from "vitest";
import { contains } from "./contains.ts";

const live = {
  rules: ["a", "b"],
  webhooks: [
    { name: "theirs", caBundle: "x" },
    { name: "ours", caBundle: "y", rules: [] },
  ],
};

test("an object contains what it has, with items found by their names", () => {
  expect(contains(live, { webhooks: [{ name: "ours", caBundle: "y" }] })).toBe(true);
  expect(contains(live, { rules: ["a", "b"], other: undefined, empty: {}, none: [] })).toBe(true);
});

test("it does not contain another value, another item, or a list of another length or order", () => {
  expect(contains(live, { webhooks: [{ name: "ours", caBundle: "z" }] })).toBe(false);
  expect(contains(live, { webhooks: [{ name: "none" }] })).toBe(false);
  expect(contains(live, { rules: ["a"] })).toBe(false);
  expect(contains(live, { rules: ["b", "a"] })).toBe(false);
  expect(contains(live, { other: 1 })).toBe(false);
});
