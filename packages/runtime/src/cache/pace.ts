import type { Clock } from "@windlass/clock";

/** How long one stretch of work may hold the event loop. */
const SLICE_MS = 6;

/**
 * Says when work has held the event loop for long enough. Counts only the time between `begin` and `isSliceOver`, so that waiting for the
 * server is not work. On a clock that stands still a slice never ends, and the same steps give the same run.
 */
export class Pace {
  readonly #clock: Clock;
  #from = 0;
  #worked = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#from = this.#clock.monotonic();
  }

  /** Whether to let others run before the next piece of work. */
  isSliceOver(): boolean {
    this.#worked += this.#clock.monotonic() - this.#from;
    if (this.#worked < SLICE_MS) return false;
    this.#worked = 0;
    return true;
  }
}

/** Lets others run: timers, sockets, requests. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
