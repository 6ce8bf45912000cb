import { expect, test } from "vitest";
import { differences } from "./differences.ts";

test("are named by the fields that were added, changed or removed", () => {
  const before = { spec: { a: 1, b: { c: 1 }, list: [{ x: 1 }, { x: 2 }], args: ["a"] }, gone: 1 };
  const after = { spec: { a: 1, b: { c: 2 }, list: [{ x: 1 }, { x: 3 }], args: ["a", "b"] }, come: 1 };
  expect(differences(before, after)).toEqual(["spec.b.c", "spec.list[1].x", "spec.args", "gone", "come"]);
  expect(differences(before, structuredClone(before))).toEqual([]);
});
