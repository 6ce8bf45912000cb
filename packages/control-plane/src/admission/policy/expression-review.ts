import type { Compilation } from "../../cel/expression.ts";
import type { Type } from "../../cel/types.ts";
import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import type { Matcher, Patterns } from "../../patterns/index.ts";
import type { Admission, AdmissionRequest } from "../../registry/admission.ts";
import { goQuote } from "../../schema/go-text.ts";
import { type Cause, invalid } from "../../status.ts";
import { finish } from "../../steps.ts";
import type { Declarations, Result } from "./expressions.ts";

/** An expression of a configuration: where it stands, and what it may use. */
interface FieldLocation {
  readonly field: string;
  readonly text: string;
  readonly result: Result;
  readonly hasAuthorizer: boolean;
}

/** What of a configuration is to be compiled. Variables come first, since the rest may use them. */
interface Expressions {
  readonly hasParams: boolean;
  /** Absent where a configuration has none at all: webhooks know no variables. */
  readonly variables: readonly { readonly name: string; readonly place: FieldLocation }[] | undefined;
  readonly before: readonly FieldLocation[];
  readonly after: readonly FieldLocation[];
}

/**
 * Refuses webhooks and policies whose expressions do not compile, when they are written rather than
 * when they are used.
 */
export function expressionReview(patterns: Patterns): Admission {
  return {
    name: "ExpressionReview",
    validate: (request) => {
      if (request.resource.info.group !== "admissionregistration.k8s.io" || request.subresource !== undefined)
        return;
      const expressions = request.object && expressionsOf(request.object);
      if (!expressions || isEmpty(expressions)) return;
      return review(request, expressions, patterns.matcher());
    },
  };
}

function isEmpty({ variables = [], before, after }: Expressions): boolean {
  return variables.length + before.length + after.length === 0;
}

async function review(request: AdmissionRequest, expressions: Expressions, matcher: Matcher): Promise<void> {
  const { compileForAdmission } = await import("./expressions.ts");
  const compileWith = (place: FieldLocation, declarations: Declarations) =>
    compileForAdmission(place.text, place.result, declarations, matcher);
  const causes = await finish(matcher.attempt(() => faultsOf(request, expressions, compileWith)));
  if (causes.length > 0) throw invalid(request.resource.info, request.name, causes);
}

function faultsOf(
  request: AdmissionRequest,
  expressions: Expressions,
  compileWith: (place: FieldLocation, declarations: Declarations) => Compilation,
): Cause[] {
  const { hasParams } = expressions;
  const stored = request.oldObject && expressionsOf(request.oldObject);
  const accepted = new Set(
    [...(stored?.before ?? []), ...(stored?.after ?? [])].map(({ text, result }) => `${result} ${text}`),
  );
  const causes: Cause[] = [];
  const composed = new Map<string, Type>();
  const compile = (place: FieldLocation) => {
    const { hasAuthorizer } = place;
    const compiled = compileWith(place, {
      hasParams,
      hasAuthorizer,
      ...(expressions.variables ? { composed: new Map(composed) } : {}),
    });
    // Expressions that were accepted before stay accepted: the server may have become stricter
    // since.
    const tolerated = accepted.has(`${place.result} ${place.text}`);
    if (compiled.errors !== undefined && !tolerated) causes.push(fault(place, compiled.errors));
    return compiled;
  };
  for (const place of expressions.before) compile(place);
  for (const { name, place } of expressions.variables ?? []) composed.set(name, variableType(compile(place)));
  for (const place of expressions.after) compile(place);
  return causes;
}

function variableType(compiled: Compilation): Type {
  return compiled.errors === undefined ? compiled.type : { kind: "dyn" };
}

function fault({ field: at, text }: FieldLocation, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${goQuote(text)}: ${why}`, field: at };
}

function expressionsOf(object: JsonObject): Expressions | undefined {
  switch (object.kind) {
    case "ValidatingWebhookConfiguration":
    case "MutatingWebhookConfiguration":
      return {
        hasParams: false,
        variables: undefined,
        before: objects(object.webhooks).flatMap((webhook, index) =>
          conditions(webhook.matchConditions, `webhooks[${index}]`),
        ),
        after: [],
      };
    case "ValidatingAdmissionPolicy":
      return policyExpressions(isObject(object.spec) ? object.spec : {});
    default:
      return undefined;
  }
}

function policyExpressions(spec: JsonObject): Expressions {
  return {
    hasParams: isObject(spec.paramKind),
    before: conditions(spec.matchConditions, "spec"),
    variables: objects(spec.variables).map(({ name, expression }, index) => ({
      name: textOf(name),
      place: place(`spec.variables[${index}].expression`, expression, "anything"),
    })),
    after: [
      ...objects(spec.validations).flatMap(({ expression, messageExpression }, index) => [
        place(`spec.validations[${index}].expression`, expression, "bool"),
        ...(textOf(messageExpression) === ""
          ? []
          : [
              {
                ...place(`spec.validations[${index}].messageExpression`, messageExpression, "string"),
                hasAuthorizer: false,
              },
            ]),
      ]),
      ...objects(spec.auditAnnotations).map(({ valueExpression }, index) =>
        place(`spec.auditAnnotations[${index}].valueExpression`, valueExpression, "string or null"),
      ),
    ],
  };
}

function conditions(list: Json | undefined, at: string): FieldLocation[] {
  return objects(list).map((condition, index) =>
    place(`${at}.matchConditions[${index}].expression`, valueAt(condition, "expression"), "bool"),
  );
}

function place(at: string, text: Json | undefined, result: Result): FieldLocation {
  return { field: at, text: textOf(text), result, hasAuthorizer: true };
}

function objects(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
