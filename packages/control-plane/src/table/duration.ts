import { parseTime } from "../kinds/index.ts";

/**
 * A length of time as kubectl's tables show it: with less precision the longer it is, as in `7s`,
 * `5m3s`, `2d4h`, `45d`, `3y`.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1_000);
  // A clock may be a second behind the server that stamped the object.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, "m", seconds % 60, "s");
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, "h", minutes % 60, "m");
  if (hours < 2 * 24) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 8 * 24) return withRest(days, "d", hours % 24, "h");
  if (days < 2 * 365) return `${days}d`;
  const years = Math.floor(days / 365);
  if (years < 8) return withRest(years, "y", days % 365, "d");
  return `${years}y`;
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;
}

/** How long ago a timestamp was, or `<unknown>` where there is none. */
export function since(timestamp: string, now: number): string {
  const ms = millisOf(timestamp);
  return ms === undefined ? "<unknown>" : humanDuration(now - ms);
}

/** Milliseconds since the epoch, or undefined where the text is empty or no time. */
export function millisOf(timestamp: string): number | undefined {
  if (timestamp === "") return undefined;
  try {
    const { ms, nanos } = parseTime(timestamp, "seconds");
    return ms + Math.floor(nanos / 1_000_000);
  } catch {
    return undefined;
  }
}
