import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareResourceVersions } from "./resource-version.ts";

test("decimal versions compare as the integers they are, however long", () => {
  const version = fc.bigInt({ min: 1n, max: 2n ** 80n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      const expected = a < b ? -1 : a > b ? 1 : 0;
      expect(Math.sign(compareResourceVersions(String(a), String(b)) ?? Number.NaN)).toBe(expected);
    }),
  );
});

test.each(["", "0", "01", "-1", "1.5", "abc", "1e3", " 1"])("%j cannot be compared", (version) => {
  expect(compareResourceVersions(version, "1")).toBeUndefined();
  expect(compareResourceVersions("1", version)).toBeUndefined();
});
