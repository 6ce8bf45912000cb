import { DELIMITED, FIXED64, MalformedMessageError, VARINT, WireCursor } from "@windlass/client/protobuf";

/** How the values of a field are written. */
export interface FieldType<T> {
  readonly wireType: number;
  /** What the field has where a message leaves it out. */
  readonly absent: T;
  /** Whether a value is left out of what is written. */
  isAbsent(value: T): boolean;
  /** What is written under the field's number, tags included. */
  write(number: number, value: T): readonly Buffer[];
  /** Reads one occurrence, which ends before `end`, after those that came before. */
  read(cursor: WireCursor, end: number, before: T): T;
}

type Fields = Readonly<Record<string, readonly [number: number, type: FieldType<unknown>]>>;

/** What a message of such fields holds. */
type ValueOf<F extends Fields> = {
  readonly [Name in keyof F]: F[Name][1] extends FieldType<infer T> ? T : never;
};

/**
 * A message of protobuf, version 3: as bytes, and as a plain object in which every field is
 * present.
 */
export interface Message<T> {
  encode(value: Partial<T>): Buffer;
  /**
   * @throws {MalformedMessageError} whatever the bytes. Fields that are not known are passed over.
   */
  decode(bytes: Uint8Array): T;
}

/** The value of a message. */
export type Decoded<M> = M extends Message<infer T> ? T : never;

/**
 * Declares a message by the numbers and types of its fields.
 *
 * @example
 * const Digest = message({ hash: [1, text], sizeBytes: [2, integer] });
 */
export function message<F extends Fields>(fields: F): Message<ValueOf<F>> {
  const entries = Object.entries(fields);
  const byNumber = new Map(entries.map(([name, [number, type]]) => [number, { name, type }]));
  const absent = Object.fromEntries(entries.map(([name, [, type]]) => [name, type.absent]));
  return {
    encode: (value) => {
      const given: Readonly<Record<string, unknown>> = value;
      return Buffer.concat(
        entries.flatMap(([name, [number, type]]) => {
          const field = given[name];
          return field === undefined || type.isAbsent(field) ? [] : type.write(number, field);
        }),
      );
    },
    decode: (bytes) => {
      const cursor = new WireCursor(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      const value: Record<string, unknown> = { ...absent };
      while (cursor.at < bytes.byteLength) {
        const tag = cursor.varint(bytes.byteLength);
        const wireType = tag & 7;
        const known = byNumber.get(Math.floor(tag / 8));
        if (known === undefined) cursor.skip(wireType, bytes.byteLength);
        else if (wireType !== known.type.wireType)
          throw new MalformedMessageError(`field ${known.name} has wire type ${wireType}`);
        else value[known.name] = known.type.read(cursor, bytes.byteLength, value[known.name]);
      }
      // Every name of the fields has a value of its type: those that were not read have the absent
      // one.
      return value as ValueOf<F>;
    },
  };
}

function varint(value: number): Buffer {
  // Negative numbers are written in two's complement of 64 bits.
  let rest = BigInt.asUintN(64, BigInt(value));
  const digits: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...digits, Number(rest)]);
}

function delimited(number: number, bytes: Buffer): readonly Buffer[] {
  return [varint(number * 8 + DELIMITED), varint(bytes.length), bytes];
}

function contents(cursor: WireCursor, end: number): Buffer {
  const stop = cursor.delimited(end);
  const bytes = cursor.bytes.subarray(cursor.at, stop);
  cursor.at = stop;
  return bytes;
}

/** int32, int64, uint32, uint64, or an enumeration. Beyond what a double holds it is rounded. */
export const integer: FieldType<number> = {
  wireType: VARINT,
  absent: 0,
  isAbsent: (value) => value === 0,
  write: (number, value) => [varint(number * 8 + VARINT), varint(value)],
  read: (cursor, end) => cursor.varint(end),
};

/** A field of eight bytes, a floating-point number. */
export const double: FieldType<number> = {
  wireType: FIXED64,
  absent: 0,
  isAbsent: (value) => Object.is(value, 0),
  write: (number, value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return [varint(number * 8 + FIXED64), bytes];
  },
  read: (cursor, end) => cursor.bytes.readDoubleLE(cursor.take(8, end)),
};

/** A field that is true or false. */
export const boolean: FieldType<boolean> = {
  wireType: VARINT,
  absent: false,
  isAbsent: (value) => !value,
  write: (number, value) => integer.write(number, Number(value)),
  read: (cursor, end) => cursor.varint(end) !== 0,
};

/** A field of text. */
export const text: FieldType<string> = {
  wireType: DELIMITED,
  absent: "",
  isAbsent: (value) => value === "",
  write: (number, value) => delimited(number, Buffer.from(value)),
  read: (cursor, end) => contents(cursor, end).toString("utf8"),
};

/** A field of bytes. */
export const bytes: FieldType<Buffer> = {
  wireType: DELIMITED,
  absent: Buffer.alloc(0),
  isAbsent: (value) => value.length === 0,
  write: (number, value) => delimited(number, value),
  read: (cursor, end) => Buffer.from(contents(cursor, end)),
};

/** A message within a message. An empty one is present, unlike one that is left out. */
export function nested<T>(type: Message<T>): FieldType<T | undefined> {
  return {
    wireType: DELIMITED,
    absent: undefined,
    isAbsent: (value) => value === undefined,
    write: (number, value) => (value === undefined ? [] : delimited(number, type.encode(value))),
    read: (cursor, end) => type.decode(contents(cursor, end)),
  };
}

/** Any number of messages, texts or byte strings. */
export function repeated<T>(type: FieldType<T> | Message<T>): FieldType<readonly T[]> {
  const write = (number: number, value: T) =>
    "decode" in type ? delimited(number, type.encode(value)) : type.write(number, value);
  const read = (cursor: WireCursor, end: number): T =>
    "decode" in type ? type.decode(contents(cursor, end)) : type.read(cursor, end, type.absent);
  return {
    wireType: DELIMITED,
    absent: [],
    isAbsent: (values) => values.length === 0,
    write: (number, values) => values.flatMap((value) => write(number, value)),
    read: (cursor, end, before) => {
      // Only the first one makes a list: a copy for each would take the square of their number.
      const all = before.length === 0 ? [] : (before as T[]);
      all.push(read(cursor, end));
      return all;
    },
  };
}

const entry = message({ key: [1, text], value: [2, text] });

/** A map of texts. */
export const textMap: FieldType<Readonly<Record<string, string>>> = {
  wireType: DELIMITED,
  absent: {},
  isAbsent: (value) => Object.keys(value).length === 0,
  write: (number, value) =>
    Object.entries(value).flatMap(([key, one]) => delimited(number, entry.encode({ key, value: one }))),
  read: (cursor, end, before) => {
    const { key, value } = entry.decode(contents(cursor, end));
    return Object.fromEntries([...Object.entries(before), [key, value]]);
  },
};
