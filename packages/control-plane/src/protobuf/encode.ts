import { isObject, type Json, type JsonObject } from "../json.ts";
import {
  type GoField,
  type GoType,
  goType,
  goTypeOfKind,
  type Scalar,
  type Special,
} from "../kinds/go-types.ts";
import { type GroupVersionKind, parseTime } from "../kinds/index.ts";
import { WireWriter } from "./writer.ts";

type Struct = GoType & { readonly at: "struct" };

/**
 * Writes an object as the protobuf body the real server would answer with, or gives undefined for a kind that has no such
 * form, as custom ones do not. The object must have the shape {@link normalize} gives.
 */
export function encodeProtobuf(kind: GroupVersionKind, object: JsonObject): Uint8Array | undefined {
  const isShared = kind.group === "" && kind.version === "v1";
  const own = goTypeOfKind(kind.group, kind.version, kind.kind);
  // Statuses and options are of the core group, but their types are not among its own.
  const type = own ?? (isShared ? goTypeOfKind("meta.k8s.io", "v1", kind.kind) : undefined);
  if (type?.at !== "struct") return undefined;
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
  const typeMeta = new WireWriter().text(1, apiVersion).text(2, kind.kind);
  const envelope = new WireWriter()
    .message(1, typeMeta)
    .message(2, writeMessage(type, object))
    .text(3, "")
    .text(4, "");
  return Buffer.concat([Buffer.from("k8s\0", "latin1"), envelope.bytes()]);
}

function writeMessage(type: Struct, object: JsonObject): WireWriter {
  const writer = new WireWriter();
  const numbers = [...type.fields.byNumber.keys()].sort((a, b) => a - b);
  for (const number of numbers) {
    const field = type.fields.byNumber.get(number);
    if (field) writeField(writer, field, object);
  }
  return writer;
}

function writeField(writer: WireWriter, field: GoField, object: JsonObject): void {
  const value =
    field.json === "" ? object : Object.hasOwn(object, field.json) ? object[field.json] : undefined;
  const isPointer = field.type.at === "pointer";
  if (isPointer && (value === undefined || value === null)) return;
  const type = field.type.at === "pointer" ? field.type.to : field.type;
  if (type.at === "list" && !type.wrapped) {
    for (const item of Array.isArray(value) ? value : []) writeValue(writer, field.number, type.item, item);
  } else if (type.at === "map") {
    for (const key of Object.keys(isObject(value) ? value : {}).sort()) {
      const entry = new WireWriter().text(1, key);
      writeValue(entry, 2, type.value, (value as JsonObject)[key]);
      writer.message(field.number, entry);
    }
  } else if (!isAbsent(type, value)) {
    writeValue(writer, field.number, type, value);
  }
}

/** A list or bytes that are nil are not sent; every other value is, even when it is zero. */
function isAbsent(type: GoType, value: Json | undefined): boolean {
  const isNil = value === undefined || value === null;
  return isNil && (type.at === "list" || (type.at === "scalar" && type.scalar === "bytes"));
}

function writeValue(writer: WireWriter, number: number, type: GoType, value: Json | undefined): void {
  switch (type.at) {
    case "pointer":
      writeValue(writer, number, type.to, value);
      break;
    case "struct":
      writer.message(number, writeMessage(type, isObject(value) ? value : {}));
      break;
    case "scalar":
      writeScalar(writer, number, type.scalar, value);
      break;
    case "special":
      writer.message(number, writeSpecial(type.special, value));
      break;
    case "list": {
      const items = new WireWriter();
      for (const item of Array.isArray(value) ? value : []) writeValue(items, 1, type.item, item);
      writer.message(number, items);
      break;
    }
    case "map":
      throw new Error("no Kubernetes type holds a map within a map");
  }
}

function writeScalar(writer: WireWriter, number: number, scalar: Scalar, value: Json | undefined): void {
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
      writer.integer(number, typeof value === "number" ? value : 0);
  }
}

function writeSpecial(special: Special, value: Json | undefined): WireWriter {
  const writer = new WireWriter();
  switch (special) {
    case "time":
    case "micro-time":
      return typeof value === "string" ? writeTime(value) : writer;
    case "duration":
      return writer.integer(1, Math.round(Number.parseFloat(typeof value === "string" ? value : "0") * 1e9));
    case "quantity":
      return writer.text(1, typeof value === "string" ? value : "0");
    case "int-or-string":
      return typeof value === "string"
        ? writer.integer(1, 1).integer(2, 0).text(3, value)
        : writer
            .integer(1, 0)
            .integer(2, typeof value === "number" ? value : 0)
            .text(3, "");
    case "raw":
    case "fields":
      return value === undefined || value === null ? writer : writer.text(1, JSON.stringify(value));
    case "schema-or-bool":
      writer.integer(1, value === false ? 0 : 1);
      return isObject(value) ? writer.message(2, writeSchema(value)) : writer;
    case "schema-or-array":
      if (isObject(value)) return writer.message(1, writeSchema(value));
      for (const item of Array.isArray(value) ? value : []) writer.message(2, writeSchema(item));
      return writer;
    case "schema-or-strings":
      if (isObject(value)) return writer.message(1, writeSchema(value));
      for (const item of Array.isArray(value) ? value : [])
        writer.text(2, typeof item === "string" ? item : "");
      return writer;
  }
}

function writeTime(text: string): WireWriter {
  const { ms, nanos } = parseTime(text, "seconds");
  return new WireWriter().integer(1, ms / 1_000).integer(2, nanos);
}

function writeSchema(value: Json): WireWriter {
  const type = goType("apiextensions.v1.JSONSchemaProps");
  return type?.at === "struct" && isObject(value) ? writeMessage(type, value) : new WireWriter();
}
