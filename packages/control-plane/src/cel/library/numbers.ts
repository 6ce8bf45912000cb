import { fn, type Overload } from "../functions.ts";
import { BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, type Type, UINT } from "../types.ts";
import { CelError, Duration, Timestamp, Uint } from "../values.ts";

const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;

/** An integer that fits; overflow is an error, never a wrap. */
export function int(value: bigint): bigint {
  if (value < INT_MIN || value > INT_MAX) throw new CelError("integer overflow");
  return value;
}

export function uint(value: bigint): Uint {
  if (value < 0n || value > UINT_MAX) throw new CelError("unsigned integer overflow");
  return new Uint(value);
}

function duration(nanos: bigint): Duration {
  if (nanos < INT_MIN || nanos > INT_MAX) throw new CelError("integer overflow");
  return new Duration(nanos);
}

const FIRST = -62135596800n * 1_000_000_000n;
const LAST = 253402300799n * 1_000_000_000n + 999_999_999n;

export function timestamp(nanos: bigint): Timestamp {
  if (nanos < FIRST || nanos > LAST) throw new CelError("timestamp overflow");
  return new Timestamp(nanos);
}

function divided(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CelError("division by zero");
  return a / b;
}

function remainder(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CelError("modulus by zero");
  return a % b;
}

function arithmetic(
  name: string,
  ints: (a: bigint, b: bigint) => bigint,
  doubles?: (a: number, b: number) => number,
): Overload[] {
  const overloads = [
    fn(name, [INT, INT], INT, (a: bigint, b: bigint) => int(ints(a, b))),
    fn(name, [UINT, UINT], UINT, (a: Uint, b: Uint) => uint(ints(a.value, b.value))),
  ];
  if (doubles !== undefined) {
    overloads.push(fn(name, [DOUBLE, DOUBLE], DOUBLE, (a: number, b: number) => doubles(a, b)));
  }
  return overloads;
}

/** What is said of a string that does not read as the type asked for. */
export function notConvertible(type: string): CelError {
  return new CelError(`type conversion error from 'string' to '${type}'`);
}

function parsedInt(text: string): bigint {
  const [, sign, digits] = /^([+-]?)0*(\d{1,19})$/.exec(text) ?? [];
  const value = digits === undefined ? undefined : BigInt(`${sign === "-" ? "-" : ""}${digits}`);
  if (value === undefined || value < INT_MIN || value > INT_MAX) throw notConvertible("int");
  return value;
}

function truncated(value: number): bigint {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63)
    throw new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function parsedDouble(text: string): number {
  if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special === null) throw notConvertible("double");
  if (/nan/i.test(special[2] as string)) return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

const SECOND = 1_000_000_000n;
const same = (type: Type, name: string): Overload => fn(name, [type], type, (value) => value);

export const NUMBERS: readonly Overload[] = [
  ...arithmetic(
    "_+_",
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  ...arithmetic(
    "_-_",
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  ...arithmetic(
    "_*_",
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  ...arithmetic("_/_", divided, (a, b) => a / b),
  ...arithmetic("_%_", remainder),
  fn("-_", [INT], INT, (a: bigint) => int(-a)),
  fn("-_", [DOUBLE], DOUBLE, (a: number) => -a),
  fn("_+_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => duration(a.nanos + b.nanos)),
  fn("_+_", [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => timestamp(a.nanos + b.nanos)),
  fn("_+_", [DURATION, TIMESTAMP], TIMESTAMP, (a: Duration, b: Timestamp) => timestamp(a.nanos + b.nanos)),
  fn("_-_", [DURATION, DURATION], DURATION, (a: Duration, b: Duration) => duration(a.nanos - b.nanos)),
  fn("_-_", [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) => timestamp(a.nanos - b.nanos)),
  fn("_-_", [TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) => duration(a.nanos - b.nanos)),

  same(INT, "int"),
  fn("int", [UINT], INT, (value: Uint) => int(value.value)),
  fn("int", [DOUBLE], INT, (value: number) => truncated(value)),
  fn("int", [STRING], INT, (value: string) => parsedInt(value)),
  fn("int", [TIMESTAMP], INT, (value: Timestamp) => floorDivide(value.nanos, SECOND)),
  fn("int", [DURATION], INT, (value: Duration) => value.nanos),
  same(UINT, "uint"),
  fn("uint", [INT], UINT, (value: bigint) => uint(value)),
  fn("uint", [DOUBLE], UINT, (value: number) => uint(truncated(value))),
  fn("uint", [STRING], UINT, (value: string) => {
    if (!/^\d+$/.test(value)) throw notConvertible("uint");
    return uint(BigInt(value));
  }),
  same(DOUBLE, "double"),
  fn("double", [INT], DOUBLE, (value: bigint) => Number(value)),
  fn("double", [UINT], DOUBLE, (value: Uint) => Number(value.value)),
  fn("double", [STRING], DOUBLE, (value: string) => parsedDouble(value)),
  same(BOOL, "bool"),
  fn("bool", [STRING], BOOL, (value: string) => {
    if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
    if (/^(0|f|F|FALSE|false|False)$/.test(value)) return false;
    throw notConvertible("bool");
  }),
];

/** Division that rounds down, also below zero. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}
