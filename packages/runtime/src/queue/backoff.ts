import { type Duration, milliseconds, type Random } from "@windlass/clock";

/**
 * How long a key that keeps failing waits between its tries. The defaults are controller-runtime's,
 * with jitter.
 */
export interface BackoffOptions {
  /** The wait after the first failure. @default "5ms" */
  readonly initial?: Duration;
  /** What each further failure multiplies the wait by. @default 2 */
  readonly factor?: number;
  /** The longest wait. @default "1000s" */
  readonly max?: Duration;
  /**
   * The part of each wait that chance may take away, from 0 to 1, so that keys that failed together
   * part ways.
   *
   * @default 0.2
   */
  readonly jitter?: number;
}

/**
 * Gives the wait after the `failures`-th failure in a row: never above `maxMs`, whatever chance
 * says.
 */
export type Backoff = (failures: number) => number;

/**
 * Exponential backoff with jitter taken off, so that the maximum is one.
 *
 * @throws RangeError naming the invalid option.
 */
export function exponentialBackoff(random: Random, options: BackoffOptions = {}): Backoff {
  const { initialMs, factor, maxMs, jitter } = checkBackoff(options, "backoff");
  return (failures) => {
    const full = Math.min(maxMs, initialMs * factor ** Math.max(0, failures - 1));
    return full * (1 - jitter * random.next());
  };
}

/**
 * The options with their defaults, in milliseconds.
 *
 * @param subject who set them, for the message.
 * @throws RangeError naming the invalid option.
 */
export function checkBackoff(options: BackoffOptions, subject: string) {
  const { initial = "5ms", factor = 2, max = "1000s", jitter = 0.2 } = options;
  const initialMs = milliseconds(initial, `${subject}: initial`);
  const maxMs = milliseconds(max, `${subject}: max`);
  if (!(factor >= 1)) throw new RangeError(`${subject}: factor (${factor}) must be 1 or more`);
  if (maxMs < initialMs)
    throw new RangeError(`${subject}: max (${max}) must be at least initial (${initial})`);
  if (!(jitter >= 0 && jitter <= 1))
    throw new RangeError(`${subject}: jitter (${jitter}) must be from 0 to 1`);
  return { initialMs, factor, maxMs, jitter };
}
