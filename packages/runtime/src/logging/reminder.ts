import type { Clock } from "@windlass/clock";

/** Whether a trouble that was met is worth a line. */
export type Telling =
  /** For the first time: with all that helps to find it. */
  | { readonly as: "news" }
  /** It lasts: told once more after a pause, with how often it was met. */
  | { readonly as: "reminder"; readonly count: number }
  /** Told a moment ago. */
  | { readonly as: "known" };

/** What has been told of one trouble. */
export interface Told {
  readonly toldAt: number;
  readonly metAt: number;
  /** How often it was met. */
  readonly count: number;
  /** How long it is not told again. */
  readonly pauseMs: number;
}

/** The pause after a trouble was told, which doubles each time. */
export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** For troubles that somebody has to see to. */
export const pauses: Pauses = { firstMs: 60_000, longestMs: 3_600_000 };

/** A trouble that was not met for as long as this is over, and news when it comes back. */
const OVER_MS = 2 * 3_600_000;

/**
 * Decides whether a trouble that was met is worth a line: the first time, and while it lasts after ever longer pauses. Pure.
 *
 * @param told what was told of it so far; undefined if nothing
 */
export function step(
  told: Told | undefined,
  now: number,
  { firstMs, longestMs }: Pauses = pauses,
): { readonly told: Told; readonly telling: Telling } {
  if (!told || now - told.metAt > OVER_MS)
    return { told: { toldAt: now, metAt: now, count: 1, pauseMs: firstMs }, telling: { as: "news" } };
  const count = told.count + 1;
  if (now - told.toldAt < told.pauseMs)
    return { told: { ...told, metAt: now, count }, telling: { as: "known" } };
  const pauseMs = Math.min(2 * told.pauseMs, longestMs);
  return { told: { toldAt: now, metAt: now, count, pauseMs }, telling: { as: "reminder", count } };
}

/** Past so many troubles, those that are over are let go. */
const MANY = 1_000;

/** Troubles by what causes them, each told by itself. */
export class Reminders {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #pauses: Pauses;
  readonly #told = new Map<string, Told>();

  /** @param given @default a minute, doubling to an hour */
  constructor(clock: Pick<Clock, "monotonic">, given: Pauses = pauses) {
    this.#clock = clock;
    this.#pauses = given;
  }

  /** A trouble was met. */
  met(cause: string): Telling {
    const now = this.#clock.monotonic();
    const { told, telling } = step(this.#told.get(cause), now, this.#pauses);
    this.#told.set(cause, told);
    if (telling.as === "news" && this.#told.size > MANY) this.#letGo(now);
    return telling;
  }

  /** It is over: the next time it is news. */
  over(cause: string): void {
    if (this.#told.size > 0) this.#told.delete(cause);
  }

  #letGo(now: number): void {
    for (const [cause, { metAt }] of this.#told) if (now - metAt > OVER_MS) this.#told.delete(cause);
  }
}

/** The field of a log line that says how often a trouble was met, where there is more than the line to tell of. */
export function countOf(telling: Telling): { readonly count?: number } {
  return telling.as === "reminder" ? { count: telling.count } : {};
}

/** What is to be told of several troubles that were met together: all of them, if one is news. */
export function together(tellings: readonly Telling[]): Telling {
  if (tellings.some(({ as }) => as === "news")) return { as: "news" };
  const counts = tellings.flatMap((telling) => (telling.as === "reminder" ? [telling.count] : []));
  return counts.length > 0 ? { as: "reminder", count: Math.max(...counts) } : { as: "known" };
}
