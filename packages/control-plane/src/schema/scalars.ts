import { equal, type Json } from "../json.ts";
import { type Matcher, PatternError } from "../patterns/index.ts";
import { notSupported, tooLong } from "./causes.ts";
import { type Fault, faultOf, fieldOf } from "./faults.ts";
import { goFloat, goJson, goNumber } from "./go-text.ts";
import type { Schema } from "./schema.ts";

/** Length and pattern. */
export function checkString(
  schema: Schema,
  value: string,
  path: string,
  faults: Fault[],
  matcher: Matcher,
): void {
  const { minLength, maxLength, pattern } = schema;
  if (maxLength !== undefined && value.length > maxLength && runeCount(value) > maxLength) {
    faults.push({
      text: `${path} in body should be at most ${maxLength} chars long`,
      cause: (base) => tooLong(fieldOf(base, path), maxLength),
    });
    return;
  }
  if (minLength !== undefined && runeCount(value) < minLength) {
    faults.push(faultOf(path, value, `${path} in body should be at least ${minLength} chars long`));
    return;
  }
  if (pattern === undefined || pattern === "") return;
  try {
    if (!matcher.test(pattern, value)) {
      faults.push(faultOf(path, value, `${path} in body should match '${pattern}'`));
    }
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const what = `${pattern}, but pattern is invalid: ${error.message}`;
    faults.push(faultOf(path, value, `${path} in body should match '${what}'`));
  }
}

/** Bounds and factors. */
export function checkNumber(
  schema: Schema,
  value: number | bigint,
  kind: "integer" | "number",
  path: string,
  faults: Fault[],
): void {
  // Bounds of integers are compared as integers, so a fraction in the bound is cut off.
  const bound = (limit: number | bigint): number | bigint => {
    if (kind === "number" || typeof limit === "bigint") return limit;
    return Number.isSafeInteger(Math.trunc(limit)) ? Math.trunc(limit) : BigInt(Math.trunc(limit));
  };
  // They are printed as what they are in Go.
  const shown = (limit: number | bigint): string =>
    kind === "number" ? goFloat(Number(limit)) : goNumber(limit);
  if (schema.multipleOf !== undefined) {
    const factor = bound(schema.multipleOf);
    if (factor <= 0) {
      const text = `factor MultipleOf declared for ${path} must be positive: ${shown(factor)}`;
      faults.push(faultOf(path, factor, text));
    } else if (kind === "integer" ? !divides(factor, value) : !isMultiple(Number(value), Number(factor))) {
      faults.push(faultOf(path, value, `${path} in body should be a multiple of ${shown(factor)}`));
    }
  }
  if (schema.minimum !== undefined) {
    const limit = bound(schema.minimum);
    const exclusive = schema.exclusiveMinimum === true;
    if (value < limit || (exclusive && !(value > limit))) {
      const words = exclusive ? "greater than" : "greater than or equal to";
      faults.push(faultOf(path, value, `${path} in body should be ${words} ${shown(limit)}`));
    }
  }
  if (schema.maximum !== undefined) {
    const limit = bound(schema.maximum);
    const exclusive = schema.exclusiveMaximum === true;
    if (value > limit || (exclusive && !(value < limit))) {
      const words = exclusive ? "less than" : "less than or equal to";
      faults.push(faultOf(path, value, `${path} in body should be ${words} ${shown(limit)}`));
    }
  }
}

/** Whether an integer is a multiple of another. */
function divides(factor: number | bigint, value: number | bigint): boolean {
  return typeof factor === "number" && typeof value === "number"
    ? value % factor === 0
    : BigInt(value) % BigInt(factor) === 0n;
}

/** Whether the value is one of those that are allowed. */
export function checkEnum(allowed: readonly Json[], value: Json, path: string, faults: Fault[]): void {
  if (value !== null && allowed.some((option) => isOption(option, value))) return;
  const shown = allowed.map((option) => (typeof option === "string" ? option : goJson(option)));
  faults.push({
    text: `${path} in body should be one of [${shown.join(" ")}]`,
    cause: (base) => notSupported(fieldOf(base, path), value, shown),
  });
}

/** A fraction is cut off before it is compared with an integer. */
function isOption(option: Json, value: Json): boolean {
  if (typeof value !== "number" || !(Number.isInteger(option) || typeof option === "bigint"))
    return equal(option, value);
  return BigInt(Math.trunc(value)) === BigInt(option as number | bigint);
}

/** Length in code points, which is how the API server counts. */
function runeCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code < 0xdc00) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        count--;
        index++;
      }
    }
  }
  return count;
}

/** Whether a float is an integer, and small enough to be exact. */
export function isWholeFloat(value: number): boolean {
  return isNearInteger(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Tolerant of the last bits: 0.3 is a multiple of 0.1. */
function isNearInteger(value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  const difference = Math.abs(value - whole);
  const sum = Math.abs(value) + Math.abs(whole);
  return whole !== 0 && difference / Math.min(sum, Number.MAX_VALUE) < 1e-9;
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient) <= Number.MAX_SAFE_INTEGER && isNearInteger(quotient);
}
