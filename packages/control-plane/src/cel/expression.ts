import type { Json } from "../json.ts";
import { check, type Environment } from "./check.ts";
import { fromJson, toJson } from "./convert.ts";
import { estimate } from "./estimate.ts";
import { Meter, program } from "./evaluate.ts";
import { AUTHORIZER, type Authorize, authorizerOf } from "./library/authorizer.ts";
import { KUBERNETES } from "./library/index.ts";
import { constantFault, literalIssues } from "./literals.ts";
import { parse } from "./parse.ts";
import { formatIssues, ParseFailure } from "./source.ts";
import { DYN, type Type, typeName } from "./types.ts";
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

/** Parses and checks an expression. `errors` is in cel-go's words, one paragraph per error. */
export function compileCel(text: string, environment: Environment): Compilation {
  let expr: ReturnType<typeof parse>;
  try {
    expr = parse(text);
  } catch (error) {
    if (!(error instanceof ParseFailure)) throw error;
    return { errors: formatIssues(text, error.issues) };
  }
  const checked = check(expr, environment);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(checked);
  if (issues.length > 0) return { errors: formatIssues(text, issues) };
  const fault = constantFault(checked);
  const { run } = program(checked);
  const { type, references } = checked;
  const compiled = { type, references, maxCost: estimate(checked), run };
  return fault === undefined ? compiled : { ...compiled, fault };
}

/** An expression of a webhook's match conditions or of an admission policy. */
export type Expression =
  | {
      readonly errors?: undefined;
      /** The type of its result, as CEL names it: `bool`, `string`, `dyn` … */
      readonly type: string;
      /**
       * Evaluates it. Absent variables are null, which is what CEL sees for `oldObject` of a create.
       *
       * @throws CelError when the expression fails on these values
       * @throws CostExceeded when it costs more than `costLimit`
       */
      evaluate(
        variables: { readonly [name: string]: Json | undefined },
        costLimit: number,
        authorize?: Authorize,
      ): Json;
    }
  | { readonly errors: string };

/**
 * Compiles an expression over untyped variables, such as `object`, `oldObject`, `request`, `params`, `namespaceObject` and
 * `variables`. Fields are found at evaluation, so an unknown one is an error of evaluation. The variable `authorizer`
 * answers by the function handed to `evaluate`, and is null without one.
 */
export function compileExpression(text: string, variables: Iterable<string>): Expression {
  const names = [...variables];
  const types = new Map<string, Type>(names.map((name) => [name, name === "authorizer" ? AUTHORIZER : DYN]));
  const compiled = compileCel(text, { variables: types, library: KUBERNETES });
  if (compiled.errors !== undefined) return { errors: compiled.errors };
  if (compiled.fault !== undefined) return { errors: compiled.fault };
  return {
    type: typeName(compiled.type),
    evaluate: (values, costLimit, authorize) => {
      const bound = new Map<string, Value>();
      for (const name of names) bound.set(name, fromJson(values[name] ?? null));
      if (authorize !== undefined && types.has("authorizer"))
        bound.set("authorizer", authorizerOf(authorize));
      return toJson(compiled.run(bound, new Meter(costLimit)));
    },
  };
}
