import type { ResolverReport } from "./resolver-reports.ts";

/** What the replicas of the resolver say of one service. One that does not answer is undefined. */
export type Reports = readonly (ResolverReport | undefined)[];

/** A replica of the resolver, and what it reports; undefined if it does not answer. */
export interface Reply {
  readonly address: string;
  readonly report: Reports[number];
}

/** How many requests a process of the resolver had taken. */
interface Noted {
  readonly instance: string | undefined;
  readonly requests: number;
}

/**
 * Remembers how many requests each service had had when it began to fall asleep, for each replica
 * of the resolver: one that restarts counts from zero again. What is lost with this process is
 * noted again: a request that came in between was answered, and no longer takes the sleep back.
 */
export class TrafficWatch {
  readonly #noted = new Map<string, { readonly attempt: number; readonly byAddress: Map<string, Noted> }>();

  /** Whether requests came since this attempt to sleep was first seen. */
  hasMore(owner: string, attempt: number, replies: readonly Reply[]): boolean {
    const known = this.#noted.get(owner);
    const noted = known?.attempt === attempt ? known : { attempt, byAddress: new Map<string, Noted>() };
    this.#noted.set(owner, noted);
    let hasMore = false;
    for (const { address, report } of replies) {
      if (!report) continue;
      const { instance, requests } = report;
      const before = noted.byAddress.get(address);
      if (!before) noted.byAddress.set(address, { instance, requests });
      else if (requests > (before.instance === instance ? before.requests : 0)) hasMore = true;
    }
    return hasMore;
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
