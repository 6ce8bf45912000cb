import { ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Reminders, step, type Told, together } from "./reminder.ts";

const minute = 60_000;
const hour = 60 * minute;

/** When a trouble that is met every second for so long is told, in minutes. */
function toldAt(forMs: number): number[] {
  const at: number[] = [];
  let told: Told | undefined;
  for (let now = 0; now <= forMs; now += 1_000) {
    const next = step(told, now);
    told = next.told;
    if (next.telling.as !== "known") at.push(now / minute);
  }
  return at;
}

test("a trouble that lasts is told at once, after a minute, and then ever later, up to an hour", () => {
  expect(toldAt(4 * hour)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
});

test("the reminder says how often it was met", () => {
  const first = step(undefined, 0).told;
  const second = step(first, 1_000).told;
  expect(step(second, minute).telling).toEqual({ as: "reminder", count: 3 });
});

test("each cause is told by itself, and is news again once it is over or was not met for hours", async () => {
  const clock = new ManualClock();
  const reminders = new Reminders(clock);
  expect([reminders.met("one"), reminders.met("two"), reminders.met("one")].map(({ as }) => as)).toEqual([
    "news",
    "news",
    "known",
  ]);
  reminders.over("one");
  expect(reminders.met("one").as).toBe("news");
  await clock.advance(2 * hour + 1);
  expect(reminders.met("two").as).toBe("news");
});

test("of troubles that are met together all are told if one is news", () => {
  expect(together([{ as: "known" }, { as: "news" }]).as).toBe("news");
  expect(together([{ as: "known" }, { as: "reminder", count: 3 }, { as: "reminder", count: 7 }])).toEqual({
    as: "reminder",
    count: 7,
  });
  expect(together([{ as: "known" }]).as).toBe("known");
});

test("however often it is met, it is told no more than once in a pause, and no later than the longest", () => {
  const waits = fc.array(fc.integer({ min: 1, max: 10 * minute }), { maxLength: 200, size: "max" });
  fc.assert(
    fc.property(waits, (sequence) => {
      let told: Told | undefined;
      let now = 0;
      let lastLine = Number.NEGATIVE_INFINITY;
      for (const wait of sequence) {
        now += wait;
        const { told: next, telling } = step(told, now);
        if (telling.as === "reminder") expect(now - lastLine).toBeGreaterThanOrEqual(minute);
        if (telling.as === "known") expect(now - lastLine).toBeLessThan(hour);
        if (telling.as !== "known") lastLine = now;
        told = next;
      }
      expect(told?.count ?? 0).toBe(sequence.length);
    }),
  );
});
