import { expect, test } from "vitest";
import { fuzz } from "../fuzz/fuzz.ts";

test("invalid requests are refused, and nothing breaks", async () => {
  const { unexpected, statuses } = await fuzz(7, 3_000);
  expect(unexpected.map(({ what }) => what)).toEqual([]);
  // Some got through, or nothing would have been tried.
  expect(statuses.get(200)).toBeGreaterThan(50);
  expect(statuses.get(201)).toBeGreaterThan(5);
});
