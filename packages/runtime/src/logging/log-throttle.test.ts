import { ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { combined, type LogHistory, LogThrottle, step } from "./log-throttle.ts";

const minute = 60_000;
const hour = 60 * minute;

/** The minutes at which a failure that occurs every second is logged. */
function loggedAt(forMs: number): number[] {
  const at: number[] = [];
  let history: LogHistory | undefined;
  for (let now = 0; now <= forMs; now += 1_000) {
    const next = step(history, now);
    history = next.history;
    if (next.decision.as !== "suppressed") at.push(now / minute);
  }
  return at;
}

test("a failure that lasts is logged at once, after a minute, and then after doubling pauses of up to an hour", () => {
  expect(loggedAt(4 * hour)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
});

test("a repeated line has the number of occurrences", () => {
  const first = step(undefined, 0).history;
  const second = step(first, 1_000).history;
  expect(step(second, minute).decision).toEqual({ as: "repeat", count: 3 });
});

test("each cause is logged by itself, and is logged as the first again once it is cleared or did not occur for two hours", async () => {
  const clock = new ManualClock();
  const throttle = new LogThrottle(clock);
  expect(
    [throttle.record("one"), throttle.record("two"), throttle.record("one")].map(({ as }) => as),
  ).toEqual(["first", "first", "suppressed"]);
  throttle.clear("one");
  expect(throttle.record("one").as).toBe("first");
  await clock.advance(2 * hour + 1);
  expect(throttle.record("two").as).toBe("first");
});

test("failures that occur together are all logged if one of them occurs for the first time", () => {
  expect(combined([{ as: "suppressed" }, { as: "first" }]).as).toBe("first");
  expect(combined([{ as: "suppressed" }, { as: "repeat", count: 3 }, { as: "repeat", count: 7 }])).toEqual({
    as: "repeat",
    count: 7,
  });
  expect(combined([{ as: "suppressed" }]).as).toBe("suppressed");
});

test("however often a failure occurs, it is logged at most once in a pause, and at least once in the longest", () => {
  const waits = fc.array(fc.integer({ min: 1, max: 10 * minute }), { maxLength: 200, size: "max" });
  fc.assert(
    fc.property(waits, (sequence) => {
      let history: LogHistory | undefined;
      let now = 0;
      let lastLine = Number.NEGATIVE_INFINITY;
      for (const wait of sequence) {
        now += wait;
        const { history: next, decision } = step(history, now);
        if (decision.as === "repeat") expect(now - lastLine).toBeGreaterThanOrEqual(minute);
        if (decision.as === "suppressed") expect(now - lastLine).toBeLessThan(hour);
        if (decision.as !== "suppressed") lastLine = now;
        history = next;
      }
      expect(history?.count ?? 0).toBe(sequence.length);
    }),
  );
});
