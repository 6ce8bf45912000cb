import { memoised } from "../../memoised.ts";
import { fn, method, type Overload } from "../functions.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../types.ts";
import { CelError, Duration, Timestamp } from "../values.ts";
import { floorDivide, notConvertible, timestamp } from "./numbers.ts";

const UNITS: { readonly [unit: string]: bigint } = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** What 64 bits hold. */
const LONGEST = 2n ** 63n - 1n;

/** Reads Go's notation, `1h30m`. Undefined when it is something else. */
export function parseDuration(text: string): Duration | undefined {
  const match = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text);
  if (match === null) return undefined;
  let nanos = 0n;
  for (const part of (match[2] as string).matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy)) {
    const unit = UNITS[part[3] as string] as bigint;
    const whole = (part[1] as string).replace(/^0+/, "");
    if (whole.length > 19) return undefined;
    nanos += BigInt(whole === "" ? "0" : whole) * unit;
    // No unit has room for more digits.
    const fraction = (part[2] ?? "").slice(0, 18);
    if (fraction !== "") nanos += (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  }
  return nanos > LONGEST ? undefined : new Duration(match[1] === "-" ? -nanos : nanos);
}

/** Reads RFC 3339. Undefined when it is something else, or no such day exists. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|([+-])(\d{2}):(\d{2}))$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isReal || hour > 23 || minute > 59 || second > 59) return undefined;
  const days = BigInt(Math.floor(date.getTime() / 86_400_000));
  let seconds = days * 86_400n + BigInt(hour * 3600 + minute * 60 + second);
  if (match[8] !== "Z") {
    const offset = BigInt(Number(match[10]) * 3600 + Number(match[11]) * 60);
    seconds += match[9] === "+" ? -offset : offset;
  }
  const fraction = (match[7] ?? "").padEnd(9, "0").slice(0, 9);
  const nanos = seconds * 1_000_000_000n + BigInt(fraction);
  return new Timestamp(nanos, match[8] === "Z" ? undefined : match[8]);
}

/** RFC 3339, with as many digits of a second as there are, in the zone the time was written in. */
export function formatTimestamp(value: Timestamp): string {
  const zone = value.zone ?? "Z";
  const shown = zone === "Z" ? value.nanos : value.nanos + BigInt(offsetSeconds(zone)) * 1_000_000_000n;
  const seconds = floorDivide(shown, 1_000_000_000n);
  const nanos = shown - seconds * 1_000_000_000n;
  const base = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction =
    nanos === 0n
      ? ""
      : `.${nanos
          .toString()
          .padStart(9, "0")
          .replace(/(?<!0)0+$/, "")}`;
  return `${base}${fraction}${zone}`;
}

function offsetSeconds(zone: string): number {
  const [hours = 0, minutes = 0] = zone.slice(1).split(":").map(Number);
  return (zone.startsWith("-") ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/**
 * Seconds with a fraction, `90.5s`: how CEL prints durations, with as many digits as a double has.
 */
export function formatDuration({ nanos }: Duration): string {
  const seconds = Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;
  // Small numbers are shown without an exponent.
  const shown = Math.abs(seconds) < 1e-6 ? seconds.toFixed(9).replace(/\.?(?<!0)0+$/, "") : String(seconds);
  return `${shown}s`;
}

/** To make one takes long, and there are some hundred zones. @throws RangeError for other names */
const clockIn = memoised(
  (zone: string) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }),
);

/** The moment as a clock in `zone` shows it, kept in UTC fields. */
function local(value: Timestamp, zone: string): Date {
  const millis = Number(floorDivide(value.nanos, 1_000_000n));
  const offset = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(millis + (offset[1] === "-" ? -minutes : minutes) * 60_000);
  }
  if (zone === "UTC" || zone === "" || zone === "Z") return new Date(millis);
  try {
    const shown = clockIn(zone);
    return new Date(
      `${shown.format(new Date(millis)).replace(" ", "T")}.${String(((millis % 1000) + 1000) % 1000).padStart(3, "0")}Z`,
    );
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000);
}

const PARTS: { readonly [name: string]: (date: Date) => number } = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

export const TIMES: readonly Overload[] = [
  fn("duration", [DURATION], DURATION, (value) => value),
  fn("duration", [STRING], DURATION, (text: string) => {
    const value = parseDuration(text);
    if (value === undefined) throw notConvertible("google.protobuf.Duration");
    return value;
  }),
  fn("timestamp", [TIMESTAMP], TIMESTAMP, (value) => value),
  fn("timestamp", [INT], TIMESTAMP, (seconds: bigint) => timestamp(seconds * 1_000_000_000n)),
  fn("timestamp", [STRING], TIMESTAMP, (text: string) => {
    const value = parseTimestamp(text);
    if (value === undefined) throw notConvertible("google.protobuf.Timestamp");
    timestamp(value.nanos);
    return value;
  }),
  ...Object.entries(PARTS).flatMap(([name, part]) => [
    method(name, [TIMESTAMP], INT, (value: Timestamp) => BigInt(part(local(value, "UTC")))),
    method(name, [TIMESTAMP, STRING], INT, (value: Timestamp, zone: string) =>
      BigInt(part(local(value, zone))),
    ),
  ]),
  method("getHours", [DURATION], INT, (value: Duration) => value.nanos / 3_600_000_000_000n),
  method("getMinutes", [DURATION], INT, (value: Duration) => value.nanos / 60_000_000_000n),
  method("getSeconds", [DURATION], INT, (value: Duration) => value.nanos / 1_000_000_000n),
  method("getMilliseconds", [DURATION], INT, (value: Duration) => value.nanos / 1_000_000n),
];
