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
  return matcherOf(requirementsIn(text));
}

/** Selectors with more values and requirements than this are looked up in, not gone through. */
const manyTerms = 16;

function matcherOf(requirements: readonly Requirement[]): LabelMatcher {
  const terms = requirements.reduce((sum, { values }) => sum + 1 + values.length, 0);
  return terms > manyTerms ? matcherOfMany(requirements) : (labels) => matchesSelector(requirements, labels);
}

/**
 * A matcher whose work grows with the labels of an object, and not with the selector: one of 20,000
 * terms is asked about as many objects.
 */
function matcherOfMany(requirements: readonly Requirement[]): LabelMatcher {
  const byKey = new Map<string, KeyRequirements>();
  for (const requirement of requirements) {
    const held = byKey.get(requirement.key) ?? new KeyRequirements();
    held.add(requirement);
    byKey.set(requirement.key, held);
  }
  const needed = byKey.values().reduce((sum, held) => sum + (held.isNeeded ? 1 : 0), 0);
  return (labels = {}) => {
    let met = 0;
    for (const [key, value] of Object.entries(labels)) {
      const held = byKey.get(key);
      if (held === undefined) continue;
      if (!held.meets(value)) return false;
      if (held.isNeeded) met++;
    }
    return met === needed;
  };
}

/** All that is required of one label. */
class KeyRequirements {
  /** Whether there must be such a label. */
  isNeeded = false;
  #isForbidden = false;
  #in: ReadonlySet<string> | undefined;
  readonly #notIn = new Set<string>();
  /** The highest of the lower bounds, and the lowest of the upper ones. */
  readonly #bounds = new Map<"Gt" | "Lt", Requirement>();

  add(requirement: Requirement): void {
    const { operator, values } = requirement;
    if (operator === "NotIn") for (const value of values) this.#notIn.add(value);
    else if (operator === "DoesNotExist") this.#isForbidden = true;
    else {
      this.isNeeded = true;
      if (operator === "In") this.#in = new Set(values.filter((value) => this.#in?.has(value) ?? true));
      else if (operator !== "Exists" && this.#isTighter(requirement, operator)) {
        this.#bounds.set(operator, requirement);
      }
    }
  }

  meets(value: Json): boolean {
    if (this.#isForbidden) return false;
    const text = typeof value === "string" ? value : undefined;
    if (this.#in !== undefined && (text === undefined || !this.#in.has(text))) return false;
    if (text !== undefined && this.#notIn.has(text)) return false;
    for (const bound of this.#bounds.values()) {
      if (!matchesSelector([bound], { [bound.key]: value })) return false;
    }
    return true;
  }

  #isTighter({ values: [given = "0"] }: Requirement, operator: "Gt" | "Lt"): boolean {
    const [held] = this.#bounds.get(operator)?.values ?? [];
    if (held === undefined) return true;
    return operator === "Gt" ? BigInt(given) > BigInt(held) : BigInt(given) < BigInt(held);
  }
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
  return matcherOf(requirements);
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
