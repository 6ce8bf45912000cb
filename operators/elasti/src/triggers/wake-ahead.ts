/** How needs are foretold from a history of them. */
export interface WakeAheadRules {
  /** How long before its expected need a service is woken. */
  readonly leadMs: number;
  /** The time zone of the days. Daylight saving is the zone's. */
  readonly timeZone: string;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/**
 * How far needs of different days may be apart to count as the same one. It is also how long an
 * expected need is waited for.
 */
const toleranceMs = 15 * minuteMs;
/** Days that are looked back on. A week, so that a weekend is compared with the last one. */
const daysBack = 7;
/** On how many of the days that compare with today it must have been needed. */
const leastShare = 0.6;
const leastDays = 2;
const keptMs = 8 * dayMs;
const mostKept = 64;

/** A time as the clock on the wall of a zone shows it. */
interface LocalTime {
  /** Days since the epoch, of that zone. */
  readonly day: number;
  /** Milliseconds since midnight. */
  readonly ofDay: number;
}

/**
 * A time at which a service is expected to be needed: it is to be up from `fromMs` on, and until
 * `untilMs` whether or not it was used.
 */
export interface ExpectedNeed {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * When a service will be needed today and tomorrow, by the last week: it was needed at
 * about this time on most days of the same kind, working days or weekends.
 *
 * @param history when it was needed before, after having slept, in milliseconds since the epoch.
 */
export function expectedNeeds(
  history: readonly number[],
  nowMs: number,
  { leadMs, timeZone }: WakeAheadRules,
): readonly ExpectedNeed[] {
  const local = localTimes(timeZone);
  const now = local(nowMs);
  const past = history.filter((at) => at < nowMs).map(local);
  return [now.day, now.day + 1].flatMap((day) => {
    const midnightMs = nowMs - now.ofDay + (day - now.day) * dayMs;
    return needsOf(past, day, now.day).map(([first, last]) => ({
      fromMs: midnightMs + first - leadMs,
      untilMs: midnightMs + last + toleranceMs,
    }));
  });
}

/**
 * The times of a day, from and to, at which it is expected to be needed by what happened before
 * today.
 */
function needsOf(past: readonly LocalTime[], day: number, today: number): (readonly [number, number])[] {
  const oldest = Math.max(Math.min(...past.map((one) => one.day)), day - daysBack);
  const days = new Set<number>();
  for (let other = oldest; other < Math.min(day, today); other++)
    if (isWeekend(other) === isWeekend(day)) days.add(other);
  const needs = past.filter((one) => days.has(one.day));
  return needs.flatMap(({ ofDay }) => {
    const alike = needs.filter((other) => Math.abs(other.ofDay - ofDay) <= toleranceMs);
    const count = new Set(alike.map((one) => one.day)).size;
    if (count < leastDays || count / days.size < leastShare) return [];
    const times = alike.map((one) => one.ofDay);
    return [[Math.min(...times), Math.max(...times)] as const];
  });
}

/**
 * How long what was foretold is used again. Less than a day, because clocks may change within one.
 */
const foretoldMs = 60 * minuteMs;

/** Foretells the needs of many services. Asked often, it reckons seldom. */
export class NeedForecast {
  readonly #known = new Map<
    string,
    { readonly history: string; readonly atMs: number; readonly needs: readonly ExpectedNeed[] }
  >();

  /**
   * Whether a service, by its name, should be up now because it is about to be needed.
   *
   * @throws RangeError for no zone
   */
  isExpected(name: string, history: readonly number[], nowMs: number, rules: WakeAheadRules): boolean {
    const stamp = `${rules.leadMs} ${rules.timeZone} ${history.length} ${history.at(-1)}`;
    const known = this.#known.get(name);
    const isFresh = known?.history === stamp && nowMs >= known.atMs && nowMs - known.atMs < foretoldMs;
    const needs = isFresh ? known.needs : expectedNeeds(history, nowMs, rules);
    if (!isFresh) this.#known.set(name, { history: stamp, atMs: nowMs, needs });
    return needs.some(({ fromMs, untilMs }) => nowMs >= fromMs && nowMs < untilMs);
  }

  /** Forgets services that are gone. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }
}

/** The history with another need, without what is too old to matter. */
export function withNeed(history: readonly number[], atMs: number): readonly number[] {
  return [...history, atMs].filter((at) => at > atMs - keptMs).slice(-mostKept);
}

/** Whether a use is the first since the service was last woken, and so marks when it was needed. */
export function isNewNeed(history: readonly number[], wokenMs: number, usedMs: number): boolean {
  return usedMs >= wokenMs && (history.at(-1) ?? 0) < wokenMs;
}

function isWeekend(day: number): boolean {
  // The first day of the epoch was a Thursday.
  const ofWeek = (((day + 4) % 7) + 7) % 7;
  return ofWeek === 0 || ofWeek === 6;
}

function localTimes(timeZone: string): (atMs: number) => LocalTime {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    const day = Date.UTC(part("year"), part("month") - 1, part("day")) / dayMs;
    const ofDay = ((part("hour") * 60 + part("minute")) * 60 + part("second")) * 1_000;
    return { day, ofDay };
  };
}
