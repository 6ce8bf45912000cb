/** The units that a duration may be written in: those of Go, and days. */
export type DurationUnit = "ns" | "us" | "µs" | "ms" | "s" | "m" | "h" | "d";

type Fraction = `${bigint}.${"" | "0" | "00"}${bigint}`;
type Amount = bigint | Fraction;

/**
 * A duration as text: one unit, or several from the longest to the shortest, of which the last may
 * have a fraction. Of a number that is known only at run time no text is made: give the
 * milliseconds (`seconds * 1_000`).
 */
export type DurationText =
  | `${Amount}${DurationUnit}`
  | `${bigint}d${Amount}${"h" | "m" | "s"}`
  | `${bigint}h${Amount}${"m" | "s"}`
  | `${bigint}m${Amount}s`
  | `${bigint}s${Amount}ms`
  | `${bigint}d${bigint}h${Amount}${"m" | "s"}`
  | `${bigint}${"d" | "h"}${bigint}m${Amount}s`
  | `${bigint}d${bigint}h${bigint}m${Amount}s`;

/**
 * A length of time: a number of milliseconds, or text such as `"30s"`, `"1.5h"` or `"1h30m"`. Every
 * option of Windlass that is a length of time takes both. What is reported, and what a {@link
 * Clock} is asked for, is milliseconds, and has that in its name: `durationMs`. Fields with
 * Kubernetes' own names are what they are there: `timeoutSeconds`.
 */
export type Duration = number | DurationText;

const unitMs: Readonly<Record<DurationUnit, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const part = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/y;

/**
 * The milliseconds in a duration. It may be any text, such as that of a flag or a variable.
 *
 * @param what Names the option in the error, e.g. `manager: gracefulShutdown`.
 * @throws RangeError for what is no duration, and for a negative one.
 */
export function milliseconds(duration: number | string, what: string): number {
  const found = typeof duration === "number" ? duration : parse(duration);
  if (found >= 0) return found;
  throw new RangeError(
    `${what} (${typeof duration === "number" ? duration : JSON.stringify(duration)}) must be a number of milliseconds, 0 or more, or text such as "30s", "5m" or "1h30m"`,
  );
}

/** NaN for text that is no duration. */
function parse(text: unknown): number {
  if (typeof text !== "string" || text === "") return Number.NaN;
  let total = 0;
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match) return Number.NaN;
    total += Number(match[1]) * unitMs[match[2] as DurationUnit];
  }
  return total;
}
