import type { Compilation } from "../../cel/expression.ts";
import type { Matcher } from "../../patterns/index.ts";
import type { Steps } from "../../steps.ts";
import type { NamedCondition } from "../webhooks/hooks.ts";
import {
  budgets,
  type ComposedVariable,
  compileForAdmission,
  type Declarations,
  Evaluation,
  type Inputs,
  OutOfBudget,
} from "./expressions.ts";

/** Whether conditions hold for a request, or why that cannot be said. */
export type ConditionsOutcome = "hold" | "do not hold" | { readonly error: string };

/** Conditions that were compiled once. */
export interface CompiledConditions {
  evaluate(
    matcher: Matcher,
    inputs: Inputs,
    composed?: readonly ComposedVariable[],
  ): Steps<ConditionsOutcome>;
}

/**
 * Compiles the `matchConditions` of a webhook or policy. A false condition decides, even where
 * another fails; a failure counts only when none is false.
 *
 * @throws MatchPending
 */
export function compileConditions(
  conditions: readonly NamedCondition[],
  declarations: Declarations,
  matcher: Matcher,
): CompiledConditions {
  const compiled = conditions.map(({ expression }): { text: string; program: Compilation } => ({
    text: expression,
    program: compileForAdmission(expression, "bool", declarations, matcher),
  }));
  return {
    *evaluate(matcher, inputs, composed = []) {
      const evaluation = new Evaluation(inputs, composed, budgets.conditions, matcher);
      const errors: string[] = [];
      try {
        let isFalse = false;
        for (const { text, program } of compiled) {
          const outcome = yield* evaluation.evaluate(text, program);
          if ("error" in outcome) errors.push(outcome.error);
          else if (outcome.value === false) isFalse = true;
        }
        if (isFalse) return "do not hold";
      } catch (error) {
        if (!(error instanceof OutOfBudget)) throw error;
        return { error: error.message };
      }
      if (errors.length === 0) return "hold";
      const distinct = [...new Set(errors)];
      return { error: distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(", ")}]` };
    },
  };
}
