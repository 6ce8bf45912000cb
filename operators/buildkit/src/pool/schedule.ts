import { Cron } from "croner";
import { spanMs } from "../span.ts";
import type { Pool } from "./pool.ts";

type Scaling = Pool["spec"]["scaling"];

/** What a pool's schedules say at a moment. */
export interface Scheduled {
  /** Idle workers to keep warm. */
  readonly min: number;
  /** Whether idle workers are let go at once. */
  readonly isScaledDown: boolean;
  /** When it changes next, in epoch milliseconds; undefined for never. */
  readonly until: number | undefined;
}

/**
 * What counts now. A window counts before the schedule of the scale-down, and of several windows
 * the one with the largest minimum.
 */
export function scheduledAt(scaling: Scaling, now: number): Scheduled {
  const windows = scaling.windows.map(({ start, duration, timeZone, min }) => ({
    min,
    ...windowAt({ start, durationMs: spanMs(duration, "spec.scaling.windows"), timeZone }, now),
  }));
  const { scaleDownSchedule, scaleDownFor, timeZone } = scaling;
  const scaleDown =
    scaleDownSchedule === undefined
      ? { isOpen: false, until: undefined }
      : windowAt(
          {
            start: scaleDownSchedule,
            durationMs: spanMs(scaleDownFor, "spec.scaling.scaleDownFor"),
            timeZone,
          },
          now,
        );
  const changes = [...windows, scaleDown].flatMap(({ until }) => until ?? []);
  const until = changes.length > 0 ? Math.min(...changes) : undefined;
  const open = windows.filter(({ isOpen }) => isOpen);
  if (open.length > 0) return { min: Math.max(...open.map(({ min }) => min)), isScaledDown: false, until };
  return scaleDown.isOpen
    ? { min: 0, isScaledDown: true, until }
    : { min: scaling.min, isScaledDown: false, until };
}

/** A span of time that begins again and again. */
export interface Window {
  /** Cron. */
  readonly start: string;
  readonly durationMs: number;
  readonly timeZone: string;
}

/** Whether a window is open, and when that changes. */
export function windowAt(
  { start, durationMs, timeZone }: Window,
  now: number,
): { readonly isOpen: boolean; readonly until: number | undefined } {
  const schedule = new Cron(start, { timezone: timeZone });
  // `nextRun` is the first after a time. A window that began a moment more than its duration ago
  // has just closed.
  const began = schedule.nextRun(new Date(now - durationMs))?.getTime();
  if (began === undefined) return { isOpen: false, until: undefined };
  return began <= now ? { isOpen: true, until: began + durationMs } : { isOpen: false, until: began };
}
