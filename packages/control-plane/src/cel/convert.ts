import { exactNumber, isObject, type Json, type JsonObject } from "../json.ts";
import { setField } from "../schema/paths.ts";
import type { Schema } from "../schema/schema.ts";
import { escapeName, withResourceFields } from "./declare.ts";
import { shownText } from "./library/strings.ts";
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from "./library/times.ts";
import {
  CelError,
  CelMap,
  Duration,
  KeyedList,
  Optional,
  Timestamp,
  typeOf,
  Uint,
  type Value,
} from "./values.ts";

/**
 * Data as an expression sees it, typed by its schema. Fields that the schema does not declare are
 * not there.
 */
export function toValue(json: Json, schema: Schema, isResource: boolean): Value {
  return convert(json, isResource ? withResourceFields(schema) : schema);
}

function convert(json: Json, schema: Schema): Value {
  if (json === null) return null;
  if (schema["x-kubernetes-int-or-string"] === true) return fromJson(json);
  switch (schema.type) {
    case "integer":
      if (typeof json === "bigint") return json;
      return typeof json === "number" ? BigInt(Math.trunc(json)) : mismatch(json, "integer");
    case "number":
      if (typeof json === "bigint") return Number(json);
      return typeof json === "number" ? json : mismatch(json, "number");
    case "boolean":
      return typeof json === "boolean" ? json : mismatch(json, "boolean");
    case "string":
      return typeof json === "string" ? convertText(json, schema) : mismatch(json, "string");
    case "array": {
      if (!Array.isArray(json)) return mismatch(json, "array");
      const items = schema.items ?? {};
      const values = json.map((item) => convertPart(item, items));
      const type = schema["x-kubernetes-list-type"];
      if (type === "set") return KeyedList.make([], values);
      if (type !== "map") return values;
      const keys = (schema["x-kubernetes-list-map-keys"] ?? []).map((key) => escapeName(key) ?? key);
      return KeyedList.make(keys, values);
    }
    case "object":
      return convertObject(json, schema);
    default:
      return fromJson(json);
  }
}

function convertPart(json: Json, schema: Schema): Value {
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  return convert(json, isResource ? withResourceFields(schema) : schema);
}

function convertObject(json: Json, schema: Schema): Value {
  if (!isObject(json)) return mismatch(json, "object");
  const { additionalProperties, properties = {} } = schema;
  if (typeof additionalProperties === "object") {
    const map = new CelMap();
    for (const key of Object.keys(json)) map.set(key, convertPart(json[key] as Json, additionalProperties));
    return map;
  }
  const map = new CelMap("object");
  for (const name of Object.keys(json)) {
    if (!Object.hasOwn(properties, name)) continue;
    const escaped = escapeName(name);
    if (escaped !== undefined) map.set(escaped, convertPart(json[name] as Json, properties[name] as Schema));
  }
  return map;
}

function convertText(text: string, schema: Schema): Value {
  switch (schema.format) {
    case "byte":
      return Uint8Array.from(Buffer.from(text, "base64"));
    case "date-time":
      return parseTimestamp(text.toUpperCase()) ?? fail(`Invalid date-time ${text}`);
    case "date":
      return parseTimestamp(`${text}T00:00:00Z`) ?? fail(`Invalid date ${text}`);
    case "duration":
      return parseDuration(text) ?? wordDuration(text) ?? fail(`Invalid duration ${text}`);
    default:
      return text;
  }
}

const WORD_UNITS: readonly (readonly [RegExp, bigint])[] = [
  [/^(ns|nano)/i, 1n],
  [/^(us|µs|micro)/i, 1_000n],
  [/^(ms|milli)/i, 1_000_000n],
  [/^(s$|sec)/i, 1_000_000_000n],
  [/^(m$|min)/i, 60_000_000_000n],
  [/^(h$|hr|hour)/i, 3_600_000_000_000n],
  [/^(d$|day)/i, 86_400_000_000_000n],
  [/^(w$|wk|week)/i, 604_800_000_000_000n],
];

/** Durations in words, `3 days`: the format allows them. */
function wordDuration(text: string): Duration | undefined {
  let nanos: bigint | undefined;
  for (const match of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    const digits = (match[1] as string).replace(/^0+/, "");
    if (digits.length > 19) return undefined;
    const unit = WORD_UNITS.find(([pattern]) => pattern.test(match[2] as string));
    if (unit !== undefined) nanos = (nanos ?? 0n) + BigInt(digits || "0") * unit[1];
  }
  return nanos === undefined ? undefined : new Duration(nanos);
}

/** Data without a schema: whole numbers are integers, objects are maps. */
export function fromJson(json: Json): Value {
  if (typeof json === "number") return Number.isSafeInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return json.map(fromJson);
  if (!isObject(json)) return json;
  const map = new CelMap();
  for (const key of Object.keys(json)) map.set(key, fromJson(json[key] as Json));
  return map;
}

function fail(message: string): never {
  throw new CelError(message);
}

function mismatch(json: Json, expected: string): never {
  throw new CelError(
    `invalid data, expected ${expected}, got ${Array.isArray(json) ? "array" : typeof json}`,
  );
}

/** A result as JSON. Times and durations become strings; what has no JSON form is an error. */
export function toJson(value: Value): Json {
  if (
    value === null ||
    typeof value === "boolean" ||
    typeof value === "string" ||
    typeof value === "number"
  ) {
    return value;
  }
  if (typeof value === "bigint") return exactNumber(String(value));
  if (value instanceof Uint) return exactNumber(String(value.value));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof CelMap) {
    const object: JsonObject = {};
    for (const [key, inner] of value.pairs()) setField(object, shownText(key), toJson(inner));
    return object;
  }
  throw new CelError(`a value of type ${typeOf(value)} has no JSON form`);
}
