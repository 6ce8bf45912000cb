import { milliseconds } from "@windlass/clock";

/**
 * The milliseconds in a span that a schema has let through.
 *
 * @param field Names the field in the error.
 * @throws RangeError for text that no schema lets through.
 */
export function spanMs(text: string, field: string): number {
  return milliseconds(text, field);
}
