import { type Matcher, PatternError } from "../../patterns/index.ts";
import { goNumber, goQuote } from "../../schema/go-text.ts";
import { fn, matching, method, type Overload, SCAN, traversal } from "../functions.ts";
import { BOOL, BYTES, DOUBLE, DURATION, DYN, INT, listOf, STRING, TIMESTAMP, UINT } from "../types.ts";
import {
  CelError,
  CelMap,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  typeOf,
  Uint,
  type Value,
} from "../values.ts";
import { formatDuration, formatTimestamp } from "./times.ts";

/**
 * Strings are indexed by code point. Those without surrogates, which nearly all are, need no
 * splitting.
 */
function points(text: string): readonly string[] | string {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

function slice(text: string, start: number, end: number): string {
  const parts = points(text);
  return typeof parts === "string" ? parts.slice(start, end) : parts.slice(start, end).join("");
}

function lengthOf(text: string): number {
  return points(text).length;
}

/** An invalid pattern is an error of the expression. */
function matched<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(error.message);
    throw error;
  }
}

const regexCost = (size = 0, expression = 0): number => traversal(size + 1) * Math.ceil(expression * 0.25);
/** Finding costs as much as matching, and may return the whole text. */
const SEARCH = { cost: regexCost, size: (size = 0) => size };

const matches = (matcher: Matcher, text: string, pattern: string): boolean =>
  matched(() => matcher.test(pattern, text));

function findAll(matcher: Matcher, text: string, pattern: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  return matched(() => [...matcher.findAll(pattern, text, most)]);
}

function indexOf(text: string, part: string, from: bigint): bigint {
  const parts = points(text);
  if (from < 0n || from > BigInt(parts.length)) throw new CelError(`index out of range: ${from}`);
  const start = slice(text, 0, Number(from)).length;
  const at = text.indexOf(part, start);
  return at < 0 ? -1n : BigInt(lengthOf(text.slice(0, at)));
}

function lastIndexOf(text: string, part: string, from: bigint): bigint {
  if (from < 0n || from > BigInt(lengthOf(text))) throw new CelError(`index out of range: ${from}`);
  const at = text.lastIndexOf(part, slice(text, 0, Number(from)).length);
  return at < 0 ? -1n : BigInt(lengthOf(text.slice(0, at)));
}

function replaceFirst(text: string, from: string, to: string, count: bigint): string {
  if (count < 0n) return text.replaceAll(from, () => to);
  const parts = from === "" ? Array.from(text) : text.split(from);
  if (from === "") parts.unshift("");
  const limit = Math.min(Number(count), from === "" ? parts.length : parts.length - 1);
  if (from === "") {
    return parts.map((part, index) => (index < limit ? `${index === 0 ? "" : part}${to}` : part)).join("");
  }
  return (
    parts.slice(0, limit + 1).join(to) +
    parts
      .slice(limit + 1)
      .map((part) => from + part)
      .join("")
  );
}

function split(text: string, separator: string, limit: bigint): string[] {
  if (limit === 0n) return [];
  const parts = separator === "" ? Array.from(text) : text.split(separator);
  if (limit < 0n || BigInt(parts.length) <= limit) return parts;
  const kept = parts.slice(0, Number(limit) - 1);
  return [...kept, parts.slice(Number(limit) - 1).join(separator)];
}

function substring(text: string, start: bigint, end: bigint): string {
  const length = BigInt(lengthOf(text));
  if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0n || start > length) throw new CelError(`index out of range: ${start}`);
  if (end < 0n || end > length) throw new CelError(`index out of range: ${end}`);
  return slice(text, Number(start), Number(end));
}

/**
 * Without white space at both ends, as Unicode has it: JavaScript lacks one, and has one too many.
 */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text, start)) start++;
  while (end > start && isSpace(text, end - 1)) end--;
  return text.slice(start, end);
}

function isSpace(text: string, at: number): boolean {
  return /[\s\u0085]/.test(text[at] as string) && text[at] !== "\ufeff";
}

function ascii(change: (text: string) => string, range: RegExp): (text: string) => string {
  return (text) => text.replace(range, change);
}

/** A value as `string.format` prints it for `%s`. */
export function shownText(value: Value): string {
  if (typeof value === "string") return value;
  if (value === null) return "null";
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return shownDouble(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (Array.isArray(value)) return `[${value.map(shownItem).join(", ")}]`;
  if (value instanceof CelMap) {
    const entries = value.pairs().map(([key, inner]) => `${shownItem(key)}:${shownItem(inner)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  if (value instanceof Optional || value instanceof Opaque) {
    throw new CelError(
      `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeOf(value)}`,
    );
  }
  return "";
}

/** Inside lists and maps, strings are quoted and times say what they are. */
function shownItem(value: Value): string {
  if (typeof value === "string") return goQuote(value);
  if (typeof value === "number" && Number.isFinite(value)) return value.toFixed(6);
  if (value instanceof Uint8Array) return `b${goQuote(new TextDecoder().decode(value))}`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatDuration(value)}")`;
  return shownText(value);
}

function shownDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return goNumber(value);
}

/** Doubles as `string()` prints them: shortest form, exponent from 21 digits on. */
function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return goNumber(value).replace(/e([+-])(\d)$/, "e$10$2");
}

function format(template: string, args: Value[]): string {
  let next = 0;
  return template.replace(/%(%|(?:\.(\d+))?([a-zA-Z])|$|[\s\S])/g, (all, rest: string, precision, verb) => {
    if (rest === "%") return "%";
    if (rest === "") throw new CelError("error during formatting: unexpected end of string");
    const value = args[next++];
    if (value === undefined) throw new CelError(`error during formatting: index ${next - 1} out of range`);
    const digits = precision === undefined ? 6 : Number(precision);
    return formatted(verb as string, value, digits, all as string);
  });
}

function formatted(verb: string, value: Value, precision: number, all: string): string {
  const wrong = (clause: string, wanted: string): CelError =>
    new CelError(
      `error during formatting: ${clause} clause can only be used on ${wanted}, was given ${typeOf(value)}`,
    );
  const whole = typeof value === "bigint" ? value : value instanceof Uint ? value.value : undefined;
  switch (verb) {
    case "s":
      return shownText(value);
    case "d":
      if (whole !== undefined) return String(whole);
      if (typeof value === "number") return shownDouble(value);
      throw wrong("decimal", "integers");
    case "f":
      if (typeof value === "number" || whole !== undefined) return Number(whole ?? value).toFixed(precision);
      throw wrong("fixed-point", "doubles");
    case "e":
      if (typeof value === "number" || whole !== undefined) {
        return scientific(Number(whole ?? value), precision);
      }
      throw wrong("scientific", "doubles");
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      if (whole !== undefined) return whole.toString(2);
      throw wrong("binary", "integers and bools");
    case "o":
      if (whole !== undefined) return whole.toString(8);
      throw wrong("octal", "integers");
    case "x":
    case "X": {
      const text =
        typeof value === "string"
          ? Buffer.from(value).toString("hex")
          : value instanceof Uint8Array
            ? Buffer.from(value).toString("hex")
            : whole?.toString(16);
      if (text === undefined) throw wrong("hexadecimal", "integers, byte buffers, and strings");
      return verb === "X" ? text.toUpperCase() : text;
    }
    default:
      throw new CelError(`error during formatting: unrecognized formatting clause "${all.slice(-1)}"`);
  }
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** The real server prints powers of ten as a typesetter would: 1.5×10⁰³. */
function scientific(value: number, precision: number): string {
  const [mantissa = "", exponent = "+0"] = value.toExponential(precision).split("e");
  const digits = exponent
    .slice(1)
    .padStart(2, "0")
    .replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] as string);
  return `${mantissa}×10${exponent.startsWith("-") ? "⁻" : ""}${digits}`;
}

const join = (items: string[], separator: string): string => items.join(separator);
const STRINGS_LIST = listOf(STRING);

/** Cost of looking through the first argument and building a result as large. */
const COPY = { cost: (size = 0): number => Math.ceil(size * 0.2), size: (size = 0): number => size };

export const STRINGS: readonly Overload[] = [
  fn("_+_", [STRING, STRING], STRING, (a: string, b: string) => a + b, {
    cost: (a = 0, b = 0) => traversal(a + b),
    size: (a = 0, b = 0) => a + b,
  }),
  fn("_+_", [BYTES, BYTES], BYTES, (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b]), {
    cost: (a = 0, b = 0) => traversal(a + b),
    size: (a = 0, b = 0) => a + b,
  }),
  fn("size", [STRING], INT, (text: string) => BigInt(lengthOf(text))),
  method("size", [STRING], INT, (text: string) => BigInt(lengthOf(text))),
  fn("size", [BYTES], INT, (bytes: Uint8Array) => BigInt(bytes.length)),
  method("size", [BYTES], INT, (bytes: Uint8Array) => BigInt(bytes.length)),
  method("contains", [STRING, STRING], BOOL, (text: string, part: string) => text.includes(part), {
    cost: (text = 0, part = 0) => traversal(text) * traversal(part),
  }),
  method("startsWith", [STRING, STRING], BOOL, (text: string, part: string) => text.startsWith(part), {
    cost: (_text = 0, part = 0) => traversal(part),
  }),
  method("endsWith", [STRING, STRING], BOOL, (text: string, part: string) => text.endsWith(part), {
    cost: (_text = 0, part = 0) => traversal(part),
  }),
  matching({ name: "matches", member: true }, [STRING, STRING], BOOL, matches, { cost: regexCost }),
  matching({ name: "matches", member: false }, [STRING, STRING], BOOL, matches, { cost: regexCost }),

  fn("string", [STRING], STRING, (value) => value, SCAN),
  fn("string", [INT], STRING, (value: bigint) => String(value)),
  fn("string", [UINT], STRING, (value: Uint) => String(value.value)),
  fn("string", [DOUBLE], STRING, (value: number) => doubleText(value)),
  fn("string", [BOOL], STRING, (value: boolean) => String(value)),
  fn(
    "string",
    [BYTES],
    STRING,
    (value: Uint8Array) => {
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(value);
      } catch {
        throw new CelError("invalid UTF-8 in bytes, cannot convert to string");
      }
    },
    SCAN,
  ),
  fn("string", [TIMESTAMP], STRING, (value: Timestamp) => formatTimestamp(value)),
  fn("string", [DURATION], STRING, (value: Duration) => formatDuration(value)),
  fn("bytes", [BYTES], BYTES, (value) => value),
  fn("bytes", [STRING], BYTES, (text: string) => new TextEncoder().encode(text), SCAN),

  method("charAt", [STRING, INT], STRING, (text: string, index: bigint) => {
    const length = BigInt(lengthOf(text));
    if (index < 0n || index > length) throw new CelError(`index out of range: ${index}`);
    return slice(text, Number(index), Number(index) + 1);
  }),
  method("indexOf", [STRING, STRING], INT, (text: string, part: string) => indexOf(text, part, 0n), SCAN),
  method("indexOf", [STRING, STRING, INT], INT, indexOf, SCAN),
  method(
    "lastIndexOf",
    [STRING, STRING],
    INT,
    (text: string, part: string) => lastIndexOf(text, part, BigInt(lengthOf(text))),
    SCAN,
  ),
  method("lastIndexOf", [STRING, STRING, INT], INT, lastIndexOf, SCAN),
  method(
    "lowerAscii",
    [STRING],
    STRING,
    ascii((text) => text.toLowerCase(), /[A-Z]+/g),
    SCAN,
  ),
  method(
    "upperAscii",
    [STRING],
    STRING,
    ascii((text) => text.toUpperCase(), /[a-z]+/g),
    SCAN,
  ),
  method(
    "replace",
    [STRING, STRING, STRING],
    STRING,
    (text: string, from: string, to: string) => replaceFirst(text, from, to, -1n),
    { cost: (size = 0) => Math.ceil(size * 0.2), size: (size = 0, _from = 0, to = 0) => size * (to + 1) },
  ),
  method("replace", [STRING, STRING, STRING, INT], STRING, replaceFirst, {
    cost: (size = 0) => Math.ceil(size * 0.2),
    size: (size = 0, _from = 0, to = 0) => size * (to + 1),
  }),
  method("split", [STRING, STRING], STRINGS_LIST, (text: string, by: string) => split(text, by, -1n), COPY),
  method("split", [STRING, STRING, INT], STRINGS_LIST, split, COPY),
  method(
    "substring",
    [STRING, INT],
    STRING,
    (text: string, start: bigint) => substring(text, start, BigInt(lengthOf(text))),
    SCAN,
  ),
  method("substring", [STRING, INT, INT], STRING, substring, SCAN),
  method("trim", [STRING], STRING, trim, SCAN),
  method("join", [STRINGS_LIST], STRING, (items: string[]) => join(items, ""), SCAN),
  method("join", [STRINGS_LIST, STRING], STRING, join, SCAN),
  fn("strings.quote", [STRING], STRING, (text: string) => goQuote(text), SCAN),
  method("format", [STRING, listOf(DYN)], STRING, format, SCAN),

  matching(
    { name: "find", member: true },
    [STRING, STRING],
    STRING,
    (matcher, text: string, pattern: string) => matched(() => matcher.find(pattern, text) ?? ""),
    SEARCH,
  ),
  matching(
    { name: "findAll", member: true },
    [STRING, STRING],
    STRINGS_LIST,
    (matcher, text: string, pattern: string) => findAll(matcher, text, pattern, -1n),
    SEARCH,
  ),
  matching({ name: "findAll", member: true }, [STRING, STRING, INT], STRINGS_LIST, findAll, SEARCH),
];
