import {
  type MessageField,
  type MessageType,
  messageNamed,
  type ValueType,
  zeroOf,
} from "./message-types.ts";
import { timeText } from "./time-text.ts";
import { DELIMITED, FIXED64, MalformedMessageError, VARINT, WireCursor } from "./wire.ts";

/**
 * No Kubernetes object is nested as deep; a message made to be is refused before it exhausts the
 * stack.
 */
const DEEPEST = 500;

/** How a message is read. */
export interface ReadOptions {
  /**
   * Hears that there is a field whose meaning is not known, and which is therefore not in the
   * object. Once for each object at most.
   */
  readonly onUnknownField?: () => void;
}

/**
 * Reads the object that a message stands for, as the server's JSON would show it.
 *
 * @throws MalformedMessageError
 */
export function readMessage(
  type: MessageType,
  bytes: Buffer,
  start: number,
  end: number,
  options: ReadOptions = {},
): Record<string, unknown> {
  const reader = new MessageReader(bytes);
  const object = reader.message(type, start, end, 0);
  if (reader.hasUnknown) options.onUnknownField?.();
  return object;
}

class MessageReader extends WireCursor {
  hasUnknown = false;

  message(type: MessageType, start: number, end: number, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#fields(type, object, start, end, depth);
    for (const { name, value } of type.always) if (object[name] === undefined) object[name] = value();
    return object;
  }

  #fields(
    type: MessageType,
    object: Record<string, unknown>,
    start: number,
    end: number,
    depth: number,
  ): void {
    if (depth > DEEPEST) throw new MalformedMessageError("nested too deep");
    this.at = start;
    while (this.at < end) {
      const tag = this.varint(end);
      const wireType = tag & 7;
      const field = type.fields[tag >>> 3];
      if (!field) {
        this.hasUnknown = true;
        this.skip(wireType, end);
        continue;
      }
      const next = wireType === DELIMITED ? this.delimited(end) : 0;
      const from = this.at;
      this.#field(object, field, wireType, from, next === 0 ? end : next, depth);
      if (next !== 0) this.at = next;
    }
    if (this.at !== end) throw new MalformedMessageError("it ends in the middle");
  }

  #field(
    object: Record<string, unknown>,
    field: MessageField,
    wireType: number,
    from: number,
    to: number,
    depth: number,
  ): void {
    const { name, type } = field;
    switch (field.holds) {
      case "one": {
        const value = this.#value(type, wireType, from, to, depth);
        if (field.omitsZero && (value === "" || value === 0 || value === false)) return;
        if (field.omitsNull && value === null) return;
        object[name] = value;
        return;
      }
      case "list": {
        object[name] ??= [];
        const list = object[name] as unknown[];
        // Numbers may come all in one piece.
        if (wireType === DELIMITED && isNumber(type)) {
          this.at = from;
          while (this.at < to) list.push(this.#value(type, VARINT, this.at, to, depth));
        } else list.push(this.#value(type, wireType, from, to, depth));
        return;
      }
      case "map":
        object[name] ??= {};
        this.#entry(object[name] as Record<string, unknown>, type, from, to, depth);
        return;
      case "inlined":
        if (type.is === "message") this.#fields(type.message, object, from, to, depth + 1);
    }
  }

  /** An entry of a map is a message of a key and a value, either of which may be missing. */
  #entry(map: Record<string, unknown>, type: ValueType, from: number, to: number, depth: number): void {
    let key = "";
    let value: unknown;
    this.at = from;
    while (this.at < to) {
      const tag = this.varint(to);
      const wireType = tag & 7;
      const end = wireType === DELIMITED ? this.delimited(to) : 0;
      if (tag >>> 3 === 1) key = this.bytes.toString("utf8", this.at, end);
      else if (tag >>> 3 === 2) value = this.#value(type, wireType, this.at, end === 0 ? to : end, depth);
      else if (end === 0) this.skip(wireType, to);
      if (end !== 0) this.at = end;
    }
    value ??= type.is === "bytes" ? "" : zeroOf(type);
    if (key === "__proto__")
      Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
    else map[key] = value;
  }

  /** A value whose bytes, or whose number, start at `from`. */
  #value(type: ValueType, wireType: number, from: number, to: number, depth: number): unknown {
    if (wireType !== DELIMITED) return this.#number(type, wireType, to);
    switch (type.is) {
      case "string":
        return this.bytes.toString("utf8", from, to);
      case "message":
        return this.message(type.message, from, to, depth + 1);
      case "bytes":
        return this.bytes.toString("base64", from, to);
      case "wrapped":
        return this.#wrapped(type.item, from, to, depth);
      case "time":
        return from === to ? null : this.#time(from, to);
      case "micro-time":
        return from === to ? null : this.#microTime(from, to);
      case "quantity":
        return this.#textAt(1, from, to) || "0";
      case "json":
        return this.#json(from, to);
      case "int-or-string":
        return this.#numberAt(1, from, to) === 0
          ? this.#numberAt(2, from, to) | 0
          : this.#textAt(3, from, to);
      case "duration":
        return durationText(this.#numberAt(1, from, to));
      case "schema-or-bool":
      case "schema-or-array":
      case "schema-or-strings":
        return this.#schema(type.is, from, to, depth);
      default:
        throw new MalformedMessageError("a malformed number");
    }
  }

  #number(type: ValueType, wireType: number, end: number): unknown {
    if (wireType === FIXED64 && type.is === "float64") {
      const value = this.bytes.readDoubleLE(this.take(8, end));
      return value;
    }
    if (wireType !== VARINT) throw new MalformedMessageError(`wire type ${wireType} where it cannot be`);
    switch (type.is) {
      case "bool":
        return this.varint(end) !== 0;
      case "int32":
        return this.varint(end) | 0;
      case "int64":
        return this.varint(end);
      default:
        throw new MalformedMessageError("a number where there should be none");
    }
  }

  #wrapped(item: ValueType, from: number, to: number, depth: number): unknown[] {
    const list: unknown[] = [];
    this.#each(from, to, (number, wireType, start, end) => {
      if (number === 1) list.push(this.#value(item, wireType, start, end, depth));
    });
    return list;
  }

  #time(from: number, to: number): string {
    const seconds = this.#numberAt(1, from, to);
    return (
      timeText(seconds) ??
      `${dateOf(seconds * 1000)
        .toISOString()
        .slice(0, -".000Z".length)}Z`
    );
  }

  #microTime(from: number, to: number): string {
    const seconds = this.#numberAt(1, from, to);
    const micros = Math.floor(this.#numberAt(2, from, to) / 1000);
    const text = dateOf(seconds * 1000).toISOString();
    return `${text.slice(0, -5)}.${String(micros).padStart(6, "0")}Z`;
  }

  #json(from: number, to: number): unknown {
    const text = this.#textAt(1, from, to);
    if (text === "") return null;
    try {
      return JSON.parse(text);
    } catch {
      throw new MalformedMessageError("embedded JSON is malformed");
    }
  }

  #schema(
    is: "schema-or-bool" | "schema-or-array" | "schema-or-strings",
    from: number,
    to: number,
    depth: number,
  ): unknown {
    const schemas: unknown[] = [];
    const texts: string[] = [];
    const schemaAt = is === "schema-or-bool" ? 2 : 1;
    let alone: unknown;
    let allows = false;
    this.#each(from, to, (number, wireType, start, end) => {
      if (wireType === VARINT) allows = this.varint(end) !== 0;
      else if (number === schemaAt) alone = this.#schemaAt(start, end, depth);
      else if (is === "schema-or-strings") texts.push(this.bytes.toString("utf8", start, end));
      else schemas.push(this.#schemaAt(start, end, depth));
    });
    if (alone !== undefined) return alone;
    if (is === "schema-or-bool") return allows;
    return is === "schema-or-strings" ? texts : schemas.length === 0 ? null : schemas;
  }

  #schemaAt(start: number, end: number, depth: number): unknown {
    return this.message(messageNamed("apiextensions.v1.JSONSchemaProps"), start, end, depth + 1);
  }

  /** The last number under a field's number; 0 if there is none. */
  #numberAt(wanted: number, from: number, to: number): number {
    let found = 0;
    this.#each(from, to, (number, wireType, _, end) => {
      if (number === wanted && wireType === VARINT) found = this.varint(end);
      else if (wireType !== DELIMITED) this.skip(wireType, end);
    });
    return found;
  }

  #textAt(wanted: number, from: number, to: number): string {
    let found = "";
    this.#each(from, to, (number, wireType, start, end) => {
      if (number === wanted && wireType === DELIMITED) found = this.bytes.toString("utf8", start, end);
      else if (wireType !== DELIMITED) this.skip(wireType, end);
    });
    return found;
  }

  /**
   * Calls for each field. One that is not delimited must be read, or skipped, by what is called.
   */
  #each(
    from: number,
    to: number,
    call: (number: number, wireType: number, start: number, end: number) => void,
  ): void {
    this.at = from;
    while (this.at < to) {
      const tag = this.varint(to);
      const wireType = tag & 7;
      if (wireType === DELIMITED) {
        const end = this.delimited(to);
        call(tag >>> 3, wireType, this.at, end);
        this.at = end;
      } else call(tag >>> 3, wireType, this.at, to);
    }
  }
}

function isNumber(type: ValueType): boolean {
  return type.is === "int32" || type.is === "int64" || type.is === "bool";
}

function dateOf(ms: number): Date {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) throw new MalformedMessageError("a time out of range");
  return date;
}

/** As Go writes a duration that was given in nanoseconds: `1h0m0s`, `1.5s`, `250ms`. */
function durationText(nanos: number): string {
  if (nanos === 0) return "0s";
  const sign = nanos < 0 ? "-" : "";
  const rest = Math.abs(nanos);
  if (rest < 1e9) {
    const [unit, size] = rest < 1e3 ? ["ns", 1] : rest < 1e6 ? ["µs", 1e3] : ["ms", 1e6];
    return `${sign}${rest / (size as number)}${unit as string}`;
  }
  const hours = Math.floor(rest / 3.6e12);
  const minutes = Math.floor((rest % 3.6e12) / 6e10);
  const seconds = (rest % 6e10) / 1e9;
  const withHours = hours > 0 ? `${hours}h` : "";
  return `${sign}${withHours}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds}s`;
}
