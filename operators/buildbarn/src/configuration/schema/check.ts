import { expressionFault } from "../../jmespath/index.ts";
import { type LocatedField, type LocatedJson, type Location, plain } from "../../jsonnet/index.ts";
import type { FieldType, Schema } from "./schema.ts";

/** Something that a program would refuse, or worse, take. */
export interface Fault {
  readonly at: Location;
  /** The field, e.g. `schedulers..endpoint.address`. */
  readonly path: string;
  readonly fault: string;
}

/** Types of protobuf that JSON writes in a way of their own. */
const wellKnown: Readonly<Record<string, (json: LocatedJson) => string | undefined>> = {
  "google.protobuf.Duration": (json) =>
    scalar(json, /^-?[0-9]+([.][0-9]{1,9})?s$/, "a duration in seconds, such as '300s'"),
  "google.protobuf.Timestamp": (json) =>
    scalar(json, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, "a time, such as '2026-01-01T00:00:00Z'"),
  "google.protobuf.Empty": (json) =>
    json.kind === "object" && json.fields.size === 0 ? undefined : "must be {}",
  "google.protobuf.Struct": (json) => (json.kind === "object" ? undefined : "must be an object"),
  "google.protobuf.Value": () => undefined,
  "google.protobuf.Any": (json) => (json.kind === "object" ? undefined : "must be an object"),
  "google.protobuf.UInt32Value": (json) => scalarFault("uint32", json),
  "google.protobuf.UInt64Value": (json) => scalarFault("uint64", json),
};

function scalar(json: LocatedJson, pattern: RegExp, wanted: string): string | undefined {
  const isRight = json.kind === "scalar" && typeof json.value === "string" && pattern.test(json.value);
  return isRight ? undefined : `must be ${wanted}`;
}

/** Everything in a configuration that the program's own reading of it would refuse. */
export function checkMessage(json: LocatedJson, message: string, schema: Schema): readonly Fault[] {
  return check({ json, path: "", at: json.at }, { is: "message", name: message }, schema);
}

/** A part of a configuration, and the field that it is the value of. */
interface Part {
  readonly json: LocatedJson;
  readonly path: string;
  readonly at: Location;
}

function check(part: Part, type: FieldType, schema: Schema): readonly Fault[] {
  const { json, path, at } = part;
  const said = (fault: string | undefined) => (fault === undefined ? [] : [{ at, path, fault }]);
  // Null is as good as nothing, as in all of protobuf's JSON.
  if (json.kind === "scalar" && json.value === null) return [];
  switch (type.is) {
    case "scalar":
      return said(scalarFault(type.name, json));
    case "enum": {
      const isKnown = json.kind === "scalar" && type.values.includes(String(json.value));
      return said(isKnown ? undefined : `must be one of ${type.values.join(", ")}`);
    }
    case "list":
      if (json.kind !== "array") return said("must be an array");
      return json.items.flatMap((item, index) =>
        check({ json: item, path: `${path}[${index}]`, at: item.at }, type.of, schema),
      );
    case "map":
      if (json.kind !== "object") return said("must be an object");
      return [...json.fields].flatMap(([name, field]) =>
        check({ json: field.value, path: `${path}[${JSON.stringify(name)}]`, at: field.at }, type.of, schema),
      );
    case "message": {
      const known = wellKnown[type.name];
      if (known) return said(known(json));
      return json.kind === "object" ? checkFields(json, type.name, path, schema) : said("must be an object");
    }
    default:
      return type satisfies never;
  }
}

function checkFields(
  { fields }: LocatedJson & { kind: "object" },
  message: string,
  path: string,
  schema: Schema,
): readonly Fault[] {
  const known = schema.get(message);
  if (!known) throw new TypeError(`the schema has no message ${message}`);
  const chosen = new Map<string, string>();
  return [...fields].flatMap(([name, field]) => {
    const inner = path === "" ? name : `${path}.${name}`;
    const { at } = field;
    const found = known.get(camelCase(name));
    if (!found) return [{ at, path: inner, fault: unknownField(name, [...known.keys()]) }];
    const group = isSet(field) ? found.oneof : undefined;
    const other = group === undefined ? undefined : chosen.get(group);
    if (group !== undefined) chosen.set(group, name);
    const beside = other === undefined ? [] : [{ at, path: inner, fault: `cannot be set beside ${other}` }];
    const part = { json: field.value, path: inner, at };
    const faults = [...beside, ...check(part, found.type, schema)];
    if (faults.length > 0 || !isExpression(message, camelCase(name))) return faults;
    // Text of a field that stands alone is as good as none if it is empty.
    const mayBeEmpty = message !== "jmespath.Expression" && found.oneof === undefined;
    return mayBeEmpty && plain(field.value) === "" ? [] : expressionFaults(part);
  });
}

/**
 * Whether a field is a JMESPath expression. Those of February 2025 are text of fields that are
 * called so; later ones have a message of their own.
 */
export function isExpression(message: string, field: string): boolean {
  return message === "jmespath.Expression" ? field === "expression" : /[jJ]mespathExpression$/.test(field);
}

function expressionFaults({ json, path, at }: Part): readonly Fault[] {
  // A message is looked at by its own field.
  if (json.kind !== "scalar" || typeof json.value !== "string") return [];
  const fault = expressionFault(json.value);
  return fault === undefined ? [] : [{ at, path, fault: `is no JMESPath that can be answered: ${fault}` }];
}

function isSet({ value }: LocatedField): boolean {
  return value.kind !== "scalar" || value.value !== null;
}

function unknownField(name: string, known: readonly string[]): string {
  const close = known.find((one) => one.toLowerCase() === name.toLowerCase());
  return close === undefined ? "is no field of this release" : `is no field of this release; ${close} is`;
}

/** Protobuf's JSON takes the names of the .proto file too: `grpc_servers`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const limits: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/** What is wrong with a value of this type, or undefined. */
function scalarFault(type: string, json: LocatedJson): string | undefined {
  if (json.kind !== "scalar") return `must be of type ${type}`;
  const { value } = json;
  const range = limits[type];
  if (range) {
    const isWhole = typeof value === "number" ? Number.isInteger(value) : /^-?[0-9]+$/.test(String(value));
    if (!isWhole || (typeof value !== "number" && typeof value !== "string"))
      return `must be a whole number (${type})`;
    const number = BigInt(value);
    return number < range[0] || number > range[1] ? `is out of the range of ${type}` : undefined;
  }
  switch (type) {
    case "string":
      return typeof value === "string" ? undefined : "must be a string";
    case "bool":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "double":
      return typeof value === "number" ||
        /^-?[0-9.]+([eE][+-]?[0-9]+)?$|^(NaN|-?Infinity)$/.test(String(value))
        ? undefined
        : "must be a number";
    case "bytes":
      return typeof value === "string" && /^[A-Za-z0-9+/_-]*={0,2}$/.test(value)
        ? undefined
        : "must be in base64";
    default:
      throw new TypeError(`the schema has no scalar ${type}`);
  }
}
