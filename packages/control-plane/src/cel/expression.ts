import { check, type Environment } from "./check.ts";
import { estimate } from "./estimate.ts";
import { program } from "./evaluate.ts";
import { constantFault, literalIssues } from "./literals.ts";
import type { Meter } from "./meter.ts";
import { parse } from "./parse.ts";
import { formatIssues, ParseFailure } from "./source.ts";
import type { Type } from "./types.ts";
import type { Value } from "./values.ts";

/** An expression that was parsed and checked, or why it cannot be. */
export type Compilation =
  | {
      readonly errors?: undefined;
      readonly type: Type;
      /** The most it can cost to evaluate. */
      readonly maxCost: number;
      readonly references: ReadonlySet<string>;
      /** Why it cannot be run although it is well typed: a literal that does not convert. */
      readonly fault?: string;
      run(variables: ReadonlyMap<string, Value>, meter: Meter): Value;
    }
  | { readonly errors: string };

/**
 * Parses and checks an expression. `errors` is in cel-go's words, one paragraph per error.
 *
 * @throws MatchPending if a literal pattern takes long to look at
 */
export function compileCel(text: string, environment: Environment): Compilation {
  let expr: ReturnType<typeof parse>;
  try {
    expr = parse(text);
  } catch (error) {
    if (!(error instanceof ParseFailure)) throw error;
    return { errors: formatIssues(text, error.issues) };
  }
  const checked = check(expr, environment);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(checked, environment.matcher);
  if (issues.length > 0) return { errors: formatIssues(text, issues) };
  const fault = constantFault(checked, environment.matcher);
  const { run } = program(checked);
  const { type, references } = checked;
  const compiled = { type, references, maxCost: estimate(checked), run };
  return fault === undefined ? compiled : { ...compiled, fault };
}
