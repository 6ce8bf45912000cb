import { append } from "../../append.ts";
import type { Compilation } from "../../cel/expression.ts";
import { DYN, type Type } from "../../cel/types.ts";
import type { Matcher } from "../../patterns/index.ts";
import type { Steps } from "../../steps.ts";
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
export interface PolicyViolation {
  readonly message: string;
  readonly reason: string;
  /** Whether it stands whatever the binding's actions are. */
  readonly always?: true;
}

/** A policy whose expressions are compiled. */
export interface CompiledPolicy {
  /** The validations of the policy that a request fails. */
  evaluate(matcher: Matcher, inputs: Inputs): Steps<PolicyViolation[]>;
}

interface CompiledValidation {
  readonly validation: Validation;
  readonly program: Compilation;
  readonly message: Compilation | undefined;
}

const longestMessage = 5 * 1024;

/**
 * Compiles a policy. Expressions that do not compile fail when they are evaluated, as
 * `failurePolicy` says.
 *
 * @throws MatchPending
 */
export function compilePolicy(policy: Policy, matcher: Matcher): CompiledPolicy {
  const hasParams = policy.paramKind !== undefined;
  const types = new Map<string, Type>();
  const composed: ComposedVariable[] = [];
  for (const { name, expression } of policy.variables) {
    const declarations = { hasParams, hasAuthorizer: true, composed: new Map(types) };
    const compiled = compileForAdmission(expression, "anything", declarations, matcher);
    types.set(name, compiled.errors === undefined ? compiled.type : DYN);
    composed.push({ name, compiled });
  }
  const declarations = { hasParams, hasAuthorizer: true, composed: types };
  const unauthorized = { ...declarations, hasAuthorizer: false };
  const conditions =
    policy.conditions.length === 0 ? undefined : compileConditions(policy.conditions, declarations, matcher);
  const validations = policy.validations.map(
    (validation): CompiledValidation => ({
      validation,
      program: compileForAdmission(validation.expression, "bool", declarations, matcher),
      message:
        validation.messageExpression === ""
          ? undefined
          : compileForAdmission(validation.messageExpression, "string", unauthorized, matcher),
    }),
  );
  const audits = policy.auditExpressions.map((expression) => ({
    expression,
    program: compileForAdmission(expression, "string or null", unauthorized, matcher),
  }));
  return {
    evaluate: (using, inputs) =>
      evaluate(policy, { composed, conditions, validations, audits }, using, inputs),
  };
}

function* evaluate(
  policy: Policy,
  compiled: {
    readonly composed: readonly ComposedVariable[];
    readonly conditions: CompiledConditions | undefined;
    readonly validations: readonly CompiledValidation[];
    readonly audits: readonly { readonly expression: string; readonly program: Compilation }[];
  },
  matcher: Matcher,
  inputs: Inputs,
): Steps<PolicyViolation[]> {
  const failure = (message: string): PolicyViolation[] =>
    policy.ignoreFailures ? [] : [{ message, reason: "Invalid" }];
  const outcome = compiled.conditions
    ? yield* compiled.conditions.evaluate(matcher, inputs, compiled.composed)
    : "hold";
  if (outcome === "do not hold") return [];
  if (outcome !== "hold") return failure(outcome.error);
  const evaluation = new Evaluation(inputs, compiled.composed, budgets.validations, matcher);
  try {
    const objections: PolicyViolation[] = [];
    for (const { validation, program, message } of compiled.validations) {
      const result = yield* evaluation.evaluate(validation.expression, program);
      if ("error" in result) append(objections, failure(result.error));
      else if (result.value !== true) {
        const { reason } = validation;
        objections.push({ message: yield* said(evaluation, validation, message), reason });
      }
    }
    for (const { expression, program } of compiled.audits) {
      const result = yield* evaluation.evaluate(expression, program);
      if (!("error" in result)) continue;
      append(
        objections,
        failure(result.error).map((one) => ({ ...one, always: true as const })),
      );
    }
    return objections;
  } catch (error) {
    if (error instanceof OutOfBudget) return failure(error.message);
    throw error;
  }
}

function* said(
  evaluation: Evaluation,
  validation: Validation,
  compiled: Compilation | undefined,
): Steps<string> {
  const made = compiled && (yield* evaluation.evaluate(validation.messageExpression, compiled));
  if (made && "value" in made && typeof made.value === "string") {
    const text = made.value.trim();
    const usable = text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= longestMessage;
    if (usable) return text;
  }
  return validation.message.trim() || `failed expression: ${validation.expression.trim()}`;
}
