import { type Random, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { isNewNeed, NeedForecast, type WakeAheadRules, withNeed } from "./wake-ahead.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A Monday. */
const monday = Date.UTC(2026, 10, 2);
const rules = { leadMs: 2 * minute, timeZone: "UTC" };

const on = (dayIndex: number, hours: number, minutes = 0) =>
  monday + dayIndex * day + hours * hour + minutes * minute;

const isExpected = (history: readonly number[], now: number, by: WakeAheadRules = rules) =>
  new NeedForecast().isExpected("web", history, now, by);

test("what was needed at about the same time on most working days is expected on the next", () => {
  const history = [on(0, 9), on(1, 8, 55), on(2, 9, 4)];
  expect(isExpected(history, on(3, 8, 52))).toBe(false);
  expect(isExpected(history, on(3, 8, 53))).toBe(true);
  expect(isExpected(history, on(3, 9, 18))).toBe(true);
  expect(isExpected(history, on(3, 9, 20))).toBe(false);
});

test("one day is no pattern, and neither are needs at other times of each day", () => {
  expect(isExpected([on(0, 9)], on(1, 8, 59))).toBe(false);
  const scattered = [on(0, 9), on(1, 11), on(2, 14), on(3, 17)];
  for (let hours = 0; hours < 24; hours++) expect(isExpected(scattered, on(4, hours))).toBe(false);
});

test("a weekend is compared with the last weekend, and not with working days", () => {
  const week = [0, 1, 2, 3, 4].map((index) => on(index, 9));
  expect(isExpected(week, on(5, 8, 59))).toBe(false);
  expect(isExpected(week, on(7, 8, 59))).toBe(true);
  const weekend = [...week, on(5, 10), on(6, 10)];
  expect(isExpected(weekend, on(12, 9, 59))).toBe(true);
});

test("what is not needed any more is no longer expected after a few days", () => {
  const history = [on(0, 9), on(1, 9), on(2, 9)];
  expect(isExpected(history, on(3, 9))).toBe(true);
  expect(isExpected(history, on(4, 9))).toBe(true);
  // Three of five working days; then two of five.
  expect(isExpected(history, on(7, 9))).toBe(true);
  expect(isExpected(history, on(8, 9))).toBe(false);
});

test("days are those of the zone, also when its clocks change", () => {
  const zone = { ...rules, timeZone: "Europe/Berlin" };
  // 9 o'clock in Berlin: 7 UTC in summer, 8 UTC in winter. Clocks go back on Sunday, 25 October
  // 2026.
  const summer = [19, 20, 21, 22, 23].map((date) => Date.UTC(2026, 9, date, 7));
  expect(isExpected(summer, Date.UTC(2026, 9, 26, 7), zone)).toBe(false);
  expect(isExpected(summer, Date.UTC(2026, 9, 26, 7, 59), zone)).toBe(true);
});

test("a need just after midnight is expected before it", () => {
  const history = [on(0, 0, 1), on(1, 0, 1), on(2, 0, 1)];
  expect(isExpected(history, on(2, 23, 58))).toBe(false);
  expect(isExpected(history, on(2, 23, 59))).toBe(true);
});

test("the history stays small", () => {
  let history: readonly number[] = [];
  for (let at = monday; at < monday + 30 * day; at += hour) history = withNeed(history, at);
  expect(history.length).toBeLessThanOrEqual(64);
  expect(withNeed([on(0, 9)], on(20, 9))).toEqual([on(20, 9)]);
});

test("only the first use after a wake is a need", () => {
  expect(isNewNeed([], on(0, 9), on(0, 9, 1))).toBe(true);
  expect(isNewNeed([on(0, 9, 1)], on(0, 9), on(0, 9, 5))).toBe(false);
  expect(isNewNeed([on(0, 9, 1)], on(1, 9), on(1, 9, 5))).toBe(true);
  expect(isNewNeed([], on(1, 9), on(0, 9))).toBe(false);
});

/**
 * The requests of some weeks to a service of an office: mornings, afternoons, a job at night, and
 * strays.
 */
function requestsOf(weeks: number, random: Random): readonly number[] {
  const times: number[] = [];
  const between = (from: number, to: number) => from + random.next() * (to - from);
  for (let index = 0; index < weeks * 7; index++) {
    times.push(on(index, 2) + between(0, 3 * minute));
    if (index % 7 < 5)
      for (const [from, to] of [
        [8.9, 11.7],
        [13.1, 17.5],
      ] as const) {
        let at = on(index, 0) + from * hour + between(-5, 5) * minute;
        for (const end = on(index, 0) + to * hour; at < end; at += between(0.1, 4) * minute) times.push(at);
      }
    for (let stray = 0; stray < 2; stray++) times.push(on(index, 0) + between(0, day));
  }
  return times.toSorted((a, b) => a - b);
}

/**
 * How a service fares that sleeps after a cooldown: how many requests had to wait for a cold start,
 * and how long it was up.
 */
function replay(requests: readonly number[], from: number, isAhead: boolean) {
  const cooldown = 15 * minute;
  const coldStart = 20_000;
  const poll = 15_000;
  let history: readonly number[] = [];
  let wokenAt = monday;
  let usedAt = monday;
  let isAwake = false;
  const figures = { requests: 0, waited: 0, coldStarts: 0, awakeHours: 0 };
  let next = 0;
  const forecast = new NeedForecast();
  for (let now = monday; now < (requests.at(-1) ?? 0); now += poll) {
    const isCounted = now >= from;
    for (let at = requests[next]; at !== undefined && at < now; at = requests[++next]) {
      if (isCounted) figures.requests++;
      if (!isAwake) {
        [isAwake, wokenAt] = [true, at];
        history = withNeed(history, at);
        if (isCounted) figures.coldStarts++;
      } else if (isNewNeed(history, wokenAt, at)) history = withNeed(history, at);
      if (isCounted && at - wokenAt < coldStart) figures.waited++;
      usedAt = at;
    }
    const isNear = isAhead && forecast.isExpected("web", history, now, rules);
    if (isNear && !isAwake) [isAwake, wokenAt] = [true, now];
    if (isAwake && !isNear && now - Math.max(usedAt, wokenAt) >= cooldown) isAwake = false;
    if (isAwake && isCounted) figures.awakeHours += poll / hour;
  }
  return figures;
}

test("waking ahead spares most cold starts of a service with a daily pattern, at little cost", () => {
  const requests = requestsOf(5, seededRandom(7));
  const from = monday + 7 * day;
  const without = replay(requests, from, false);
  const ahead = replay(requests, from, true);
  process.stdout.write(
    `four weeks, ${without.requests} requests: cold starts ${without.coldStarts} → ${ahead.coldStarts}, ` +
      `awake ${without.awakeHours.toFixed(0)} h → ${ahead.awakeHours.toFixed(0)} h of ${28 * 24} h\n`,
  );
  expect(ahead.coldStarts).toBeLessThan(without.coldStarts * 0.6);
  expect(ahead.waited).toBeLessThan(without.waited);
  expect(ahead.awakeHours).toBeLessThan(without.awakeHours * 1.15);
});
