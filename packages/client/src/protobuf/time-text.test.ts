import fc from "fast-check";
import { expect, test } from "vitest";
import { timeText } from "./time-text.ts";

const end = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
const byDate = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, -5)}Z`;

test("any second up to the year 9999 reads as Date writes it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: end }), (seconds) => {
      expect(timeText(seconds)).toBe(byDate(seconds));
    }),
  );
});

test("each first and last second of a day of four centuries reads as Date writes it", () => {
  for (let day = 0; day < 146_097; day++) {
    const first = day * 86_400;
    if (timeText(first) !== byDate(first) || timeText(first + 86_399) !== byDate(first + 86_399))
      expect(timeText(first)).toBe(byDate(first));
  }
});

test.each([-1, 0.5, end + 1, Number.NaN, Number.POSITIVE_INFINITY])("%d has no such form", (seconds) => {
  expect(timeText(seconds)).toBeUndefined();
});
