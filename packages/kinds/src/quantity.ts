/** How a quantity was written, and so how it is written again. */
export type QuantityFormat = "decimal" | "binary" | "exponent";

/** An amount, exact to a thousand-millionth: `nanos` thousand-millionths. */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  /**
   * The text it was read from, where Kubernetes keeps that: it takes a number with few trailing
   * zeros for canonical.
   */
  readonly text?: string;
}

/** A text that is no quantity. The message is the one Kubernetes gives. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const formatWrong =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const suffixWrong = "unable to parse quantity's suffix";
const numberWrong = "unable to parse numeric part of quantity";

const decimalSuffixes: { readonly [suffix: string]: number } = {
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimalNames = new Map(Object.entries(decimalSuffixes).map(([suffix, exponent]) => [exponent, suffix]));

const nano = 1_000_000_000n;
const milli = 1_000_000n;
const largestBinary = ((1n << 63n) - 1n) * nano;

/**
 * The real server takes minutes over larger exponents, and long over more digits; here they are
 * refused.
 */
const largestExponent = 1_000;
const mostDigits = 1_000;

/**
 * Reads a quantity such as `500m`, `1.5Gi` or `12e3`. What is finer than a thousand-millionth is
 * rounded away from zero; a binary amount larger than 2⁶³−1 becomes that.
 *
 * @throws {QuantityError}
 */
export function parseQuantity(text: string): Quantity {
  const match = /^([+-]?)(\d*)(\.\d*)?([eEinumkKMGTP]+[-+]?\d*|[-+]\d*|)$/.exec(text);
  if (text === "" || !match) throw new QuantityError(formatWrong);
  const [, sign, whole = "", point = "", suffix = ""] = match;
  const fraction = point.slice(1);
  const number = (whole.replace(/^0+/, "") || "0") + fraction;
  if (number.length > mostDigits) throw new QuantityError(numberWrong);
  const { format, ten, two } = readSuffix(suffix);
  if (isLong(format, number.length, fraction.length, ten, two) && whole + fraction === "") {
    throw new QuantityError(numberWrong);
  }
  const magnitude = scale(BigInt(number) << BigInt(two), ten - fraction.length + 9);
  const nanos = format === "binary" && magnitude > largestBinary ? largestBinary : magnitude;
  // A part of a binary unit has no binary form.
  const kept = format === "binary" && nanos > 0n && nanos < nano ? "decimal" : format;
  return {
    nanos: sign === "-" ? -nanos : nanos,
    format: kept,
    ...(keepsText(format, number, fraction.length, ten, two) ? { text } : {}),
  };
}

function readSuffix(suffix: string): { format: QuantityFormat; ten: number; two: number } {
  const decimal = Object.hasOwn(decimalSuffixes, suffix) ? decimalSuffixes[suffix] : undefined;
  if (decimal !== undefined) return { format: "decimal", ten: decimal, two: 0 };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary > 0) return { format: "binary", ten: 0, two: binary * 10 };
  if (!/^[eE][-+]?\d+$/.test(suffix)) throw new QuantityError(suffixWrong);
  const ten = Number(suffix.slice(1));
  if (Math.abs(ten) > largestExponent) throw new QuantityError(suffixWrong);
  return { format: "exponent", ten, two: 0 };
}

/**
 * Whether Kubernetes reads the number with arbitrary precision, as it would not surely fit 64 bits.
 */
function isLong(format: QuantityFormat, digits: number, decimals: number, ten: number, two: number): boolean {
  if (format === "binary") return decimals > 0 || 15 - digits - Math.trunc((two * 3) / 10) - 1 < 0;
  return digits > 18 || ten - decimals < -9;
}

function keepsText(
  format: QuantityFormat,
  number: string,
  decimals: number,
  ten: number,
  two: number,
): boolean {
  if (isLong(format, number.length, decimals, ten, two)) return false;
  if (format === "binary") return BigInt(number) % 8n !== 0n;
  return (ten - decimals) % 3 === 0 && !number.endsWith("000") && !number.startsWith("0");
}

/** `digits` times ten to the `exponent`, a remainder rounded up. */
function scale(digits: bigint, exponent: number): bigint {
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  const whole = digits / divisor;
  return digits % divisor === 0n ? whole : whole + 1n;
}

/** Writes a quantity as Kubernetes does: with the largest suffix that leaves a whole number. */
export function formatQuantity({ nanos, format, text }: Quantity): string {
  if (text !== undefined) return text;
  if (nanos === 0n) return "0";
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? "-" : "";
  if (format === "binary" && magnitude >= 1024n * nano && magnitude % nano === 0n) {
    return sign + formatBinary(magnitude / nano);
  }
  let mantissa = magnitude;
  let exponent = -9;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  const beyond = ((exponent % 3) + 3) % 3;
  mantissa *= 10n ** BigInt(beyond);
  exponent -= beyond;
  if (format === "exponent") return `${sign}${mantissa}${exponent === 0 ? "" : `e${exponent}`}`;
  // Beyond the last suffix Kubernetes writes none, wrong as that is.
  return `${sign}${mantissa}${decimalNames.get(exponent) ?? ""}`;
}

function formatBinary(value: bigint): string {
  let mantissa = value;
  let power = 0;
  while (mantissa % 1024n === 0n && power < binarySuffixes.length - 1) {
    mantissa /= 1024n;
    power++;
  }
  return `${mantissa}${binarySuffixes[power]}`;
}

/**
 * The one way Kubernetes writes an amount: `0.5` is `500m`, `1024Mi` is `1Gi`.
 *
 * @throws {QuantityError}
 */
export function canonicalQuantity(text: string): string {
  return formatQuantity(parseQuantity(text));
}

/** Rounds up to a thousandth, as the server does with every amount in a list of resources. */
export function roundUpToMilli(quantity: Quantity): Quantity {
  const { nanos, format } = quantity;
  const beyond = nanos % milli;
  if (beyond === 0n) return quantity;
  return { nanos: nanos - beyond + (nanos < 0n ? -milli : milli), format };
}
