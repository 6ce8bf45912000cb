import type { Pod } from "@windlass/kinds/builtin";
import type { Stored } from "../../storage/typed.ts";
import type { JobSurvey } from "./survey.ts";
import { finishedAt, totalBefore } from "./survey.ts";

/** Failed pods are replaced after so long at first, then twice that, and so on up to the limit. */
const firstMs = 10_000;
const lastMs = 600_000;

/** How often pods of a job have failed in a row, and when last. */
export interface Failures {
  readonly count: number;
  readonly lastAt: number;
}

/**
 * What is known of a job's failures once these pods have ended too: a success makes earlier
 * failures forgotten.
 */
export function withEnded(before: Failures, { succeeded, failed }: JobSurvey["fresh"]): Failures {
  const lastSuccess = Math.max(Number.NEGATIVE_INFINITY, ...succeeded.map(finishedAt));
  const later = failed.map(finishedAt).filter((at) => at > lastSuccess);
  const known = succeeded.length > 0 ? { count: 0, lastAt: 0 } : before;
  return { count: known.count + later.length, lastAt: Math.max(known.lastAt, ...later) };
}

/** How long to wait still before the next try. */
export function waitMs({ count, lastAt }: Failures, now: number): number {
  if (count === 0) return 0;
  const wait = Math.min(firstMs * 2 ** (count - 1), lastMs);
  return Math.max(0, lastAt + wait - now);
}

/** As `waitMs`, for an index that fails on its own. */
export function indexWaitMs(lastTry: Stored<Pod> | undefined, now: number): number {
  if (!lastTry) return 0;
  return waitMs({ count: totalBefore(lastTry) + 1, lastAt: finishedAt(lastTry) }, now);
}
