import type { Clock } from "./clock.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
}

/**
 * A clock that stands still until it is told to move. Timers fire in the order of their due time, and of their making
 * where that is equal, so the same steps give the same run.
 *
 * @example
 * const clock = new ManualClock(Date.UTC(2026, 0, 1));
 * clock.schedule(1_000, () => console.log("a second later"));
 * await clock.advance(1_000);
 */
export class ManualClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  #timers: Timer[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
    this.#start = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, delayMs), order: this.#order++, task };
    this.#timers.push(timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** When the next timer is due, in `now()`'s milliseconds; undefined if none waits. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /**
   * Moves time forward, firing each timer at its own due time and letting what it started settle (all microtasks, and
   * whatever I/O was ready) before the next.
   */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let timer = this.#next(); timer && timer.at <= until; timer = this.#next()) {
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      this.#now = Math.max(this.#now, timer.at);
      timer.task();
      await settle();
    }
    this.#now = until;
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }
}

/** Lets everything that is ready run: one turn of the event loop, with the microtasks before and after it. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
