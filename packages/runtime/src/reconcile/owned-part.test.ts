import { expect, test } from "vitest";
import { ownedPart } from "./owned-part.ts";

test("of a status is what was applied to it, as it is now", () => {
  const fields = {
    "f:phase": {},
    "f:gone": {},
    "f:selector": {},
    "f:conditions": { 'k:{"type":"Ready"}': { ".": {}, "f:type": {}, "f:status": {} } },
    "f:zones": { 'v:"a"': {} },
  };
  const live = {
    phase: "Ready",
    theirs: 1,
    selector: { a: "b" },
    conditions: [
      { type: "Audited", status: "True" },
      { type: "Ready", status: "False", note: "theirs" },
    ],
    zones: ["b", "a"],
  };
  expect(ownedPart(live, fields)).toEqual({
    phase: "Ready",
    selector: { a: "b" },
    conditions: [{ type: "Ready", status: "False" }],
    zones: ["a"],
  });
});
