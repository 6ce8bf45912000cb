import type { JsonObject } from "../json.ts";
import { hasAt, itemsAt, textAt, textsAt } from "../json-fields.ts";
import type { Faults } from "./faults.ts";
import { checkLabels, dnsSubdomain, labelText, qualifiedName } from "./names.ts";

/**
 * A `metav1.LabelSelector`.
 *
 * @param values "any" where values need not be label values, as storage once allowed
 */
export function checkSelector(faults: Faults, at: string, selector: JsonObject): void {
  checkLabels(faults, `${at}.matchLabels`, selector, "matchLabels");
  for (const [index, expression] of itemsAt(selector, "matchExpressions").entries()) {
    checkExpression(faults, `${at}.matchExpressions[${index}]`, expression);
  }
}

function checkExpression(faults: Faults, at: string, expression: JsonObject): void {
  const operator = textAt(expression, "operator");
  const values = textsAt(expression, "values");
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0) {
      faults.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0) {
      faults.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    faults.invalid(`${at}.operator`, operator, "not a valid selector operator");
  }
  const key = textAt(expression, "key");
  faults.each(`${at}.key`, key, qualifiedName(key));
  for (const [index, value] of values.entries())
    faults.each(`${at}.values[${index}]`, value, labelText(value));
}

/** Whether the real server could make a matcher of it. */
export function selectorIsSound(selector: JsonObject): boolean {
  for (const [key, value] of Object.entries((selector.matchLabels as Record<string, string>) ?? {})) {
    if (qualifiedName(key).length > 0 || labelText(value).length > 0) return false;
  }
  return itemsAt(selector, "matchExpressions").every((expression) => {
    const operator = textAt(expression, "operator");
    const values = textsAt(expression, "values");
    if (qualifiedName(textAt(expression, "key")).length > 0) return false;
    if (operator === "In" || operator === "NotIn") return values.length > 0;
    return (operator === "Exists" || operator === "DoesNotExist") && values.length === 0;
  });
}

export function selectorIsEmpty(selector: JsonObject): boolean {
  return (
    Object.keys((selector.matchLabels as JsonObject | undefined) ?? {}).length === 0 &&
    itemsAt(selector, "matchExpressions").length === 0
  );
}

/** A `core/v1` NodeSelector. */
export function checkNodeSelector(faults: Faults, at: string, selector: JsonObject): void {
  const terms = itemsAt(selector, "nodeSelectorTerms");
  if (terms.length === 0) {
    faults.required(`${at}.nodeSelectorTerms`, "must have at least one node selector term");
  }
  for (const [index, term] of terms.entries())
    checkNodeTerm(faults, `${at}.nodeSelectorTerms[${index}]`, term);
}

export function checkNodeTerm(faults: Faults, at: string, term: JsonObject): void {
  for (const [index, expression] of itemsAt(term, "matchExpressions").entries()) {
    checkNodeRequirement(faults, `${at}.matchExpressions[${index}]`, expression);
  }
  for (const [index, expression] of itemsAt(term, "matchFields").entries()) {
    checkNodeField(faults, `${at}.matchFields[${index}]`, expression);
  }
}

function checkNodeRequirement(faults: Faults, at: string, expression: JsonObject): void {
  const operator = textAt(expression, "operator");
  const values = textsAt(expression, "values");
  switch (operator) {
    case "In":
    case "NotIn":
      if (values.length === 0) {
        faults.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
      break;
    case "Exists":
    case "DoesNotExist":
      if (values.length > 0) {
        faults.forbidden(
          `${at}.values`,
          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        );
      }
      break;
    case "Gt":
    case "Lt":
      if (values.length !== 1) {
        faults.required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      faults.invalid(`${at}.operator`, operator, "not a valid selector operator");
  }
  const key = textAt(expression, "key");
  faults.each(`${at}.key`, key, qualifiedName(key));
  for (const [index, value] of values.entries())
    faults.each(`${at}.values[${index}]`, value, labelText(value));
}

function checkNodeField(faults: Faults, at: string, expression: JsonObject): void {
  const operator = textAt(expression, "operator");
  const values = textsAt(expression, "values");
  if (operator === "In" || operator === "NotIn") {
    if (values.length !== 1) {
      faults.required(
        `${at}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      );
    }
  } else {
    faults.invalid(`${at}.operator`, operator, "not a valid selector operator");
  }
  const key = textAt(expression, "key");
  if (key !== "metadata.name") {
    faults.invalid(`${at}.key`, key, "not a valid field selector key");
    return;
  }
  for (const [index, value] of values.entries())
    faults.each(`${at}.values[${index}]`, value, dnsSubdomain(value));
}

/** A selector that must be there, where the field is a pointer. */
export function checkOptionalSelector(faults: Faults, at: string, holder: JsonObject, name: string): void {
  if (hasAt(holder, name)) checkSelector(faults, `${at}.${name}`, holder[name] as JsonObject);
}
