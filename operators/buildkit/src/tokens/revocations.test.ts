import { expect, test } from "vitest";
import {
  type Revocations,
  RevocationsError,
  readRevocations,
  revoked,
  unexpired,
  writeRevocations,
} from "./revocations.ts";
import type { AllocationHash } from "./token.ts";

const hash = (digit: string) => digit.repeat(64) as AllocationHash;
const none: Revocations = new Map();
const start = Date.UTC(2026, 0, 1);

test("an entry is kept until the last token of its allocation has expired", () => {
  const list = revoked(none, hash("a"), { until: start + 1_000, reason: "released" });
  expect(unexpired(list, start + 999)).toBe(list);
  expect(unexpired(list, start + 1_000).size).toBe(0);
});

test("a second revocation lengthens the first, and its reason stands", () => {
  const once = revoked(none, hash("a"), { until: start, reason: "released" });
  const twice = revoked(once, hash("a"), { until: start + 5, reason: "again" });
  expect(twice.get(hash("a"))).toEqual({ until: start + 5, reason: "released" });
  expect(revoked(twice, hash("a"), { until: start, reason: "again" })).toEqual(twice);
});

test("a list comes back as it was, and its text does not depend on the order of entry", () => {
  const entry = { until: start, reason: "revoked by an administrator" };
  const list = revoked(revoked(none, hash("b"), entry), hash("a"), entry);
  const other = revoked(revoked(none, hash("a"), entry), hash("b"), entry);
  expect(readRevocations(writeRevocations(list))).toEqual(list);
  expect(writeRevocations(list)).toBe(writeRevocations(other));
});

test.for(["", "null", "[]", '{"x":{}}', `{"${hash("a")}":{"until":"never","reason":"x"}}`])(
  "%j does not pass for an empty list",
  (text) => {
    expect(() => readRevocations(text)).toThrow(RevocationsError);
  },
);
