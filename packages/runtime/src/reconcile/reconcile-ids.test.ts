import { seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { reconcileIds } from "./reconcile-ids.ts";

test("ids are UUIDs, and differ within a controller and between controllers", () => {
  const random = seededRandom(1);
  const controllers = [reconcileIds(random), reconcileIds(random)];
  const ids = controllers.flatMap((next) => Array.from({ length: 300 }, next));
  expect(new Set(ids).size).toBe(600);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
