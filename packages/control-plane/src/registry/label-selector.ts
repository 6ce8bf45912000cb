import type { LabelSelector } from "@windlass/kinds/builtin";
import { matchesSelector, parseSelector, type Requirement, SelectorError } from "@windlass/kinds/selector";
import type { Json } from "../json.ts";
import { badRequest } from "../status.ts";

/** Whether an object's labels match. */
export type LabelMatcher = (labels: { readonly [key: string]: Json } | undefined) => boolean;

/**
 * Parses a `labelSelector` query parameter. Empty matches everything.
 *
 * @throws StatusError 400, in the words of the real server.
 */
export function parseLabelSelector(text: string): LabelMatcher {
  const requirements = requirementsIn(text);
  return (labels) => matchesSelector(requirements, labels);
}

function requirementsIn(text: string): readonly Requirement[] {
  try {
    return parseSelector(text);
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.reason) : error;
  }
}

/**
 * A `metav1.LabelSelector`, as workloads, policies and webhooks carry it. Absent matches nothing,
 * empty everything.
 */
export function selectorMatcher(selector: Json | LabelSelector | undefined): LabelMatcher {
  if (!isSelector(selector)) return () => false;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: "In", values: [value] });
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (operator !== "In" && operator !== "NotIn" && operator !== "Exists" && operator !== "DoesNotExist")
      return () => false;
    requirements.push({ key, operator, values });
  }
  return (labels) => matchesSelector(requirements, labels);
}

/** Selectors are validated when they are written, so that an object is one. */
function isSelector(selector: Json | LabelSelector | undefined): selector is LabelSelector {
  return typeof selector === "object" && selector !== null && !Array.isArray(selector);
}

/** The selector in the string form that `scale` carries: `app=web,tier in (a,b)`. */
export function selectorString(selector: Json | LabelSelector | undefined): string {
  if (!isSelector(selector)) return "";
  const parts = Object.entries(selector.matchLabels ?? {}).map(([key, value]): [string, string] => [
    key,
    `${key}=${value}`,
  ]);
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const list = `(${[...values].sort().join(",")})`;
    const text = {
      In: `${key} in ${list}`,
      NotIn: `${key} notin ${list}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    parts.push([key, text[operator as keyof typeof text] ?? key]);
  }
  return parts
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(",");
}
