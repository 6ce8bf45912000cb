import type { Json } from "../json.ts";
import type { Cause } from "../status.ts";
import { invalidValue, typeInvalid } from "./causes.ts";
import { goQuote } from "./go-text.ts";

/**
 * One thing that is wrong. `text` tells faults apart: the same fault found twice is reported once.
 */
export interface Fault {
  readonly text: string;
  cause(base: string): Cause;
}

/** A value that breaks a rule of its schema. */
export function faultOf(path: string, value: Json, text: string): Fault {
  return { text, cause: (base) => invalidValue(fieldOf(base, path), value, text) };
}

/** A value of another type. */
export function wrongType(path: string, expected: string, actual: string): Fault {
  const text = `${path} in body must be of type ${expected}: ${goQuote(actual)}`;
  return { text, cause: (base) => typeInvalid(fieldOf(base, path), actual, text) };
}

/** The field at a path of the value, as a cause names it. */
export function fieldOf(base: string, path: string): string {
  const name = path.startsWith(".") ? path.slice(1) : path;
  if (name === "") return base;
  return base === "" ? name : `${base}.${name}`;
}
