import { expect, test } from "vitest";
import { isBetween, isWithin, lastTime, ScheduleError } from "./schedule.ts";

const berlin = (expression: string) => ({ expression, timeZone: "Europe/Berlin" });
const at = (text: string) => Date.parse(text);

test.for([
  // Winter, summer, and the days on which the clocks change.
  ["2026-01-15T08:30:00Z", "2026-01-15T08:00:00Z"],
  ["2026-07-15T07:30:00Z", "2026-07-15T07:00:00Z"],
  ["2026-03-29T07:30:00Z", "2026-03-29T07:00:00Z"],
  ["2026-10-25T08:30:00Z", "2026-10-25T08:00:00Z"],
])("nine o'clock in Berlin, seen at %s, was at %s", ([now = "", last = ""]) => {
  expect(lastTime(berlin("0 9 * * *"), at(now))).toBe(at(last));
});

test("office hours are between their start and the end that follows", () => {
  const isAwake = (now: string) => isBetween(berlin("0 9 * * 1-5"), berlin("0 18 * * 1-5"), at(now));
  expect(isAwake("2026-11-16T07:59:00Z")).toBe(false);
  expect(isAwake("2026-11-16T08:00:00Z")).toBe(true);
  expect(isAwake("2026-11-16T16:59:59Z")).toBe(true);
  expect(isAwake("2026-11-16T17:00:00Z")).toBe(false);
  expect(isAwake("2026-11-15T12:00:00Z")).toBe(false);
});

test("a period lasts for its duration, over midnight too", () => {
  const start = { expression: "0 22 * * *", timeZone: "UTC" };
  expect(isWithin(start, "8h30m", at("2026-11-16T05:00:00Z"))).toBe(true);
  expect(isWithin(start, "8h30m", at("2026-11-16T06:30:00Z"))).toBe(false);
  expect(isWithin(start, "8h30m", at("2026-11-16T22:00:00Z"))).toBe(true);
});

test("the default period is always", () => {
  const start = { expression: "0 0 * * *", timeZone: "UTC" };
  for (const hour of ["00", "09", "23"])
    expect(isWithin(start, "24h", at(`2026-11-16T${hour}:59:59Z`))).toBe(true);
});

test("a zone or an expression that does not exist is named", () => {
  expect(() => lastTime({ expression: "0 0 * * *", timeZone: "Mars/Olympus" }, 0)).toThrow(ScheduleError);
  expect(() => lastTime({ expression: "99 0 * * *", timeZone: "UTC" }, 0)).toThrow(
    '"99 0 * * *" in UTC is no schedule',
  );
});
