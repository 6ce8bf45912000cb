import type { ResolverReport } from "./resolver-reports.ts";

/** What the processes of the resolver say of one service. One that does not answer is undefined. */
export type Reports = readonly (ResolverReport | undefined)[];

/** A process of the resolver, and what it reports; undefined if it does not answer. */
export interface Reply {
  /** Its replica's. */
  readonly address: string;
  /** Where it reports. */
  readonly port: number;
  readonly report: Reports[number];
}

/** How many requests a process of the resolver had taken. */
interface Noted {
  readonly instance: string | undefined;
  readonly requests: number;
}

/**
 * Remembers how many requests each service had had when it began to fall asleep, for each process
 * of the resolver: one that restarts counts from zero again. What is lost with this process is
 * noted again: a request that came in between was answered, and no longer takes the sleep back.
 */
export class TrafficWatch {
  readonly #noted = new Map<string, { readonly attempt: number; readonly byProcess: Map<string, Noted> }>();

  /** Whether requests came since this attempt to sleep was first seen. */
  hasMore(owner: string, attempt: number, replies: readonly Reply[]): boolean {
    const known = this.#noted.get(owner);
    const noted = known?.attempt === attempt ? known : { attempt, byProcess: new Map<string, Noted>() };
    this.#noted.set(owner, noted);
    let hasMore = false;
    for (const { address, port, report } of replies) {
      if (!report) continue;
      const process = `${address} ${port}`;
      const { instance, requests } = report;
      const before = noted.byProcess.get(process);
      if (!before) noted.byProcess.set(process, { instance, requests });
      else if (requests > (before.instance === instance ? before.requests : 0)) hasMore = true;
    }
    return hasMore;
  }

  forget(owner: string): void {
    this.#noted.delete(owner);
  }
}

/** How many requests wait in all processes. */
export function heldIn(reports: Reports): number {
  return sum(reports, ({ held }) => held);
}

/**
 * Whether replicas take the service's connections, by their addresses; of those that answered. One
 * process that listens is enough: its replica's others listen on the same ports, or will.
 */
export function listeningIn(replies: readonly Reply[]): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { address, report } of replies)
    if (report) found.set(address, report.isListening || (found.get(address) ?? false));
  return found;
}

/** Whether every process follows this step, and forwards nothing. */
export function isQuiet(reports: Reports, step: number): boolean {
  return (
    reports.length > 0 && reports.every((one) => one !== undefined && one.step >= step && one.inFlight === 0)
  );
}

function sum(reports: Reports, value: (report: ResolverReport) => number): number {
  return reports.reduce((total, report) => total + (report ? value(report) : 0), 0);
}
