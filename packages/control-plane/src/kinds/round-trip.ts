import {
  type GoField,
  type GoType,
  goType,
  goTypeOfKind,
  nameOf,
  type Scalar,
  type Special,
} from "@windlass/kinds/go-types";
import { formatQuantity, parseQuantity, QuantityError, roundUpToMilli } from "@windlass/kinds/quantity";
import { countParts, isObject, type Json, type JsonObject, largeParts } from "../json.ts";
import type { NumberSources } from "../schema/parse-json.ts";
import { cannotBeHandled, type DecodeFault, type TypeMismatch } from "../status.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { base64Fault } from "./base64.ts";
import type { GroupVersionKind } from "./kind-table.ts";
import { formatTime, isWritten, isZeroTime, parseTime, TimeError } from "./time.ts";

/** A value that a Go type cannot hold, in the words of Go's JSON decoder. */
export class DecodeError extends Error implements DecodeFault {
  override readonly name = "DecodeError";
  /** Absent where the value has the right type and still cannot be read. */
  readonly mismatch: TypeMismatch | undefined;

  constructor(message: string, mismatch?: TypeMismatch) {
    super(message);
    this.mismatch = mismatch;
  }
}

/**
 * How far an object has come. `decoded`: as read from a request, where an empty list that was sent
 * is still an empty list. `stored`: as read back from storage, where it has become null. Fields
 * that are left out when empty are missing in both.
 */
export type Stage = "decoded" | "stored";

/**
 * Gives an object the shape it has after the real server read it into its Go type and wrote it
 * again: unknown fields and empty optional ones are dropped, fields that are always written are
 * there with their zero value, quantities and times are in their one form, and keys stand in the
 * order the real server writes them. A kind without a Go type is returned as it is.
 *
 * @param numbers how numbers were sent, where that tells more than their value
 * @throws {StatusError} 400 with the real server's words where a value is of the wrong type.
 */
export function normalize(
  kind: GroupVersionKind,
  object: JsonObject,
  stage: Stage = "stored",
  numbers?: NumberSources,
): JsonObject {
  const type = goTypeOfKind(kind.group, kind.version, kind.kind);
  if (!type) return object;
  try {
    return new RoundTrip(stage, numbers).convert(type, object) as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw cannotBeHandled(kind, error);
  }
}

/** As {@link normalize}, of a large object, with turns of the event loop in between. */
export function* normalizeInSteps(
  kind: GroupVersionKind,
  object: JsonObject,
  stage: Stage = "stored",
  numbers?: NumberSources,
): Steps<JsonObject> {
  const type = goTypeOfKind(kind.group, kind.version, kind.kind);
  if (!type) return object;
  try {
    const budget = new TurnBudget(partsPerTurn);
    return (yield* new RoundTrip(stage, numbers).convertInSteps(type, object, budget)) as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw cannotBeHandled(kind, error);
  }
}

/** How many parts of an object are converted between two turns of the event loop. */
const partsPerTurn = 15_000;

/**
 * The same for a part of an object, by the name its type is recorded under, such as
 * `meta.v1.ObjectMeta` for the metadata of a custom resource.
 *
 * @throws {DecodeError} where a value is of the wrong type.
 */
export function normalizeAs(typeName: string, value: Json, stage: Stage = "stored"): Json {
  const type = goType(typeName);
  if (!type) throw new Error(`no Go type was recorded for ${typeName}`);
  return new RoundTrip(stage).convert(type, value);
}

/** The bounds of Go's integers. */
const bounds: { readonly [scalar: string]: readonly [least: bigint, most: bigint] } = {
  uint8: [0n, 255n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

class RoundTrip {
  readonly #stage: Stage;
  readonly #numbers: NumberSources | undefined;
  /** The struct being read, and the JSON names that lead into it: what Go's messages name. */
  #struct = "";
  readonly #path: string[] = [];
  /** The maps without keys. To list the keys of a large map takes long, so it is done once. */
  readonly #emptyMaps = new Set<Json>();

  constructor(stage: Stage, numbers?: NumberSources) {
    this.#stage = stage;
    this.#numbers = numbers;
  }

  /**
   * The value as Go would write it after reading it. Undefined stands for a field that was not
   * sent.
   *
   * @param source how a number was written, where that tells more than its value
   */
  convert(type: GoType, value: Json | undefined, source?: string): Json {
    switch (type.at) {
      case "pointer":
        return value === undefined || value === null ? null : this.convert(type.to, value, source);
      case "struct":
        return this.#convertStruct(type, value);
      case "list":
        return this.#convertList(type, value);
      case "map":
        return this.#convertMap(type, value);
      case "scalar":
        return this.#convertScalar(type.scalar, type, value, source);
      case "special":
        return this.#convertSpecial(type.special, value, source);
    }
  }

  #convertStruct(type: GoType & { at: "struct" }, value: Json | undefined): Json {
    if (value !== undefined && value !== null && !isObject(value)) throw this.#mismatch(value, type);
    const { byName } = type.fields;
    const read = new Map<GoField, Json>();
    const outer = this.#enter(type);
    // In the order sent, as the first fault met is the one reported.
    for (const name of Object.keys(value ?? {})) {
      const field = byName.get(name);
      if (!field) continue;
      this.#path.push(name);
      const source = this.#numbers?.of(value as JsonObject, name);
      read.set(field, this.convert(field.type, (value as JsonObject)[name], source));
      this.#path.pop();
    }
    this.#struct = outer;
    return this.#writeStruct(type, read);
  }

  /** @returns the struct that was being read before */
  #enter(type: GoType & { at: "struct" }): string {
    const outer = this.#struct;
    this.#struct = type.name.slice(type.name.indexOf(".") + 1);
    return outer;
  }

  #writeStruct(type: GoType & { at: "struct" }, read: ReadonlyMap<GoField, Json>): JsonObject {
    const written: JsonObject = {};
    for (const field of type.fields.json) {
      const held = read.get(field) ?? this.convert(field.type, undefined);
      if (!(field.omitEmpty && this.#isEmpty(field.type, held)) && !(field.omitZero && held === null)) {
        written[field.json] = held;
      }
    }
    return written;
  }

  #convertList(type: GoType & { at: "list" }, value: Json | undefined): Json {
    if (value === undefined || value === null) return null;
    if (!Array.isArray(value)) throw this.#mismatch(value, type);
    if (value.length === 0 && this.#stage === "stored") return null;
    return value.map((item, index) => this.convert(type.item, item, this.#numbers?.of(value, index)));
  }

  #convertMap(type: GoType & { at: "map" }, value: Json | undefined): Json {
    if (value === undefined || value === null) return null;
    if (!isObject(value)) throw this.#mismatch(value, type);
    const keys = Object.keys(value);
    if (keys.length === 0 && this.#stage === "stored") return null;
    // In the order sent, as the first fault met is the one reported.
    const read = keys.map((key) => ({ key, held: this.#convertEntry(type, value, key) }));
    const written: JsonObject = {};
    for (const { key, held } of inKeyOrder(read)) put(written, key, held ?? absentIn(type));
    if (keys.length === 0) this.#emptyMaps.add(written);
    return written;
  }

  #convertEntry(type: GoType & { at: "map" }, map: JsonObject, key: string): Json {
    const source = this.#numbers?.of(map, key);
    return type.name === "v1.ResourceList"
      ? convertQuantity(map[key], "milli", source)
      : this.convert(type.value, map[key], source);
  }

  /** As {@link convert}, with turns of the event loop in between where the value is large. */
  *convertInSteps(type: GoType, value: Json | undefined, budget: TurnBudget, source?: string): Steps<Json> {
    const parts = value === undefined ? 1 : countParts(value, budget.wide);
    if (parts > largeParts) {
      if (type.at === "pointer") return yield* this.convertInSteps(type.to, value, budget, source);
      if (type.at === "struct") return yield* this.#convertStructInSteps(type, value as Json, budget);
      if (type.at === "list") return yield* this.#convertListInSteps(type, value as Json, budget);
      if (type.at === "map") return yield* this.#convertMapInSteps(type, value as Json, budget);
    }
    if (budget.spend(parts)) yield nextTurn;
    return this.convert(type, value, source);
  }

  *#convertStructInSteps(type: GoType & { at: "struct" }, value: Json, budget: TurnBudget): Steps<Json> {
    if (!isObject(value)) throw this.#mismatch(value, type);
    const read = new Map<GoField, Json>();
    const outer = this.#enter(type);
    for (const name of Object.keys(value)) {
      const field = type.fields.byName.get(name);
      if (!field) continue;
      this.#path.push(name);
      const source = this.#numbers?.of(value, name);
      read.set(field, yield* this.convertInSteps(field.type, value[name], budget, source));
      this.#path.pop();
    }
    this.#struct = outer;
    return this.#writeStruct(type, read);
  }

  *#convertListInSteps(type: GoType & { at: "list" }, value: Json, budget: TurnBudget): Steps<Json> {
    if (!Array.isArray(value)) throw this.#mismatch(value, type);
    const converted: Json[] = [];
    for (const [index, item] of value.entries()) {
      const source = this.#numbers?.of(value, index);
      converted.push(yield* this.convertInSteps(type.item, item, budget, source));
    }
    return converted;
  }

  *#convertMapInSteps(type: GoType & { at: "map" }, value: Json, budget: TurnBudget): Steps<Json> {
    if (!isObject(value)) throw this.#mismatch(value, type);
    const read: Entry[] = [];
    const keys = Object.keys(value);
    yield nextTurn;
    for (const key of keys) {
      const isPlain = type.name === "v1.ResourceList" || typeof value[key] !== "object";
      if (isPlain && budget.spend(1)) yield nextTurn;
      const held = isPlain
        ? this.#convertEntry(type, value, key)
        : yield* this.convertInSteps(type.value, value[key], budget, this.#numbers?.of(value, key));
      read.push({ key, held });
    }
    yield nextTurn;
    const ordered = inKeyOrder(read);
    yield nextTurn;
    const written: JsonObject = {};
    for (const { key, held } of ordered) {
      if (budget.spend(1)) yield nextTurn;
      put(written, key, held ?? absentIn(type));
    }
    return written;
  }

  #convertScalar(scalar: Scalar, type: GoType, value: Json | undefined, source: string | undefined): Json {
    switch (scalar) {
      case "string":
        if (value === undefined || value === null) return "";
        if (typeof value !== "string") throw this.#mismatch(value, type);
        return value;
      case "bool":
        if (value === undefined || value === null) return false;
        if (typeof value !== "boolean") throw this.#mismatch(value, type);
        return value;
      case "float64":
        if (value === undefined || value === null) return 0;
        if (typeof value === "bigint") return Number(value);
        if (typeof value !== "number") throw this.#mismatch(value, type);
        if (!Number.isFinite(value)) throw this.#outOfRange(source ?? String(value), nameOf(type));
        return value;
      case "bytes":
        return this.#convertBytes(type, value);
      default: {
        if (value === undefined || value === null) return 0;
        return this.#convertInteger(scalar, nameOf(type), value, source);
      }
    }
  }

  #convertInteger(scalar: string, typeName: string, value: Json, source?: string): Json {
    if (typeof value !== "number" && typeof value !== "bigint") throw this.#mismatchNamed(value, typeName);
    const [least, most] = bounds[scalar] ?? [0n, 0n];
    // Go looks at the text: `1.0` is no integer. Without it, a number that is not exact is a float.
    const integer = source === undefined ? exactInteger(value) : writtenInteger(source);
    if (integer === undefined || integer < least || integer > most)
      throw this.#outOfRange(source ?? String(value), typeName);
    return Object.is(value, -0) ? 0 : value;
  }

  #convertBytes(type: GoType, value: Json | undefined): Json {
    if (value === undefined || value === null) return null;
    if (Array.isArray(value)) {
      const bytes = value.map((item) => this.#convertInteger("uint8", "uint8", item ?? 0) as number);
      return Buffer.from(bytes).toString("base64");
    }
    if (typeof value !== "string") throw this.#mismatch(value, type);
    const fault = base64Fault(value);
    if (fault !== undefined) throw new DecodeError(`illegal base64 data at input byte ${fault}`);
    return value.replace(/[\r\n]/g, "");
  }

  #convertSpecial(special: Special, value: Json | undefined, source: string | undefined): Json {
    switch (special) {
      case "quantity":
        return convertQuantity(value, "exact", source);
      case "time":
        return this.#convertTime("seconds", value);
      case "micro-time":
        return this.#convertTime("micros", value);
      case "int-or-string":
        if (value === undefined || value === null) return 0;
        return typeof value === "string" ? value : this.#convertInteger("int32", "int32", value, source);
      case "duration":
        if (value === undefined || value === null) return "0s";
        if (typeof value !== "string") throw this.#mismatchNamed(value, "string");
        return value;
      case "fields":
      case "raw":
        return value ?? null;
      case "schema-or-bool":
        if (typeof value === "boolean") return value;
        if (isObject(value)) return this.#convertSchema(value);
        throw new DecodeError("boolean or JSON schema expected");
      case "schema-or-array":
        if (Array.isArray(value))
          return value.length === 0 ? null : value.map((item) => this.#convertSchema(item));
        return isObject(value) ? this.#convertSchema(value) : null;
      case "schema-or-strings":
        if (Array.isArray(value)) {
          return value.map((item) => {
            if (typeof item !== "string") throw this.#mismatchNamed(item, "string");
            return item;
          });
        }
        return isObject(value) ? this.#convertSchema(value) : null;
    }
  }

  #convertSchema(value: Json): Json {
    const type = goType("apiextensions.v1.JSONSchemaProps");
    return type ? this.convert(type, value) : value;
  }

  #convertTime(precision: "seconds" | "micros", value: Json | undefined): Json {
    if (value === undefined || value === null) return null;
    if (typeof value !== "string") throw this.#mismatchNamed(value, "string");
    if (isWritten(value, precision) && !value.startsWith("0001-")) return value;
    try {
      const moment = parseTime(value, precision);
      return isZeroTime(moment) ? null : formatTime(moment, precision);
    } catch (error) {
      if (error instanceof TimeError) throw new DecodeError(error.message);
      throw error;
    }
  }

  /**
   * Whether Go's `omitempty` leaves the value out: structs never are, not even those that are
   * written as null.
   */
  #isEmpty(type: GoType, value: Json): boolean {
    switch (type.at) {
      case "pointer":
        return value === null;
      case "list":
        return value === null || (value as Json[]).length === 0;
      case "map":
        return value === null || this.#emptyMaps.has(value);
      case "scalar":
        return value === null || value === "" || value === 0 || value === false;
      default:
        return false;
    }
  }

  #mismatch(value: Json, type: GoType): DecodeError {
    return this.#mismatchNamed(value, nameOf(type));
  }

  #mismatchNamed(value: Json, typeName: string): DecodeError {
    return this.#unmarshalError({ given: jsonTypeOf(value), type: typeName });
  }

  #outOfRange(literal: string, typeName: string): DecodeError {
    return this.#unmarshalError({ given: "number", literal, type: typeName });
  }

  #unmarshalError(fault: Pick<TypeMismatch, "given" | "literal" | "type">): DecodeError {
    const mismatch = { ...fault, struct: this.#struct, path: [...this.#path] };
    const { given, literal, struct, path, type } = mismatch;
    const what = literal === undefined ? given : `${given} ${literal}`;
    const into = path.length === 0 ? "Go value" : `Go struct field ${struct}.${path.join(".")}`;
    return new DecodeError(`json: cannot unmarshal ${what} into ${into} of type ${type}`, mismatch);
  }
}

function exactInteger(value: number | bigint): number | bigint | undefined {
  return typeof value === "bigint" || Number.isSafeInteger(value) ? value : undefined;
}

function writtenInteger(source: string): bigint | undefined {
  return /^-?\d+$/.test(source) ? BigInt(source) : undefined;
}

function convertQuantity(
  value: Json | undefined,
  precision: "exact" | "milli",
  source: string | undefined,
): Json {
  if (value === undefined || value === null) return "0";
  try {
    // Anything else is refused as text that is no quantity.
    const isText = typeof value === "string" || typeof value === "number" || typeof value === "bigint";
    const text = source ?? (isText ? String(value) : "{");
    const quantity = parseQuantity(text.trim());
    return formatQuantity(precision === "milli" ? roundUpToMilli(quantity) : quantity);
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message);
    throw error;
  }
}

function jsonTypeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "number";
  return typeof value === "boolean" ? "bool" : typeof value;
}

function byCodePoint(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface Entry {
  readonly key: string;
  readonly held: Json;
}

/** What a map was read into, in the order in which it is written. It may be changed. */
function inKeyOrder(read: Entry[]): Entry[] {
  const isOrdered = read.every(({ key }, at) => at === 0 || (read[at - 1] as Entry).key < key);
  return isOrdered ? read : read.sort((a, b) => byCodePoint(a.key, b.key));
}

/** What stands for a null in a map: bytes that are null come back from storage empty. */
function absentIn({ value }: GoType & { at: "map" }): Json {
  return value.at === "scalar" && value.scalar === "bytes" ? "" : null;
}

/** Sets an own property, whatever it is called. */
function put(object: JsonObject, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
