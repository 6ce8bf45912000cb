import { fn, method, type Overload, SCAN } from "../functions.ts";
import { BOOL, DOUBLE, INT, opaque, STRING } from "../types.ts";
import { CelError, Opaque, type Value } from "../values.ts";

const TYPE = opaque("kubernetes.Quantity");

const SUFFIXES: { readonly [suffix: string]: readonly [base: bigint, exponent: number] } = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  "": [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

/** An amount such as `500m` or `1Gi`, exact to a billionth. */
export class Quantity extends Opaque {
  readonly typeName = "kubernetes.Quantity";
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nanos === this.nanos;
  }
}

const NANO = 1_000_000_000n;
/** Longer numbers would take too long to read. */
const MOST_DIGITS = 1_000;

/**
 * Reads a quantity. Undefined when the text is none. Finer than a billionth rounds up, as the API
 * server does.
 */
export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+|)$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [whole = "", fraction = ""] = (match[2] as string).split(".");
  if (whole.length + fraction.length > MOST_DIGITS) return undefined;
  const suffix = match[3] as string;
  const scale: readonly [bigint, number] | undefined = /^[eE][+-]?\d/.test(suffix)
    ? [10n, Number(suffix.slice(1))]
    : SUFFIXES[suffix];
  if (scale === undefined || Math.abs(scale[1]) > 60) return undefined;
  let numerator = BigInt(`${whole}${fraction}` || "0") * NANO;
  let denominator = 10n ** BigInt(fraction.length);
  if (scale[1] >= 0) numerator *= scale[0] ** BigInt(scale[1]);
  else denominator *= scale[0] ** BigInt(-scale[1]);
  const nanos = (numerator + denominator - 1n) / denominator;
  return new Quantity(match[1] === "-" ? -nanos : nanos);
}

function compareTo(a: Quantity, b: Quantity): bigint {
  return a.nanos < b.nanos ? -1n : a.nanos > b.nanos ? 1n : 0n;
}

function isInteger(value: Quantity): boolean {
  const whole = value.nanos / NANO;
  return value.nanos % NANO === 0n && whole >= -(2n ** 63n) && whole < 2n ** 63n;
}

export const QUANTITIES: readonly Overload[] = [
  fn("isQuantity", [STRING], BOOL, (text: string) => parseQuantity(text) !== undefined, SCAN),
  fn(
    "quantity",
    [STRING],
    TYPE,
    (text: string): Value => {
      const value = parseQuantity(text);
      if (value === undefined) {
        throw new CelError(
          "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        );
      }
      return value;
    },
    SCAN,
  ),
  fn("sign", [TYPE], INT, (value: Quantity) => (value.nanos > 0n ? 1n : value.nanos < 0n ? -1n : 0n)),
  method("isInteger", [TYPE], BOOL, isInteger),
  method("asInteger", [TYPE], INT, (value: Quantity) => {
    if (!isInteger(value)) throw new CelError("cannot convert value to integer");
    return value.nanos / NANO;
  }),
  method("asApproximateFloat", [TYPE], DOUBLE, (value: Quantity) => Number(value.nanos) / 1e9),
  method("add", [TYPE, TYPE], TYPE, (a: Quantity, b: Quantity) => new Quantity(a.nanos + b.nanos)),
  method("add", [TYPE, INT], TYPE, (a: Quantity, b: bigint) => new Quantity(a.nanos + b * NANO)),
  method("sub", [TYPE, TYPE], TYPE, (a: Quantity, b: Quantity) => new Quantity(a.nanos - b.nanos)),
  method("sub", [TYPE, INT], TYPE, (a: Quantity, b: bigint) => new Quantity(a.nanos - b * NANO)),
  method("isLessThan", [TYPE, TYPE], BOOL, (a: Quantity, b: Quantity) => a.nanos < b.nanos),
  method("isGreaterThan", [TYPE, TYPE], BOOL, (a: Quantity, b: Quantity) => a.nanos > b.nanos),
  method("compareTo", [TYPE, TYPE], INT, compareTo),
];
