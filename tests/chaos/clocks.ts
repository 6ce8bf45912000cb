import { type Clock, systemClock } from "@windlass/clock";

/**
 * Time that runs so many times as fast as it should: what takes minutes of patience shows in
 * seconds.
 */
export function fastClock(rate: number): Clock {
  const wall = systemClock.now();
  const start = systemClock.monotonic();
  const monotonic = () => (systemClock.monotonic() - start) * rate;
  return {
    now: () => wall + monotonic(),
    monotonic,
    schedule: (delayMs, task) => systemClock.schedule(delayMs / rate, task),
  };
}

/** A machine whose wall clock is set, by an hour or a day, while it runs. */
export class JumpingClock implements Clock {
  #offsetMs = 0;

  jump(ms: number): void {
    this.#offsetMs += ms;
  }

  now(): number {
    return systemClock.now() + this.#offsetMs;
  }

  monotonic(): number {
    return systemClock.monotonic();
  }

  schedule(delayMs: number, task: () => void): () => void {
    return systemClock.schedule(delayMs, task);
  }
}
