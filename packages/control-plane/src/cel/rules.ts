import { isObject, type Json, type JsonObject } from "../json.ts";
import { field } from "../json-fields.ts";
import type { Matcher } from "../patterns/index.ts";
import { duplicateValue, forbiddenValue, invalidValue, required } from "../schema/causes.ts";
import { goJson } from "../schema/go-text.ts";
import { type Correlated, correlatedField, correlatedItems, nodeOf, unchanged } from "../schema/node.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema, ValidationRule } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { nextTurn, type Steps } from "../steps.ts";
import { toValue } from "./convert.ts";
import { CALL_LIMIT, OBJECT_LIMIT } from "./costs.ts";
import { declare } from "./declare.ts";
import { COST_PER_TURN, CostExceeded, Meter } from "./meter.ts";
import { type CompiledRule, compileRule } from "./rule.ts";
import { DYN } from "./types.ts";
import { CelError, NONE, NoSuchOverload, Optional, type Value } from "./values.ts";

const MAX_MESSAGE_BYTES = 5 * 1024;

/** The rules of a schema, ready to be evaluated. */
export interface CompiledRules {
  /**
   * What the rules say of an object. With `old` this is an update: transition rules run, and
   * faults of what did not change are ignored.
   */
  evaluate(matcher: Matcher, object: JsonObject, old?: JsonObject): Steps<Cause[]>;
}

/** Prepares the rules of a resource's schema. They are compiled when first needed. */
export function compileRules(schema: Schema): CompiledRules {
  const root = new RuleNode(schema, true);
  return {
    *evaluate(matcher, object, old) {
      const before = old === undefined ? undefined : { old, node: nodeOf(schema) };
      const run = new Run(matcher);
      yield* run.visit(root, "", object, old ?? null, {
        current: before,
        parent: undefined,
        ratcheting: old !== undefined,
      });
      return run.causes;
    },
  };
}

/**
 * What the rules of a node, and of what is below it, say of its default: as if it were there
 * before, and as if it were new.
 */
export function* evaluateDefault(
  matcher: Matcher,
  schema: Schema,
  value: Json,
  path: string,
): Steps<Cause[]> {
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const node = new RuleNode(schema, isResource);
  for (const old of [value, null]) {
    const run = new Run(matcher);
    yield* run.visit(node, path, value, old, { current: undefined, parent: undefined, ratcheting: false });
    if (run.causes.length > 0) return run.causes;
  }
  return [];
}

/** A schema node with rules on it or below it. */
class RuleNode {
  readonly schema: Schema;
  readonly isResource: boolean;
  readonly properties = new Map<string, RuleNode>();
  readonly items: RuleNode | undefined;
  readonly additional: RuleNode | undefined;
  #rules: CompiledRule[] | undefined;

  constructor(schema: Schema, isResource: boolean) {
    this.schema = schema;
    this.isResource = isResource;
    const child = (inner: Schema): RuleNode | undefined => {
      const node = new RuleNode(inner, inner["x-kubernetes-embedded-resource"] === true);
      return node.isEmpty ? undefined : node;
    };
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const node = child(property);
      if (node !== undefined) this.properties.set(name, node);
    }
    this.items = schema.items === undefined ? undefined : child(schema.items);
    const { additionalProperties } = schema;
    this.additional = typeof additionalProperties === "object" ? child(additionalProperties) : undefined;
  }

  get isEmpty(): boolean {
    const hasRules = (this.schema["x-kubernetes-validations"]?.length ?? 0) > 0;
    return (
      !hasRules && this.properties.size === 0 && this.items === undefined && this.additional === undefined
    );
  }

  /** @throws MatchPending */
  rules(matcher: Matcher): readonly CompiledRule[] {
    if (this.#rules === undefined) {
      const self = declare(this.schema, this.isResource)?.type ?? DYN;
      const rules = this.schema["x-kubernetes-validations"] ?? [];
      this.#rules = rules.map((rule) => compileRule(rule, self, matcher));
    }
    return this.#rules;
  }
}

/** How a value relates to its past, for letting pass what was wrong before. */
interface Ratchet {
  readonly ratcheting: boolean;
  readonly current: Correlated | undefined;
  /** The nearest value above that has a past, and what it is now. */
  readonly parent: { readonly value: Json; readonly before: Correlated } | undefined;
}

/** What rules may cost before others get their turn. */
const TURN_LIMIT = CALL_LIMIT;

class Run {
  readonly causes: Cause[] = [];
  private readonly matcher: Matcher;
  private budget = OBJECT_LIMIT;
  private pausedAt = OBJECT_LIMIT;

  constructor(matcher: Matcher) {
    this.matcher = matcher;
  }

  /** Returns false when the budget is used up and nothing more is to be run. */
  *visit(node: RuleNode, path: string, value: Json, old: Json, ratchet: Ratchet): Steps<boolean> {
    if (value === null) return true;
    if (!(yield* this.evaluateRules(node, path, value, old, ratchet))) return false;
    if (Array.isArray(value)) return yield* this.visitItems(node, path, value, old, ratchet);
    return isObject(value) ? yield* this.visitFields(node, path, value, old, ratchet) : true;
  }

  private *visitFields(
    node: RuleNode,
    path: string,
    value: JsonObject,
    old: Json,
    ratchet: Ratchet,
  ): Steps<boolean> {
    const past = isObject(old) ? old : {};
    const inner = (name: string): Ratchet => {
      if (ratchet.current === undefined) return ratchet;
      if (ratchet.parent === undefined && (name === "apiVersion" || name === "kind")) {
        return { ratcheting: ratchet.ratcheting, current: undefined, parent: undefined };
      }
      const current = correlatedField(ratchet.current, value, name);
      return { ratcheting: ratchet.ratcheting, current, parent: { value, before: ratchet.current } };
    };
    if (node.additional !== undefined) {
      for (const name of Object.keys(value)) {
        const at = keyPath(path, name);
        const was = field(past, name) ?? null;
        if (!(yield* this.visit(node.additional, at, value[name] as Json, was, inner(name)))) return false;
      }
    }
    for (const [name, property] of node.properties) {
      const own = field(value, name);
      if (own === undefined) continue;
      const was = field(past, name) ?? null;
      if (!(yield* this.visit(property, childPath(path, name), own, was, inner(name)))) return false;
    }
    return true;
  }

  private *visitItems(
    node: RuleNode,
    path: string,
    list: Json[],
    old: Json,
    ratchet: Ratchet,
  ): Steps<boolean> {
    if (node.items === undefined) return true;
    const isMap = node.schema["x-kubernetes-list-type"] === "map";
    const pastOf = correlatedItems({ old, node: nodeOf(node.schema) });
    const currentOf = correlatedItems(ratchet.current);
    for (const [index, item] of list.entries()) {
      // Only items of map-lists have a past of their own, for rules that look at it.
      const was = isMap ? (pastOf(item)?.old ?? null) : null;
      const inner: Ratchet =
        ratchet.current === undefined
          ? ratchet
          : {
              ratcheting: ratchet.ratcheting,
              current: currentOf(item),
              parent: { value: list, before: ratchet.current },
            };
      if (!(yield* this.visit(node.items, keyPath(path, index), item, was, inner))) return false;
    }
    return true;
  }

  private *evaluateRules(
    node: RuleNode,
    path: string,
    value: Json,
    old: Json,
    ratchet: Ratchet,
  ): Steps<boolean> {
    const rules = yield* this.matcher.attempt(() => node.rules(this.matcher));
    if (rules.length === 0) return true;
    const shownType = node.schema.type ?? "";
    const fault = (detail: string): void => {
      this.causes.push(invalidValue(path, shownType, detail));
    };
    const outOfBudget =
      "validation failed due to running out of cost budget, no further validation rules will be run";
    if (this.budget <= 0) {
      fault(outOfBudget);
      return false;
    }
    const variables = new Variables(node, value, old);
    for (const compiled of rules) {
      const { rule, program } = compiled;
      if (program === undefined) {
        fault(`rule compile error: ${compiled.error}`);
        continue;
      }
      const optional = rule.optionalOldSelf === true;
      if (compiled.usesOldSelf && old === null && !optional) continue;
      if (this.pausedAt - this.budget >= TURN_LIMIT) {
        this.pausedAt = this.budget;
        yield nextTurn;
      }
      const meter = new Meter(CALL_LIMIT, this.matcher, { costPerTurn: COST_PER_TURN });
      let holds: Value;
      try {
        holds = yield* this.matcher.attempt(() => program.run(variables.bound(optional), meter.begin()));
      } catch (error) {
        if (error instanceof CostExceeded) {
          const limit = "no further validation rules will be run due to call cost exceeds limit for rule";
          fault(`'${error.message}': ${limit}: ${ruleText(rule)}`);
          return false;
        }
        if (!(error instanceof CelError)) throw error;
        this.budget -= meter.spent;
        fault(failureText(error, rule));
        continue;
      }
      this.budget -= meter.spent;
      if (this.budget < 0) {
        fault(outOfBudget);
        return false;
      }
      if (holds === true) continue;
      const verdict = yield* this.verdict(compiled, variables.bound(false));
      const passes = !compiled.usesOldSelf && letsPass(value, ratchet);
      if (!passes) this.causes.push(ruleCause(node.schema, rule, path, value, verdict.detail));
      if (verdict.stop) return false;
    }
    return true;
  }

  /** What to say of a rule that does not hold. */
  private *verdict(
    compiled: CompiledRule,
    variables: ReadonlyMap<string, Value>,
  ): Steps<{ detail: string; stop: boolean }> {
    const { rule, message } = compiled;
    const plain = { detail: messageOf(rule), stop: false };
    if (message === undefined) return plain;
    const meter = new Meter(CALL_LIMIT, this.matcher, { costPerTurn: COST_PER_TURN });
    try {
      const text = yield* this.matcher.attempt(() => message.run(variables, meter.begin()));
      this.budget -= meter.spent;
      if (this.budget < 0) {
        const detail =
          "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
        return { detail, stop: true };
      }
      const detail = typeof text === "string" ? text.trim() : "";
      const usable =
        detail !== "" && !detail.includes("\n") && Buffer.byteLength(detail) <= MAX_MESSAGE_BYTES;
      return usable ? { detail, stop: false } : plain;
    } catch (error) {
      if (error instanceof CostExceeded) {
        const detail = `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${goJson(rule.messageExpression ?? "")}`;
        return { detail, stop: true };
      }
      if (!(error instanceof CelError)) throw error;
      this.budget -= meter.spent;
      return plain;
    }
  }
}

/** Self and oldSelf of one node, converted when a rule first runs. */
class Variables {
  private readonly node: RuleNode;
  private readonly self: Json;
  private readonly old: Json;
  #self: Value | undefined;
  #old: Value | undefined;

  constructor(node: RuleNode, self: Json, old: Json) {
    this.node = node;
    this.self = self;
    this.old = old;
  }

  bound(optional: boolean): ReadonlyMap<string, Value> {
    const { schema, isResource } = this.node;
    this.#self ??= toValue(this.self, schema, isResource);
    const variables = new Map<string, Value>([["self", this.#self]]);
    if (this.old !== null) {
      this.#old ??= toValue(this.old, schema, isResource);
      variables.set("oldSelf", optional ? new Optional(this.#old) : this.#old);
    } else if (optional) {
      variables.set("oldSelf", NONE);
    }
    return variables;
  }
}

function letsPass(value: Json, ratchet: Ratchet): boolean {
  if (!ratchet.ratcheting) return false;
  if (ratchet.current !== undefined) return unchanged(value, ratchet.current);
  return ratchet.parent !== undefined && unchanged(ratchet.parent.value, ratchet.parent.before);
}

function ruleText(rule: ValidationRule): string {
  return rule.message === undefined || rule.message === "" ? rule.rule.trim() : rule.message.trim();
}

function messageOf(rule: ValidationRule): string {
  return rule.message === undefined || rule.message === ""
    ? `failed rule: ${ruleText(rule)}`
    : rule.message.trim();
}

function failureText(error: CelError, rule: ValidationRule): string {
  if (error instanceof NoSuchOverload) {
    const what = "call arguments did not match a supported operator, function or macro signature for rule";
    return `'${error.message}': ${what}: ${ruleText(rule)}`;
  }
  return `${error.message} evaluating rule: ${ruleText(rule)}`;
}

function ruleCause(schema: Schema, rule: ValidationRule, path: string, value: Json, detail: string): Cause {
  const at = rule.fieldPath === undefined || rule.fieldPath === "" ? path : joined(path, rule.fieldPath);
  const whole = schema.type === "object" || schema.type === "array";
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbiddenValue(at, detail);
    case "FieldValueRequired":
      return required(at, detail);
    case "FieldValueDuplicate":
      return whole ? omitted("FieldValueDuplicate", at, "Duplicate value", "") : duplicateValue(at, value);
    default:
      return whole
        ? omitted("FieldValueInvalid", at, "Invalid value", detail)
        : invalidValue(at, value, detail);
  }
}

/** Whole objects and lists are not shown. */
function omitted(reason: string, path: string, body: string, detail: string): Cause {
  return {
    reason,
    message: detail === "" ? body : `${body}: ${detail}`,
    field: path === "" ? "<nil>" : path,
  };
}

/**
 * A rule's own field path, which is written with a leading dot and quoted keys, below the path of
 * its node.
 */
function joined(path: string, fieldPath: string): string {
  const normal = fieldPath.replace(
    /\['((?:[^\\']|\\.)*)'\]/g,
    (_all, key: string) => `.${key.replace(/\\(.)/g, "$1")}`,
  );
  return childPath(path, normal.replace(/^\./, ""));
}
