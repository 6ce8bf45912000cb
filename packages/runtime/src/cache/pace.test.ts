import { ManualClock, systemClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { YieldBudget } from "./pace.ts";

test("workers that never have to wait let timers fire", async () => {
  const budget = new YieldBudget(systemClock);
  let isOver = false;
  systemClock.schedule(5, () => {
    isOver = true;
  });
  const work = async () => {
    for (let pieces = 0; !isOver && pieces < 2_000_000; pieces++) await budget.pause();
  };
  await Promise.all([work(), work(), work(), work()]);
  expect(isOver).toBe(true);
});

test("on a clock that stands still nothing pauses, so that the same steps give the same run", () => {
  expect(new YieldBudget(new ManualClock()).pause()).toBeUndefined();
});
