import { apiVersionOf } from "@windlass/kinds";
import {
  type GoField,
  type GoType,
  goType,
  goTypeOfKind,
  type Scalar,
  type Special,
} from "@windlass/kinds/go-types";
import { isObject, type Json, type JsonObject, stringify } from "../json.ts";
import { type GroupVersionKind, parseTime } from "../kinds/index.ts";
import { BackwardWriter } from "./writer.ts";

type Struct = GoType & { readonly at: "struct" };

const magic = Buffer.from("k8s\0", "latin1");

/**
 * Writes an object as the protobuf body the real server would answer with, or gives undefined for a
 * kind that has no such form, as custom ones do not. The object must have the shape {@link
 * normalize} gives.
 */
export function encodeProtobuf(kind: GroupVersionKind, object: JsonObject): Uint8Array | undefined {
  const body = encodeMessage(kind, object);
  return body && envelope(apiVersionOf(kind), kind.kind, body);
}

/**
 * An object's message alone, as lists hold it and as {@link envelope} takes it; undefined where
 * there is no such form.
 */
export function encodeMessage(kind: GroupVersionKind, object: JsonObject): Uint8Array | undefined {
  const type = structOf(kind);
  if (!type) return undefined;
  const writer = new BackwardWriter();
  writeMessage(writer, type, object);
  return writer.bytes();
}

/** A list from the messages of its items; undefined for a kind of list that has no such form. */
export function encodeList(
  kind: GroupVersionKind,
  metadata: JsonObject,
  items: readonly Uint8Array[],
): Uint8Array | undefined {
  if (!structOf(kind)) return undefined;
  const writer = new BackwardWriter();
  for (let index = items.length - 1; index >= 0; index--) writer.raw(2, items[index] as Uint8Array);
  const end = writer.length;
  writeMessage(writer, goType("meta.v1.ListMeta") as Struct, metadata);
  writer.close(1, end);
  return envelope(apiVersionOf(kind), kind.kind, writer.bytes());
}

/** What goes around a message so that its reader knows what it is. */
export function envelope(apiVersion: string, kind: string, body: Uint8Array): Uint8Array {
  const writer = new BackwardWriter();
  writer.text(4, "");
  writer.text(3, "");
  writer.raw(2, body);
  const end = writer.length;
  writer.text(2, kind);
  writer.text(1, apiVersion);
  writer.close(1, end);
  writer.prepend(magic);
  return writer.bytes();
}

/**
 * One event of a watch: the length of a `WatchEvent` in four bytes, then the event. The object is
 * in its envelope.
 */
export function watchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = new BackwardWriter();
  writer.raw(1, object);
  writer.close(2, 0);
  writer.text(1, type);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(writer.length);
  writer.prepend(length);
  return writer.bytes();
}

function structOf({ group, version, kind }: GroupVersionKind): Struct | undefined {
  const own = goTypeOfKind(group, version, kind);
  // Statuses, options and discovery are of the core group, but their types are not among its own.
  const isShared = group === "" && (version === "v1" || version === "");
  const type = own ?? (isShared ? goTypeOfKind("meta.k8s.io", "v1", kind) : undefined);
  return type?.at === "struct" ? type : undefined;
}

/** The fields of a message from the highest number down: they are written from the end. */
const descending = new WeakMap<Struct, readonly GoField[]>();

function fieldsOf(type: Struct): readonly GoField[] {
  let fields = descending.get(type);
  if (!fields) {
    fields = [...type.fields.byNumber.values()].sort((a, b) => b.number - a.number);
    descending.set(type, fields);
  }
  return fields;
}

function writeMessage(writer: BackwardWriter, type: Struct, object: JsonObject): void {
  for (const field of fieldsOf(type)) writeField(writer, field, object);
}

function writeField(writer: BackwardWriter, field: GoField, object: JsonObject): void {
  const value =
    field.json === "" ? object : Object.hasOwn(object, field.json) ? object[field.json] : undefined;
  const isPointer = field.type.at === "pointer";
  if (isPointer && (value === undefined || value === null)) return;
  const type = field.type.at === "pointer" ? field.type.to : field.type;
  if (type.at === "list" && !type.wrapped) {
    writeItems(writer, field.number, type.item, value);
  } else if (type.at === "map") {
    if (!isObject(value)) return;
    for (const key of Object.keys(value).sort().reverse()) {
      const end = writer.length;
      writeValue(writer, 2, type.value, value[key]);
      writer.text(1, key);
      writer.close(field.number, end);
    }
  } else if (!isAbsent(type, value)) {
    writeValue(writer, field.number, type, value);
  }
}

function writeItems(writer: BackwardWriter, number: number, item: GoType, value: Json | undefined): void {
  if (!Array.isArray(value)) return;
  for (let index = value.length - 1; index >= 0; index--) writeValue(writer, number, item, value[index]);
}

/** A list or bytes that are nil are not sent; every other value is, even when it is zero. */
function isAbsent(type: GoType, value: Json | undefined): boolean {
  const isNil = value === undefined || value === null;
  return isNil && (type.at === "list" || (type.at === "scalar" && type.scalar === "bytes"));
}

function writeValue(writer: BackwardWriter, number: number, type: GoType, value: Json | undefined): void {
  const end = writer.length;
  switch (type.at) {
    case "pointer":
      writeValue(writer, number, type.to, value);
      break;
    case "struct":
      writeMessage(writer, type, isObject(value) ? value : {});
      writer.close(number, end);
      break;
    case "scalar":
      writeScalar(writer, number, type.scalar, value);
      break;
    case "special":
      writeSpecial(writer, type.special, value);
      writer.close(number, end);
      break;
    case "list":
      writeItems(writer, 1, type.item, value);
      writer.close(number, end);
      break;
    case "map":
      throw new Error("no Kubernetes type holds a map within a map");
  }
}

function writeScalar(writer: BackwardWriter, number: number, scalar: Scalar, value: Json | undefined): void {
  switch (scalar) {
    case "string":
      writer.text(number, typeof value === "string" ? value : "");
      break;
    case "bytes":
      writer.raw(number, Buffer.from(typeof value === "string" ? value : "", "base64"));
      break;
    case "bool":
      writer.integer(number, value === true ? 1 : 0);
      break;
    case "float64":
      writer.double(number, typeof value === "number" ? value : 0);
      break;
    default:
      writer.integer(number, typeof value === "number" || typeof value === "bigint" ? value : 0);
  }
}

function writeSpecial(writer: BackwardWriter, special: Special, value: Json | undefined): void {
  switch (special) {
    case "time":
    case "micro-time":
      if (typeof value === "string") writeTime(writer, value);
      break;
    case "duration":
      writer.integer(1, Math.round(Number.parseFloat(typeof value === "string" ? value : "0") * 1e9));
      break;
    case "quantity":
      writer.text(1, typeof value === "string" ? value : "0");
      break;
    case "int-or-string": {
      const isText = typeof value === "string";
      writer.text(3, isText ? value : "");
      writer.integer(2, typeof value === "number" ? value : 0);
      writer.integer(1, isText ? 1 : 0);
      break;
    }
    case "raw":
    case "fields":
      if (value !== undefined && value !== null) writer.text(1, stringify(value));
      break;
    case "schema-or-bool":
      if (isObject(value)) writeSchema(writer, 2, value);
      writer.integer(1, value === false ? 0 : 1);
      break;
    case "schema-or-array":
      if (isObject(value)) writeSchema(writer, 1, value);
      else if (Array.isArray(value)) for (const item of [...value].reverse()) writeSchema(writer, 2, item);
      break;
    case "schema-or-strings":
      if (isObject(value)) writeSchema(writer, 1, value);
      else if (Array.isArray(value)) {
        for (const item of [...value].reverse()) writer.text(2, typeof item === "string" ? item : "");
      }
      break;
  }
}

function writeTime(writer: BackwardWriter, text: string): void {
  const { ms, nanos } = parseTime(text, "seconds");
  writer.integer(2, nanos);
  writer.integer(1, ms / 1_000);
}

function writeSchema(writer: BackwardWriter, number: number, value: Json): void {
  const end = writer.length;
  const type = goType("apiextensions.v1.JSONSchemaProps");
  if (type?.at === "struct" && isObject(value)) writeMessage(writer, type, value);
  writer.close(number, end);
}
