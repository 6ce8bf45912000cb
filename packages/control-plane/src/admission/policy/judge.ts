import type { Compilation } from "../../cel/expression.ts";
import { DYN, type Type } from "../../cel/types.ts";
import { type CompiledConditions, compileConditions } from "./conditions.ts";
import {
  budgets,
  type ComposedVariable,
  compileForAdmission,
  Evaluation,
  type Inputs,
  OutOfBudget,
} from "./expressions.ts";
import type { Policy, Validation } from "./policies.ts";

/** A validation that a request does not pass. */
export interface Objection {
  readonly message: string;
  readonly reason: string;
  /** Whether it stands whatever the binding's actions are. */
  readonly always?: true;
}

/** A policy whose expressions are compiled. */
export interface CompiledPolicy {
  /** What the policy has against a request. */
  judge(inputs: Inputs): Objection[];
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly program: Compilation;
  readonly message: Compilation | undefined;
}

const longestMessage = 5 * 1024;

/** Compiles a policy. Expressions that do not compile fail when they are evaluated, as `failurePolicy` says. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const hasParams = policy.paramKind !== undefined;
  const types = new Map<string, Type>();
  const composed: ComposedVariable[] = [];
  for (const { name, expression } of policy.variables) {
    const declarations = { hasParams, hasAuthorizer: true, composed: new Map(types) };
    const compiled = compileForAdmission(expression, "anything", declarations);
    types.set(name, compiled.errors === undefined ? compiled.type : DYN);
    composed.push({ name, compiled });
  }
  const declarations = { hasParams, hasAuthorizer: true, composed: types };
  const conditions =
    policy.conditions.length === 0 ? undefined : compileConditions(policy.conditions, declarations);
  const validations = policy.validations.map(
    (validation): CompiledValidation => ({
      validation,
      program: compileForAdmission(validation.expression, "bool", declarations),
      message:
        validation.messageExpression === ""
          ? undefined
          : compileForAdmission(validation.messageExpression, "string", {
              ...declarations,
              hasAuthorizer: false,
            }),
    }),
  );
  const audits = policy.auditExpressions.map((expression) => ({
    expression,
    program: compileForAdmission(expression, "string or null", { ...declarations, hasAuthorizer: false }),
  }));
  return { judge: (inputs) => judge(policy, { composed, conditions, validations, audits }, inputs) };
}

function judge(
  policy: Policy,
  compiled: {
    readonly composed: readonly ComposedVariable[];
    readonly conditions: CompiledConditions | undefined;
    readonly validations: readonly CompiledValidation[];
    readonly audits: readonly { readonly expression: string; readonly program: Compilation }[];
  },
  inputs: Inputs,
): Objection[] {
  const failure = (message: string): Objection[] =>
    policy.ignoreFailures ? [] : [{ message, reason: "Invalid" }];
  const outcome = compiled.conditions?.judge(inputs, compiled.composed) ?? "hold";
  if (outcome === "do not hold") return [];
  if (outcome !== "hold") return failure(outcome.error);
  const evaluation = new Evaluation(inputs, compiled.composed, budgets.validations);
  try {
    const objections = compiled.validations.flatMap(({ validation, program, message }) => {
      const result = evaluation.evaluate(validation.expression, program);
      if ("error" in result) return failure(result.error);
      if (result.value === true) return [];
      const { reason } = validation;
      return [{ message: said(evaluation, validation, message), reason }];
    });
    const unsaid = compiled.audits.flatMap(({ expression, program }) => {
      const result = evaluation.evaluate(expression, program);
      return "error" in result ? failure(result.error).map((one) => ({ ...one, always: true as const })) : [];
    });
    return [...objections, ...unsaid];
  } catch (error) {
    if (error instanceof OutOfBudget) return failure(error.message);
    throw error;
  }
}

function said(evaluation: Evaluation, validation: Validation, compiled: Compilation | undefined): string {
  const made = compiled && evaluation.evaluate(validation.messageExpression, compiled);
  if (made && "value" in made && typeof made.value === "string") {
    const text = made.value.trim();
    const usable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= longestMessage;
    if (usable) return text;
  }
  return validation.message.trim() || `failed expression: ${validation.expression.trim()}`;
}
