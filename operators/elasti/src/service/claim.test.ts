import { existing } from "@windlass/testing";
import { expect, test } from "vitest";
import { claimantOf } from "./claim.ts";
import { ElastiService } from "./elasti-service.ts";

const made = (name: string, creationTimestamp: string) =>
  existing(ElastiService, { metadata: { name, creationTimestamp } }).object;

test("the oldest has the Service, and of equally old ones the first by name", () => {
  const all = [
    made("a", "2026-03-01T10:00:01Z"),
    made("c", "2026-03-01T10:00:00Z"),
    made("b", "2026-03-01T10:00:00Z"),
  ];
  expect(claimantOf(all)?.metadata.name).toBe("b");
  expect(claimantOf(all.toReversed())?.metadata.name).toBe("b");
  expect(claimantOf([])).toBeUndefined();
});
