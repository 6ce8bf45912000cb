// What expressions compute with. Integers are BigInt and doubles are numbers, so the two never mix
// by accident.

/** A 64-bit unsigned integer. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time, in nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;
  /** The offset it was written with, `+02:00`; undefined for UTC. Only printing looks at it. */
  readonly zone: string | undefined;

  constructor(nanos: bigint, zone?: string) {
    this.nanos = nanos;
    this.zone = zone;
  }
}

/** A length of time, in nanoseconds. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value, or none. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const NONE = new Optional(undefined);

/** A type as a value: what `type(x)` gives. */
export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a library's own type: a quantity, an address, a URL. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint
  | Uint8Array
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Opaque
  | CelMap
  | Value[];

/**
 * A map, or an object with declared fields. Keys are distinguished by type: `1`, `"1"` and `true`
 * are three keys.
 */
export class CelMap {
  private readonly entries = new Map<string, readonly [Value, Value]>();
  /** The name of the declared type, for objects. */
  readonly objectType: string | undefined;

  constructor(objectType?: string) {
    this.objectType = objectType;
  }

  get size(): number {
    return this.entries.size;
  }

  set(key: Value, value: Value): void {
    this.entries.set(keyText(key), [key, value]);
  }

  get(key: Value): Value | undefined {
    return this.entries.get(keyText(key))?.[1];
  }

  has(key: Value): boolean {
    return this.entries.has(keyText(key));
  }

  keys(): Value[] {
    return [...this.entries.values()].map(([key]) => key);
  }

  pairs(): (readonly [Value, Value])[] {
    return [...this.entries.values()];
  }
}

/** A list whose schema calls it a set or a map: order means nothing, and adding merges. */
export class KeyedList extends Array<Value> {
  /** The key fields of the items; none for a set, whose items are compared by value. */
  identity: readonly string[] = [];

  static make(identity: readonly string[], items: readonly Value[]): KeyedList {
    const list = new KeyedList();
    list.identity = identity;
    for (const item of items) list.push(item);
    return list;
  }
}

/**
 * `a + b`. Of sets the union; of map-lists the items of both, with those of `b` in the place of
 * their namesakes in `a`.
 */
export function concatenate(a: Value[], b: Value[]): Value[] {
  if (!(a instanceof KeyedList)) return [...a, ...b];
  const isSame = (left: Value, right: Value): boolean => {
    if (a.identity.length === 0) return equals(left, right);
    if (!(left instanceof CelMap) || !(right instanceof CelMap)) return false;
    return a.identity.every((name) => equals(left.get(name) ?? null, right.get(name) ?? null));
  };
  const merged = KeyedList.make(a.identity, a);
  for (const item of b) {
    const at = merged.findIndex((other) => isSame(other, item));
    if (at < 0) merged.push(item);
    else merged[at] = item;
  }
  return merged;
}

function keyText(key: Value): string {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  if (typeof key === "boolean") return `b${key}`;
  throw new CelError("unsupported key type");
}

/** An expression that failed while it ran. */
export class CelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CelError";
  }
}

/** An operator or function was called with values that it does not take. */
export class NoSuchOverload extends CelError {
  constructor() {
    super("no such overload");
  }
}

/** The name `type()` gives, and the word errors use. */
export function typeOf(value: Value): string {
  if (value === null) return "null_type";
  if (Array.isArray(value)) return "list";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    default:
      break;
  }
  if (value instanceof CelMap) return value.objectType ?? "map";
  if (value instanceof Uint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  return value.typeName;
}

function numeric(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

/**
 * Equality: numbers by value whatever their type, lists by order, maps by key. Different types are
 * unequal, no error.
 */
export function equals(a: Value, b: Value): boolean {
  if (a === b) return true;
  const left = numeric(a);
  const right = numeric(b);
  if (left !== undefined && right !== undefined) return numericOrder(left, right) === 0;
  if (a instanceof KeyedList || b instanceof KeyedList) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item) => b.some((other) => equals(item, other)));
  }
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => equals(item, b[index] as Value))
    );
  }
  if (a instanceof CelMap) {
    if (!(b instanceof CelMap) || a.size !== b.size) return false;
    return a.pairs().every(([key, value]) => {
      const other = b.get(key);
      return other !== undefined && equals(value, other);
    });
  }
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equals(a.value, b.value);
  }
  if (a instanceof Opaque) return b instanceof Opaque && a.typeName === b.typeName && a.equals(b);
  return false;
}

/** By mathematical value, also between BigInt and number. Undefined with NaN. */
function numericOrder(a: bigint | number, b: bigint | number): number | undefined {
  if (a < b) return -1;
  if (a > b) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? undefined : 0;
}

/** Order: negative, zero or positive. Undefined when the two cannot be ordered. */
export function compare(a: Value, b: Value): number | undefined {
  const left = numeric(a);
  const right = numeric(b);
  if (left !== undefined && right !== undefined) return numericOrder(left, right);
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp)
    return Number(a.nanos > b.nanos) - Number(a.nanos < b.nanos);
  if (a instanceof Duration && b instanceof Duration)
    return Number(a.nanos > b.nanos) - Number(a.nanos < b.nanos);
  return undefined;
}

/**
 * By code point, as UTF-8 bytes compare; JavaScript compares UTF-16 units, which differs beyond
 * U+FFFF.
 */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return /[\ud800-\udfff]/.test(a + b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) : a < b ? -1 : 1;
}

/** How much of a value a function has to look at: characters, items, entries; one for a scalar. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}
