import { type Duration, milliseconds } from "./duration.ts";

/**
 * Time, handed in. Everything that waits, expires or stamps takes a `Clock`, so that a test decides
 * when time passes.
 */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. May jump; for stamps that people read. */
  now(): number;
  /**
   * Milliseconds from an arbitrary origin that never go back. For measuring how long something took
   * or may still take.
   */
  monotonic(): number;
  /** Runs `task` once, after at least `delayMs`. The returned function takes it back. */
  schedule(delayMs: number, task: () => void): () => void;
  /**
   * The time of work that does nothing but show that its sender is still alive, such as the renewal
   * of a lease. A clock that is moved by hand may let it stand still while nothing else is due, for
   * all who use it alike.
   *
   * @default this clock
   */
  readonly heartbeats?: Clock;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, task) {
    const dueAt = performance.now() + delayMs;
    let timer = setTimeout(fire, Math.min(Math.ceil(delayMs), LONGEST_TIMER_MS));
    function fire() {
      // Node's timers count whole milliseconds of a coarser clock, and may fire one or two too
      // soon. Code that compares `monotonic` with the time that was waited for would find that it
      // has not come, and wait indefinitely.
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) timer = setTimeout(fire, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
      else task();
    }
    return () => clearTimeout(timer);
  },
};

/** The longest that Node takes for a timer, some 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * A clock that runs `factor` times as fast as another, from now on: hours of leases, cron and
 * expiry in seconds, with real connections in between. For tests that need no more than that; where
 * every step must be the same again, a `ManualClock`.
 *
 * @throws RangeError unless the factor is above 0.
 *
 * @example
 * const plane = await ControlPlane.start({ clock: fasterClock(600) }); // a minute takes a tenth of a second
 */
export function fasterClock(factor: number, clock: Clock = systemClock): Clock {
  if (!(factor > 0 && Number.isFinite(factor)))
    throw new RangeError(`a clock cannot run ${factor} times as fast`);
  const began = { now: clock.now(), monotonic: clock.monotonic() };
  const passed = () => (clock.monotonic() - began.monotonic) * factor;
  return {
    now: () => Math.floor(began.now + passed()),
    monotonic: () => began.monotonic + passed(),
    schedule: (delayMs, task) => clock.schedule(delayMs / factor, task),
  };
}

/**
 * Resolves after this much of the clock's time.
 *
 * @throws the signal's reason, as soon as it is aborted.
 */
export function sleep(clock: Clock, delay: Duration, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    // A number may be negative: what is left until a moment that has passed.
    const delayMs = typeof delay === "number" ? delay : milliseconds(delay, "sleep");
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
