import type { Clock } from "@windlass/clock";

/** Whether a failure that occurred is logged. */
export type LogDecision =
  /** The first occurrence: logged with everything that helps to find the cause. */
  | { readonly as: "first" }
  /** The failure lasts: logged again after a pause, with the number of occurrences. */
  | { readonly as: "repeat"; readonly count: number }
  /** Logged a moment ago: not logged again yet. */
  | { readonly as: "suppressed" };

/** What is remembered about one failure. */
export interface LogHistory {
  readonly loggedAt: number;
  readonly occurredAt: number;
  /** How often it occurred. */
  readonly count: number;
  /** How long it is not logged again. */
  readonly pauseMs: number;
}

/** The pause after a line was logged, which doubles each time. */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** For failures that a person has to act on. */
export const pauses: Pauses = { firstMs: 60_000, longestMs: 3_600_000 };

/**
 * A failure that did not occur for this long is over. If it comes back, it is logged as the first.
 */
const OVER_MS = 2 * 3_600_000;

/**
 * Decides whether a failure that occurred is logged: the first time, and while it lasts after ever
 * longer pauses. Pure.
 *
 * @param history what is remembered about it; undefined if it did not occur before
 */
export function step(
  history: LogHistory | undefined,
  now: number,
  { firstMs, longestMs }: Pauses = pauses,
): { readonly history: LogHistory; readonly decision: LogDecision } {
  if (!history || now - history.occurredAt > OVER_MS)
    return {
      history: { loggedAt: now, occurredAt: now, count: 1, pauseMs: firstMs },
      decision: { as: "first" },
    };
  const count = history.count + 1;
  if (now - history.loggedAt < history.pauseMs)
    return { history: { ...history, occurredAt: now, count }, decision: { as: "suppressed" } };
  const pauseMs = Math.min(2 * history.pauseMs, longestMs);
  return { history: { loggedAt: now, occurredAt: now, count, pauseMs }, decision: { as: "repeat", count } };
}

/** Above this number of causes, those that are over are forgotten. */
const MANY = 1_000;

/** Decides for many causes, each by itself, whether an occurrence is logged. */
export class LogThrottle {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #pauses: Pauses;
  readonly #histories = new Map<string, LogHistory>();

  /** @param given @default a minute, doubling to an hour */
  constructor(clock: Pick<Clock, "monotonic">, given: Pauses = pauses) {
    this.#clock = clock;
    this.#pauses = given;
  }

  /** Records an occurrence. */
  record(cause: string): LogDecision {
    const now = this.#clock.monotonic();
    const { history, decision } = step(this.#histories.get(cause), now, this.#pauses);
    this.#histories.set(cause, history);
    if (decision.as === "first" && this.#histories.size > MANY) this.#forgetOld(now);
    return decision;
  }

  /** The failure is over: its next occurrence is logged as the first. */
  clear(cause: string): void {
    if (this.#histories.size > 0) this.#histories.delete(cause);
  }

  #forgetOld(now: number): void {
    for (const [cause, { occurredAt }] of this.#histories)
      if (now - occurredAt > OVER_MS) this.#histories.delete(cause);
  }
}

/** The field of a log line with the number of occurrences, where there was more than one. */
export function countOf(decision: LogDecision): { readonly count?: number } {
  return decision.as === "repeat" ? { count: decision.count } : {};
}

/**
 * The decision for several failures that occurred together: all are logged if one of them occurred
 * for the first time.
 */
export function combined(decisions: readonly LogDecision[]): LogDecision {
  if (decisions.some(({ as }) => as === "first")) return { as: "first" };
  const counts = decisions.flatMap((decision) => (decision.as === "repeat" ? [decision.count] : []));
  return counts.length > 0 ? { as: "repeat", count: Math.max(...counts) } : { as: "suppressed" };
}
