import type { Matcher } from "../patterns/index.ts";
import type { ValidationRule } from "../schema/schema.ts";
import { type Compilation, compileCel } from "./expression.ts";
import { KUBERNETES } from "./library/index.ts";
import { optionalOf, type Type } from "./types.ts";

type Compiled = Exclude<Compilation, { errors: string }>;

/** One rule of a schema node, or why it cannot be one. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly program: Compiled | undefined;
  /** Why the rule does not compile, in the API server's words. */
  readonly error: string | undefined;
  readonly message: Compiled | undefined;
  readonly messageError: string | undefined;
  readonly usesOldSelf: boolean;
}

/** Compiles a rule over the type of the node it stands on. @throws MatchPending */
export function compileRule(rule: ValidationRule, self: Type, matcher: Matcher): CompiledRule {
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self) : self;
  const environment = {
    variables: new Map([
      ["self", self],
      ["oldSelf", oldSelf],
    ]),
    library: KUBERNETES,
    matcher,
  };
  const failed = {
    rule,
    program: undefined,
    message: undefined,
    messageError: undefined,
    usesOldSelf: false,
  };
  const compiled = compileCel(rule.rule, environment);
  if (compiled.errors !== undefined) return { ...failed, error: `compilation failed: ${compiled.errors}` };
  if (compiled.type.kind !== "bool") return { ...failed, error: "cel expression must evaluate to a bool" };
  if (compiled.fault !== undefined) {
    return { ...failed, error: `program instantiation failed: ${compiled.fault}` };
  }
  const usesOldSelf = compiled.references.has("oldSelf");
  const sound = { rule, program: compiled, error: undefined, usesOldSelf };
  if (rule.messageExpression === undefined || rule.messageExpression === "") {
    return { ...sound, message: undefined, messageError: undefined };
  }
  const message = compileCel(rule.messageExpression, environment);
  const messageError =
    message.errors !== undefined
      ? `messageExpression compilation failed: ${message.errors}`
      : message.type.kind !== "string"
        ? "messageExpression must evaluate to a string"
        : message.fault === undefined
          ? undefined
          : `messageExpression instantiation failed: ${message.fault}`;
  const usable = message.errors === undefined && messageError === undefined;
  return { ...sound, message: usable ? message : undefined, messageError };
}
