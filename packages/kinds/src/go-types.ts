import { packageOf } from "./go-packages.ts";
import {
  goTypes,
  type RecordedGoField,
  type RecordedGoPackage,
  type RecordedGoType,
} from "./recorded-go-types.ts";

export {
  goTypes,
  type RecordedGoField,
  type RecordedGoPackage,
  type RecordedGoType,
  type RecordedGoTypes,
} from "./recorded-go-types.ts";

/**
 * A Go type, as far as its JSON and its protobuf depend on it. OpenAPI does not distinguish a
 * pointer from a value, nor a field that is always written from one left out when empty;
 * these do.
 */
export type GoType =
  | { readonly at: "struct"; readonly name: string; readonly fields: GoFields }
  | { readonly at: "list"; readonly name: string; readonly item: GoType; readonly wrapped: boolean }
  | { readonly at: "map"; readonly name: string; readonly key: GoType; readonly value: GoType }
  | { readonly at: "pointer"; readonly to: GoType }
  | { readonly at: "scalar"; readonly name: string; readonly scalar: Scalar }
  | { readonly at: "special"; readonly special: Special };

/** Types that JSON and protobuf have words for. */
export type Scalar = "string" | "bool" | "int32" | "int64" | "uint8" | "float64" | "bytes";

/** Types that read and write their own JSON. */
export type Special =
  | "duration"
  | "fields"
  | "int-or-string"
  | "micro-time"
  | "quantity"
  | "raw"
  | "schema-or-array"
  | "schema-or-bool"
  | "schema-or-strings"
  | "time";

/** A field of a struct. */
export interface GoField {
  /** What JSON calls it; empty where the field's own fields stand in its place. */
  readonly json: string;
  readonly type: GoType;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Its number in protobuf, 0 where it is not sent. */
  readonly number: number;
}

/** The fields of a struct. */
export interface GoFields {
  /** As JSON has them: what is inlined stands among the rest, in the order Go writes. */
  readonly json: readonly GoField[];
  readonly byName: ReadonlyMap<string, GoField>;
  /** As protobuf has them, where what JSON inlines is a message of its own. */
  readonly byNumber: ReadonlyMap<number, GoField>;
}

const special: { readonly [name: string]: Special } = {
  "apiextensions.v1.JSON": "raw",
  "apiextensions.v1.JSONSchemaPropsOrArray": "schema-or-array",
  "apiextensions.v1.JSONSchemaPropsOrBool": "schema-or-bool",
  "apiextensions.v1.JSONSchemaPropsOrStringArray": "schema-or-strings",
  "intstr.IntOrString": "int-or-string",
  "meta.v1.Duration": "duration",
  "meta.v1.FieldsV1": "fields",
  "meta.v1.MicroTime": "micro-time",
  "meta.v1.Time": "time",
  "resource.Quantity": "quantity",
  "runtime.RawExtension": "raw",
};

const scalars: { readonly [name: string]: Scalar } = {
  string: "string",
  "types.UID": "string",
  bool: "bool",
  int: "int64",
  int32: "int32",
  int64: "int64",
  uint8: "uint8",
  byte: "uint8",
  float64: "float64",
};

const known = new Map<string, GoType>();

/**
 * The Go type behind a recorded name such as `core.v1.Pod`, or undefined where there is none. Types
 * are linked as far as they are walked, and shared.
 */
export function goType(name: string): GoType | undefined {
  const dot = name.lastIndexOf(".");
  const recordedTypes = packageTypes(name.slice(0, dot));
  return recordedTypes && Object.hasOwn(recordedTypes.types, name.slice(dot + 1)) ? named(name) : undefined;
}

/**
 * The Go type of a built-in kind, or of a kind that is only ever a body, such as `policy/v1
 * Eviction`.
 */
export function goTypeOfKind(group: string, version: string, kind: string): GoType | undefined {
  return /^\w+$/.test(kind) ? goType(`${packageOf(group, version)}.${kind}`) : undefined;
}

function packageTypes(id: string): RecordedGoPackage | undefined {
  return Object.hasOwn(goTypes.packages, id) ? goTypes.packages[id] : undefined;
}

function named(name: string): GoType {
  const found = known.get(name);
  if (found) return found;
  const type = makeNamed(name);
  known.set(name, type);
  return type;
}

function makeNamed(name: string): GoType {
  const own = special[name];
  if (own) return { at: "special", special: own };
  const dot = name.lastIndexOf(".");
  const id = name.slice(0, dot);
  const local = name.slice(dot + 1);
  const owner = goTypes.packages[id];
  const type: RecordedGoType | undefined = owner?.types[local];
  if (owner === undefined || type === undefined) throw new Error(`no Go type was recorded for ${name}`);
  // Go prints a type with the last element of its package's path.
  const printed = `${id.slice(id.lastIndexOf(".") + 1)}.${local}`;
  if (typeof type !== "string") {
    let fields: GoFields | undefined;
    return {
      at: "struct",
      name: printed,
      get fields() {
        fields ??= linkFields(type, id);
        return fields;
      },
    };
  }
  const base = expression(type, id);
  if (base.at === "scalar" || base.at === "map" || base.at === "struct") return { ...base, name: printed };
  if (base.at === "list") return { ...base, name: printed, wrapped: owner.wrapped.includes(local) };
  return base;
}

function expression(text: string, packageId: string): GoType {
  if (text === "[]byte") return { at: "scalar", name: "[]uint8", scalar: "bytes" };
  if (text.startsWith("*")) return { at: "pointer", to: expression(text.slice(1), packageId) };
  if (text.startsWith("[]")) {
    const item = expression(text.slice(2), packageId);
    return { at: "list", name: `[]${nameOf(item)}`, item, wrapped: false };
  }
  const map = /^map\[([^\]]+)\](.+)$/.exec(text);
  if (map) {
    const key = expression(map[1] ?? "", packageId);
    const value = expression(map[2] ?? "", packageId);
    return { at: "map", name: `map[${nameOf(key)}]${nameOf(value)}`, key, value };
  }
  const scalar = scalars[text];
  if (scalar) return { at: "scalar", name: text === "byte" ? "uint8" : text, scalar };
  return named(text.includes(".") ? text : `${packageId}.${text}`);
}

/** The type as Go's error messages print it. */
export function nameOf(type: GoType): string {
  switch (type.at) {
    case "pointer":
      return `*${nameOf(type.to)}`;
    case "special":
      return specialNames[type.special];
    default:
      return type.name;
  }
}

const specialNames: { readonly [special in Special]: string } = {
  duration: "v1.Duration",
  fields: "v1.FieldsV1",
  "int-or-string": "intstr.IntOrString",
  "micro-time": "v1.MicroTime",
  quantity: "resource.Quantity",
  raw: "runtime.RawExtension",
  "schema-or-array": "v1.JSONSchemaPropsOrArray",
  "schema-or-bool": "v1.JSONSchemaPropsOrBool",
  "schema-or-strings": "v1.JSONSchemaPropsOrStringArray",
  time: "v1.Time",
};

function linkFields(recordedFields: readonly RecordedGoField[], packageId: string): GoFields {
  const json: GoField[] = [];
  const byNumber = new Map<number, GoField>();
  for (const [name, type, flags, number] of recordedFields) {
    const field: GoField = {
      json: name,
      type: expression(type, packageId),
      omitEmpty: flags.includes("o"),
      omitZero: flags.includes("z"),
      number,
    };
    if (number > 0) byNumber.set(number, field);
    if (!flags.includes("i")) {
      json.push(field);
      continue;
    }
    const inner = field.type.at === "pointer" ? field.type.to : field.type;
    if (inner.at === "struct") json.push(...inner.fields.json);
  }
  return { json, byName: new Map(json.map((field) => [field.json, field])), byNumber };
}
