import { milliseconds } from "@windlass/clock";
import { Cron } from "croner";

/** A cron expression in a time zone. Daylight saving is the zone's. */
export interface CronTime {
  readonly expression: string;
  /** An IANA zone. */
  readonly timeZone: string;
}

/** A schedule that cannot be read. */
export class ScheduleError extends Error {
  readonly time: CronTime;

  constructor(time: CronTime, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`"${time.expression}" in ${time.timeZone} is no schedule: ${why}`, { cause });
    this.name = "ScheduleError";
    this.time = time;
  }
}

/**
 * The last time up to now that a schedule names; undefined if there was none.
 *
 * @throws ScheduleError
 */
export function lastTime(time: CronTime, nowMs: number): number | undefined {
  try {
    const cron = new Cron(time.expression, { paused: true, timezone: time.timeZone });
    return cron.previousRuns(1, new Date(nowMs + 1_000))[0]?.getTime();
  } catch (error) {
    throw new ScheduleError(time, error);
  }
}

/** Whether now is between a start and the end that follows it. @throws ScheduleError */
export function isBetween(start: CronTime, end: CronTime, nowMs: number): boolean {
  const started = lastTime(start, nowMs);
  const ended = lastTime(end, nowMs);
  return started !== undefined && (ended === undefined || started > ended);
}

/** Whether now is within so long after a time of the schedule. @throws ScheduleError */
export function isWithin(start: CronTime, duration: string, nowMs: number): boolean {
  const started = lastTime(start, nowMs);
  const lastsMs = milliseconds(duration, "enabledPeriod.duration");
  return started !== undefined && nowMs - started < lastsMs;
}
