import { describe, expect, test } from "vitest";
import { BuildKitPool } from "./pool.ts";
import { scheduledAt, windowAt } from "./schedule.ts";

const at = (text: string) => Date.parse(text);
const scalingOf = (scaling: object) => BuildKitPool.make("ci", { scaling }).spec.scaling;
const hour = 3_600_000;

describe("a window", () => {
  const day = { start: "0 8 * * 1-5", durationMs: 10 * hour, timeZone: "Europe/Berlin" };

  test("is open from its start for its duration, by the clock of its zone", () => {
    // Berlin is an hour ahead of UTC in November, and two in June.
    expect(windowAt(day, at("2026-11-16T06:59:59Z"))).toEqual({
      isOpen: false,
      until: at("2026-11-16T07:00:00Z"),
    });
    expect(windowAt(day, at("2026-11-16T07:00:00Z"))).toEqual({
      isOpen: true,
      until: at("2026-11-16T17:00:00Z"),
    });
    expect(windowAt(day, at("2026-11-16T16:59:59Z")).isOpen).toBe(true);
    expect(windowAt(day, at("2026-11-16T17:00:00Z")).isOpen).toBe(false);
    expect(windowAt(day, at("2026-06-15T06:00:00Z")).isOpen).toBe(true);
  });

  test("stays closed over the weekend", () => {
    expect(windowAt(day, at("2026-11-21T09:00:00Z"))).toEqual({
      isOpen: false,
      until: at("2026-11-23T07:00:00Z"),
    });
  });
});

test("the largest minimum of the open windows counts, else the pool's own", () => {
  const scaling = scalingOf({
    min: 1,
    windows: [
      { name: "day", start: "0 8 * * *", duration: "10h", min: 5 },
      { name: "noon", start: "0 12 * * *", duration: "1h", min: 8 },
    ],
  });
  expect(scheduledAt(scaling, at("2026-11-16T07:00:00Z"))).toMatchObject({
    min: 1,
    until: at("2026-11-16T08:00:00Z"),
  });
  expect(scheduledAt(scaling, at("2026-11-16T09:00:00Z"))).toMatchObject({
    min: 5,
    until: at("2026-11-16T12:00:00Z"),
  });
  expect(scheduledAt(scaling, at("2026-11-16T12:30:00Z"))).toMatchObject({
    min: 8,
    until: at("2026-11-16T13:00:00Z"),
  });
});

test("the original's schedule lets idle workers go, and keeps none for as long as it says", () => {
  const scaling = scalingOf({ min: 3, scaleDownSchedule: "0 20 * * *", scaleDownFor: "11h" });
  expect(scheduledAt(scaling, at("2026-11-16T19:59:00Z"))).toMatchObject({ min: 3, isScaledDown: false });
  expect(scheduledAt(scaling, at("2026-11-16T20:00:00Z"))).toMatchObject({ min: 0, isScaledDown: true });
  expect(scheduledAt(scaling, at("2026-11-17T06:59:00Z"))).toMatchObject({ min: 0, isScaledDown: true });
  expect(scheduledAt(scaling, at("2026-11-17T07:00:00Z"))).toMatchObject({ min: 3, isScaledDown: false });
});

test("without schedules nothing changes by itself", () => {
  expect(scheduledAt(scalingOf({ min: 2 }), 0)).toEqual({ min: 2, isScaledDown: false, until: undefined });
});
