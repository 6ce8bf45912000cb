import { type GoField, type GoType, goType, type Scalar, type Special } from "@windlass/kinds/go-types";
import { append } from "../append.ts";
import { isObject, type Json, type JsonObject, parse } from "../json.ts";
import { formatTime } from "../kinds/index.ts";
import { delimited, fixed64, readFields, readPacked, varint, WireError, type WireField } from "./wire.ts";

type Struct = GoType & { readonly at: "struct" };

/**
 * No Kubernetes object is nested as deep; a message made to be is refused before it exhausts the
 * stack.
 */
const deepest = 500;

const utf8 = new TextDecoder();

/**
 * Reads a message into the JSON that the Go type would be given to hold the same: only the fields
 * that were sent, zero values included.
 *
 * @throws {WireError}
 */
export function readMessage(type: Struct, bytes: Uint8Array, depth = 0): JsonObject {
  if (depth > deepest) throw new WireError("proto: nested too deep");
  const object: JsonObject = {};
  for (const wire of readFields(bytes)) {
    const field = type.fields.byNumber.get(wire.number);
    if (field) readField(object, field, wire, depth + 1);
  }
  return object;
}

function readField(object: JsonObject, field: GoField, wire: WireField, depth: number): void {
  const type = field.type.at === "pointer" ? field.type.to : field.type;
  if (field.json === "" && type.at === "struct") {
    // What JSON inlines is a message of its own here.
    Object.assign(object, readMessage(type, bytesOf(wire, field), depth));
    return;
  }
  if (type.at === "list" && !type.wrapped) {
    const held = Array.isArray(object[field.json]) ? (object[field.json] as Json[]) : [];
    object[field.json] = held;
    for (const value of readItems(type.item, wire, field, depth)) held.push(value);
    return;
  }
  if (type.at === "map") {
    const held = isObject(object[field.json]) ? (object[field.json] as JsonObject) : {};
    object[field.json] = held;
    readEntry(held, type, bytesOf(wire, field), depth);
    return;
  }
  object[field.json] = readValue(type, wire, field, depth);
}

function readItems(type: GoType, wire: WireField, field: GoField, depth: number): Json[] {
  if (type.at === "scalar" && isInteger(type.scalar) && wire.wireType === delimited) {
    return [...readPacked(wire.bytes)].map((value) => integer(type.scalar, value));
  }
  return [readValue(type, wire, field, depth)];
}

/**
 * An entry of a map is a message of a key and a value; either may be missing, and is then empty.
 */
function readEntry(map: JsonObject, type: GoType & { at: "map" }, bytes: Uint8Array, depth: number): void {
  let key = "";
  let value: Json = emptyValue(type.value);
  const entry: GoField = { json: "value", type: type.value, omitEmpty: false, omitZero: false, number: 2 };
  for (const wire of readFields(bytes)) {
    if (wire.number === 1) key = utf8.decode(bytesOf(wire, entry));
    else if (wire.number === 2) value = readValue(type.value, wire, entry, depth);
  }
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

function emptyValue(type: GoType): Json {
  if (type.at === "struct") return {};
  return type.at === "scalar" && (type.scalar === "string" || type.scalar === "bytes") ? "" : null;
}

function readValue(type: GoType, wire: WireField, field: GoField, depth: number): Json {
  switch (type.at) {
    case "pointer":
      return readValue(type.to, wire, field, depth);
    case "struct":
      return readMessage(type, bytesOf(wire, field), depth);
    case "scalar":
      return readScalar(type.scalar, wire, field);
    case "special":
      return readSpecial(type.special, bytesOf(wire, field), depth);
    case "list": {
      const items: Json[] = [];
      for (const inner of readFields(bytesOf(wire, field))) {
        if (inner.number === 1) append(items, readItems(type.item, inner, field, depth));
      }
      return items;
    }
    case "map":
      throw new WireError("proto: a map within a map");
  }
}

function isInteger(scalar: Scalar): boolean {
  return scalar === "int32" || scalar === "int64" || scalar === "uint8";
}

function integer(scalar: Scalar, value: bigint): number | bigint {
  const integer = BigInt.asIntN(scalar === "int32" ? 32 : 64, value);
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

function readScalar(scalar: Scalar, wire: WireField, field: GoField): Json {
  switch (scalar) {
    case "string":
      return utf8.decode(bytesOf(wire, field));
    case "bytes":
      return Buffer.from(bytesOf(wire, field)).toString("base64");
    case "float64":
      if (wire.wireType !== fixed64) throw wrongType(wire, field);
      return new DataView(wire.bytes.buffer, wire.bytes.byteOffset, 8).getFloat64(0, true);
    case "bool":
      if (wire.wireType !== varint) throw wrongType(wire, field);
      return wire.value !== 0n;
    default:
      if (wire.wireType !== varint) throw wrongType(wire, field);
      return integer(scalar, wire.value);
  }
}

function bytesOf(wire: WireField, field: GoField): Uint8Array {
  if (wire.wireType !== delimited) throw wrongType(wire, field);
  return wire.bytes;
}

function wrongType(wire: WireField, field: GoField): WireError {
  // Go names the field of its struct, which with few exceptions is the JSON name with a capital.
  const type =
    field.type.at === "struct" ? field.type.name.slice(field.type.name.indexOf(".") + 1) : undefined;
  const name =
    field.json === "metadata" && type ? type : field.json.charAt(0).toUpperCase() + field.json.slice(1);
  return new WireError(`proto: wrong wireType = ${wire.wireType} for field ${name}`);
}

function readSpecial(special: Special, bytes: Uint8Array, depth: number): Json {
  const fields = new Map([...readFields(bytes)].map((wire) => [wire.number, wire]));
  const number = (at: number) => BigInt.asIntN(64, fields.get(at)?.value ?? 0n);
  const part = (at: number) => fields.get(at)?.bytes;
  switch (special) {
    case "time":
      // Fractions are dropped, as JSON clients could not read them back.
      return bytes.length === 0 ? null : time(number(1), 0n, "seconds");
    case "micro-time":
      return bytes.length === 0 ? null : time(number(1), number(2), "micros");
    case "duration":
      return `${Number(number(1)) / 1_000_000_000}s`;
    case "quantity":
      return utf8.decode(part(1)) || null;
    case "int-or-string":
      return number(1) === 0n ? Number(BigInt.asIntN(32, number(2))) : utf8.decode(part(3));
    case "raw":
    case "fields":
      return embedded(part(1));
    case "schema-or-bool": {
      const schema = part(2);
      return schema ? readSchema(schema, depth) : number(1) !== 0n;
    }
    case "schema-or-array": {
      const schema = part(1);
      return schema ? readSchema(schema, depth) : repeated(bytes, 2).map((each) => readSchema(each, depth));
    }
    case "schema-or-strings": {
      const schema = part(1);
      return schema ? readSchema(schema, depth) : repeated(bytes, 2).map((each) => utf8.decode(each));
    }
  }
}

function repeated(bytes: Uint8Array, number: number): Uint8Array[] {
  return [...readFields(bytes)].filter((wire) => wire.number === number).map((wire) => wire.bytes);
}

function readSchema(bytes: Uint8Array, depth: number): Json {
  const type = goType("apiextensions.v1.JSONSchemaProps");
  if (type?.at !== "struct") throw new WireError("proto: schemas are not known");
  return readMessage(type, bytes, depth + 1);
}

/**
 * Dates JavaScript has no name for are refused, as Go would write years that JSON clients cannot
 * read.
 */
const latest = 253_402_300_800n;
const earliest = -62_135_596_800n;

function time(seconds: bigint, nanos: bigint, precision: "seconds" | "micros"): Json {
  if (seconds < earliest || seconds >= latest || nanos < 0n || nanos >= 1_000_000_000n) {
    throw new WireError("proto: time out of range");
  }
  return formatTime({ ms: Number(seconds) * 1_000, nanos: Number(nanos) }, precision);
}

function embedded(bytes: Uint8Array | undefined): Json {
  if (bytes === undefined || bytes.length === 0) return null;
  try {
    return parse(utf8.decode(bytes));
  } catch (error) {
    throw new WireError(error instanceof Error ? error.message : "invalid JSON");
  }
}
