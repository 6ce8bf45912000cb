import type { ResolverReport } from "./resolver-reports.ts";

/** What the replicas of the resolver say of one service. One that does not answer is undefined. */
export type Reports = readonly (ResolverReport | undefined)[];

/**
 * Remembers how many requests each service had had when it began to fall asleep. What is lost with
 * the process is noted again: a request that came in between was answered, and no longer takes the
 * sleep back.
 */
export class TrafficWatch {
  readonly #noted = new Map<string, { readonly attempt: number; readonly requests: number }>();

  /** Whether requests came since this attempt to sleep was first seen. */
  hasMore(owner: string, attempt: number, reports: Reports): boolean {
    const requests = sum(reports, ({ requests: count }) => count);
    const noted = this.#noted.get(owner);
    if (noted?.attempt === attempt) return requests > noted.requests;
    this.#noted.set(owner, { attempt, requests });
    return false;
  }

  forget(owner: string): void {
    this.#noted.delete(owner);
  }
}

/** How many requests wait in all replicas. */
export function heldIn(reports: Reports): number {
  return sum(reports, ({ held }) => held);
}

/** Whether every replica follows this step, and forwards nothing. */
export function isQuiet(reports: Reports, step: number): boolean {
  return (
    reports.length > 0 && reports.every((one) => one !== undefined && one.step >= step && one.inFlight === 0)
  );
}

function sum(reports: Reports, value: (report: ResolverReport) => number): number {
  return reports.reduce((total, report) => total + (report ? value(report) : 0), 0);
}
