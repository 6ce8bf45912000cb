import type { Random } from "@windlass/clock";

/** How long a key that keeps failing waits between its tries. The defaults are controller-runtime's, with jitter. */
export interface BackoffOptions {
  /** The wait after the first failure. @default 5 */
  readonly initialMs?: number;
  /** What each further failure multiplies the wait by. @default 2 */
  readonly factor?: number;
  /** The longest wait. @default 1_000_000 (16 min 40 s) */
  readonly maxMs?: number;
  /** The part of each wait that chance may take away, from 0 to 1, so that keys that failed together part ways. @default 0.2 */
  readonly jitter?: number;
}

/** Gives the wait after the `failures`-th failure in a row: never above `maxMs`, whatever chance says. */
export type Backoff = (failures: number) => number;

/**
 * Exponential backoff with jitter taken off, so that the maximum is one.
 *
 * @throws RangeError naming the option that makes no sense.
 */
export function exponentialBackoff(random: Random, options: BackoffOptions = {}): Backoff {
  const { initialMs, factor, maxMs, jitter } = checkBackoff(options, "backoff");
  return (failures) => {
    const full = Math.min(maxMs, initialMs * factor ** Math.max(0, failures - 1));
    return full * (1 - jitter * random.next());
  };
}

/**
 * The options with their defaults.
 *
 * @param subject who set them, for the message.
 * @throws RangeError naming the option that makes no sense.
 */
export function checkBackoff(options: BackoffOptions, subject: string): Required<BackoffOptions> {
  const { initialMs = 5, factor = 2, maxMs = 1_000_000, jitter = 0.2 } = options;
  if (!(initialMs >= 0)) throw new RangeError(`${subject}: initialMs (${initialMs}) must be 0 or more`);
  if (!(factor >= 1)) throw new RangeError(`${subject}: factor (${factor}) must be 1 or more`);
  if (!(maxMs >= initialMs))
    throw new RangeError(`${subject}: maxMs (${maxMs}) must be at least initialMs (${initialMs})`);
  if (!(jitter >= 0 && jitter <= 1))
    throw new RangeError(`${subject}: jitter (${jitter}) must be from 0 to 1`);
  return { initialMs, factor, maxMs, jitter };
}
