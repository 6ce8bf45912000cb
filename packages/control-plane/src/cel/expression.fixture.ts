import type { Json } from "../json.ts";
import type { Matcher } from "../patterns/index.ts";
import { fromJson, toJson } from "./convert.ts";
import { compileCel } from "./expression.ts";
import { AUTHORIZER, type Authorize, authorizerOf } from "./library/authorizer.ts";
import { KUBERNETES } from "./library/index.ts";
import { Meter } from "./meter.ts";
import { DYN, type Type, typeName } from "./types.ts";
import type { Value } from "./values.ts";

/** An expression over plain data, to be tried. */
export type Expression =
  | {
      readonly errors?: undefined;
      /** The type of its result, as CEL names it: `bool`, `string`, `dyn` … */
      readonly type: string;
      /**
       * Evaluates it. Absent variables are null, which is what CEL sees for `oldObject` of a
       * create.
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
 * Compiles an expression over untyped variables, such as `object`, `oldObject`, `request`,
 * `params`, `namespaceObject` and `variables`. Fields are found at evaluation, so an unknown one is
 * an error of evaluation. The variable `authorizer` answers by the function handed to `evaluate`,
 * and is null without one.
 */
export function compileExpression(text: string, variables: Iterable<string>, matcher: Matcher): Expression {
  const names = [...variables];
  const types = new Map<string, Type>(names.map((name) => [name, name === "authorizer" ? AUTHORIZER : DYN]));
  const compiled = compileCel(text, { variables: types, library: KUBERNETES, matcher });
  if (compiled.errors !== undefined) return { errors: compiled.errors };
  if (compiled.fault !== undefined) return { errors: compiled.fault };
  return {
    type: typeName(compiled.type),
    evaluate: (values, costLimit, authorize) => {
      const bound = new Map<string, Value>();
      for (const name of names) bound.set(name, fromJson(values[name] ?? null));
      if (authorize !== undefined && types.has("authorizer"))
        bound.set("authorizer", authorizerOf(authorize));
      return toJson(compiled.run(bound, new Meter(costLimit, matcher)));
    },
  };
}
