/** A text that is no time. The message is the one Go gives. */
export class TimeError extends Error {
  override readonly name = "TimeError";
}

/** A moment: milliseconds since the epoch at a whole second, and what is beyond it. */
export interface Moment {
  readonly ms: number;
  readonly nanos: number;
}

interface Element {
  readonly layout: string;
  readonly pattern: RegExp;
}

const date: readonly Element[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d{2}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d{2}/ },
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d{2}/ },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d{2}/ },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d{2}(?:[.,]\d+)?/ },
];
const zone: Element = { layout: "Z07:00", pattern: /^(?:Z|[+-]\d{2}:\d{2})/ };

const layouts = {
  seconds: { text: "2006-01-02T15:04:05Z07:00", elements: [...date, zone] },
  micros: {
    text: "2006-01-02T15:04:05.000000Z07:00",
    elements: [
      ...date.slice(0, -1),
      { layout: "05", pattern: /^\d{2}/ },
      { layout: ".000000", pattern: /^\.\d{6}/ },
      zone,
    ],
  },
} as const;

/**
 * Reads an RFC 3339 time as Go's parser does: to any precision with the layout `seconds`, with
 * exactly six fractional digits with `micros`.
 *
 * @throws {TimeError}
 */
export function parseTime(text: string, precision: keyof typeof layouts): Moment {
  const { text: layout, elements } = layouts[precision];
  const parts: string[] = [];
  let rest = text;
  for (const element of elements) {
    const matched = element.pattern.exec(rest)?.[0];
    if (matched === undefined) {
      throw new TimeError(
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element.layout}"`,
      );
    }
    parts.push(matched);
    rest = rest.slice(matched.length);
  }
  if (rest !== "")
    throw new TimeError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`);
  return moment(text, parts);
}

function moment(text: string, parts: readonly string[]): Moment {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = [0, 2, 4, 6, 8].map((at) => Number(parts[at]));
  const [seconds = "0", fraction = ""] = (parts[10] ?? "").split(/[.,]/);
  const second = Number(seconds);
  const tail = parts.length > 12 ? (parts[11] ?? "").slice(1) : fraction;
  const offset = parts.at(-1) ?? "Z";
  const outOfRange = (what: string) =>
    new TimeError(`parsing time ${JSON.stringify(text)}: ${what} out of range`);
  if (month < 1 || month > 12) throw outOfRange("month");
  if (hour > 23) throw outOfRange("hour");
  if (minute > 59) throw outOfRange("minute");
  if (second > 59) throw outOfRange("second");
  const wall = new Date(0);
  wall.setUTCFullYear(year, month - 1, day);
  wall.setUTCHours(hour, minute, second);
  if (day < 1 || wall.getUTCDate() !== day) throw outOfRange("day");
  const [zoneHour = 0, zoneMinute = 0] = offset.slice(1).split(":").map(Number);
  if (zoneHour > 24) throw outOfRange("time zone offset hour");
  if (zoneMinute > 60) throw outOfRange("time zone offset minute");
  const eastMs = (offset.startsWith("-") ? -1 : 1) * (zoneHour * 60 + zoneMinute) * 60_000;
  return {
    ms: wall.getTime() - eastMs,
    nanos: Number(tail.slice(0, 9).padEnd(9, "0")),
  };
}

const written = {
  seconds: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
  micros: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/,
} as const;

/** Whether a text is a time just as it would be written: most are, and need not be taken apart. */
export function isWritten(text: string, precision: keyof typeof layouts): boolean {
  if (!written[precision].test(text)) return false;
  const seconds = text.slice(0, 19);
  const ms = Date.parse(`${seconds}Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(seconds);
}

/** Writes a moment in UTC, to the second or with six digits. */
export function formatTime({ ms, nanos }: Moment, precision: keyof typeof layouts): string {
  const iso = new Date(ms).toISOString();
  const seconds = iso.slice(0, iso.indexOf("."));
  if (precision === "seconds") return `${seconds}Z`;
  return `${seconds}.${String(Math.floor(nanos / 1_000)).padStart(6, "0")}Z`;
}

/** Whether it is the first moment of year one: Go's zero time, which JSON writes as null. */
export function isZeroTime({ ms, nanos }: Moment): boolean {
  return ms === -62_135_596_800_000 && nanos === 0;
}
