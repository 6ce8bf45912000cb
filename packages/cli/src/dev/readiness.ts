import { setTimeout as delay } from "node:timers/promises";

/**
 * How often it is asked, and how long an operator is given to answer at all: some serve their
 * probes elsewhere, or nowhere.
 */
const everyMs = 25;
const silenceMs = 5_000;

/**
 * Waits until an operator says that it is ready: its caches are filled, and its webhooks may be
 * called.
 *
 * @returns whether it did; `false` if it ended, or does not answer there
 */
export async function becomesReady(
  url: string,
  isAlive: () => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  let heardAt = performance.now();
  while (isAlive() && performance.now() - heardAt < silenceMs) {
    try {
      // It sends nobody there: an operator that a probe found ready drains when it ends.
      const { ok } = await fetch(`${url}?peek`, { signal });
      if (ok) return true;
      heardAt = performance.now();
    } catch (error) {
      if (signal.aborted) return false;
      // Nobody listens there yet.
      if (!(error instanceof TypeError)) throw error;
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return false;
  }
  return false;
}
