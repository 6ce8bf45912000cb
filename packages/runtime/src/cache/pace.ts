import type { Clock } from "@windlass/clock";

/** How long one stretch of work may hold the event loop. */
const SLICE_MS = 6;

/**
 * Says when work has held the event loop for long enough. Counts only the time between `begin` and
 * `isSliceOver`, so that waiting for the server is not work. On a clock that stands still a slice
 * never ends, and the same steps give the same run.
 */
export class Pace {
  readonly #clock: Clock;
  #from = 0;
  #worked = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param now where the caller has asked the clock already */
  begin(now = this.#clock.monotonic()): void {
    this.#from = now;
  }

  /** Whether to let others run before the next piece of work. */
  isSliceOver(): boolean {
    this.#worked += this.#clock.monotonic() - this.#from;
    if (this.#worked < SLICE_MS) return false;
    this.#worked = 0;
    return true;
  }
}

/**
 * For workers that go from one piece of work to the next without ever having to wait: makes all of
 * them pause together once they have held the event loop for long enough, or timers, sockets and
 * probes would starve for as long as there is work.
 */
export class YieldBudget {
  readonly #clock: Clock;
  #turnedAt: number;
  #turning: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnedAt = clock.monotonic();
  }

  /** What to wait for before the next piece of work; undefined if it may begin at once. */
  pause(): Promise<void> | undefined {
    if (!this.#turning && this.#clock.monotonic() - this.#turnedAt >= SLICE_MS)
      this.#turning = turn().then(() => {
        this.#turning = undefined;
        this.#turnedAt = this.#clock.monotonic();
      });
    return this.#turning;
  }
}

/** Lets others run: timers, sockets, requests. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
