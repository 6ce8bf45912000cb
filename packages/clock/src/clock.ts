/**
 * Time, handed in. Everything that waits, expires or stamps takes a `Clock`, so that a test decides when time passes.
 */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. May jump; for stamps that people read. */
  now(): number;
  /** Milliseconds from an arbitrary origin that never go back. For measuring how long something took or may still take. */
  monotonic(): number;
  /** Runs `task` once, after at least `delayMs`. The returned function takes it back. */
  schedule(delayMs: number, task: () => void): () => void;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after `delayMs` of the clock's time.
 *
 * @throws the signal's reason, as soon as it is aborted.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
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
