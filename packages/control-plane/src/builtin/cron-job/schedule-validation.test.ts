import fc from "fast-check";
import { expect, test } from "vitest";
import { scheduleFault } from "./schedule-validation.ts";

test.each([
  "* * * * *",
  "*/5 0-6 1,15 JAN-mar MON",
  "@hourly",
  "@every 1h30m",
  "0 0 31 12 6",
  "5/15 * * * ?",
])("%s is a schedule", (schedule) => {
  expect(scheduleFault(schedule)).toBeUndefined();
});

test.each([
  ["nope", "expected exactly 5 fields, found 1: [nope]"],
  ["61 * * * *", "end of range (61) above maximum (59): 61"],
  ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
  ["*/0 * * * *", "step of range should be a positive number: */0"],
  ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ["@never", "unrecognized descriptor: @never"],
])("%s is refused with the words of the real parser", (schedule, words) => {
  expect(scheduleFault(schedule)).toBe(words);
});

test("any text is a schedule or is refused with the fault", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[@*/?,a-z0-9 -]{0,30}$/)), (text) => {
      expect(["string", "undefined"]).toContain(typeof scheduleFault(text));
    }),
  );
});
