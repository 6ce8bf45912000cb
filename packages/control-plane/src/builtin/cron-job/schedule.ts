import { Cron } from "croner";

/** When something is due. */
export interface Schedule {
  /** The first time after this one; undefined if there is none. */
  next(afterMs: number): number | undefined;
  /**
   * The last time up to and including this one, but not before `sinceMs`; undefined if there is
   * none.
   */
  last(sinceMs: number, untilMs: number): number | undefined;
}

const units: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** @throws Error if the text is no schedule */
export function parseSchedule(text: string, timeZone: string | undefined): Schedule {
  const every = /^@every\s+((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)$/.exec(text.trim());
  if (every) {
    const parts = (every[1] as string).matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy);
    const total = [...parts].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (units[unit as string] ?? 0),
      0,
    );
    const period = Math.max(1_000, Math.floor(total / 1_000) * 1_000);
    return {
      next: (after) => after + period,
      last: (since, until) => {
        const periods = Math.floor((until - since) / period);
        return periods > 0 ? since + periods * period : undefined;
      },
    };
  }
  // Times are reckoned in UTC where no zone is given, as in the containers that controllers run in.
  const cron = new Cron(text, { paused: true, timezone: timeZone ?? "UTC" });
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime(),
    last: (since, until) => {
      const found = cron.previousRuns(1, new Date(until + 1_000))[0]?.getTime();
      return found !== undefined && found <= until && found > since ? found : undefined;
    },
  };
}

/**
 * A point in time as a clock in a zone shows it, with its distance from UTC:
 * `2026-11-15T23:26:00+01:00`.
 */
export function zonedTime(atMs: number, timeZone = "UTC"): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(atMs);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
  const [, sign = "+", hours = "0", minutes = "0"] = /^GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  const local = new Date(atMs + offset * 60_000).toISOString().slice(0, 19);
  return offset === 0 ? `${local}Z` : `${local}${sign}${hours}:${minutes}`;
}
