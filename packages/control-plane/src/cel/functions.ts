import type { Matcher } from "../patterns/index.ts";
import type { Type } from "./types.ts";
import type { Value } from "./values.ts";

/** One signature of a function, and what it does. */
export interface Overload {
  readonly name: string;
  /** Called as `x.name(…)`; the receiver is the first parameter. */
  readonly member: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
  /** @throws CelError, or MatchPending if a pattern takes long */
  run(args: Value[], matcher: Matcher): Value;
  /**
   * What a call costs, by the sizes of its arguments. Grows with each of them. One, when absent.
   */
  readonly cost?: (...sizes: number[]) => number;
  /** How large the result can be, by the sizes of the arguments; for results that have a size. */
  readonly size?: (...sizes: number[]) => number;
}

interface Extra {
  readonly cost?: (...sizes: number[]) => number;
  readonly size?: (...sizes: number[]) => number;
}

// The parameter types are checked before `run` is called, so an implementation may name what it
// takes.
type Run<Args extends Value[]> = (...args: Args) => Value;

export function fn<Args extends Value[]>(
  name: string,
  params: readonly Type[],
  result: Type,
  run: Run<Args>,
  extra: Extra = {},
): Overload {
  return { name, member: false, params, result, run: (args) => run(...(args as Args)), ...extra };
}

export function method<Args extends Value[]>(
  name: string,
  params: readonly Type[],
  result: Type,
  run: Run<Args>,
  extra: Extra = {},
): Overload {
  return { name, member: true, params, result, run: (args) => run(...(args as Args)), ...extra };
}

/** A function that matches patterns. */
export function matching<Args extends Value[]>(
  of: { readonly name: string; readonly member: boolean },
  params: readonly Type[],
  result: Type,
  run: (matcher: Matcher, ...args: Args) => Value,
  extra: Extra = {},
): Overload {
  return { ...of, params, result, run: (args, matcher) => run(matcher, ...(args as Args)), ...extra };
}

/** Walking over a string costs a tenth per character. */
export function traversal(size: number): number {
  return Math.ceil(size * 0.1);
}

/** Cost of looking through the first argument. */
export const SCAN: Extra = { cost: (size = 0) => traversal(size), size: (size = 0) => size };
