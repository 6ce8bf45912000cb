import type { Compilation } from "../../cel/expression.ts";
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
  judge(inputs: Inputs, composed?: readonly ComposedVariable[]): ConditionsOutcome;
}

/**
 * Compiles the `matchConditions` of a webhook or policy. One that is false decides, even where another fails; a failure
 * counts only when none is false.
 */
export function compileConditions(
  conditions: readonly NamedCondition[],
  declarations: Declarations,
): CompiledConditions {
  const compiled = conditions.map(({ expression }): { text: string; program: Compilation } => ({
    text: expression,
    program: compileForAdmission(expression, "bool", declarations),
  }));
  return {
    judge: (inputs, composed = []) => {
      const evaluation = new Evaluation(inputs, composed, budgets.conditions);
      const errors: string[] = [];
      try {
        const outcomes = compiled.map(({ text, program }) => evaluation.evaluate(text, program));
        for (const outcome of outcomes) {
          if ("error" in outcome) errors.push(outcome.error);
          else if (outcome.value === false) return "do not hold";
        }
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
