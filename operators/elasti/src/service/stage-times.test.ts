import { expect, test } from "vitest";
import { StageTimes } from "./stage-times.ts";

test("a wait begins when a step is first seen, again with each step, and for each service by itself", () => {
  const times = new StageTimes();
  expect(times.elapsedMs("shop/web", 3, 1_000)).toBe(0);
  expect(times.elapsedMs("shop/web", 3, 1_400)).toBe(400);
  expect(times.elapsedMs("shop/api", 3, 1_500)).toBe(0);
  expect(times.elapsedMs("shop/web", 4, 2_000)).toBe(0);
  expect(times.elapsedMs("shop/web", 4, 7_000)).toBe(5_000);
  times.forget("shop/web");
  expect(times.elapsedMs("shop/web", 4, 8_000)).toBe(0);
});
