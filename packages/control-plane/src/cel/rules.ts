import { isObject, type Json, type JsonObject } from "../json.ts";
import { duplicateValue, forbiddenValue, invalidShown, invalidValue, required } from "../schema/causes.ts";
import { goJson } from "../schema/go-text.ts";
import { internalRule } from "../schema/internal-text.ts";
import { type Correlated, correlatedField, correlatedItem, nodeOf, unchanged } from "../schema/node.ts";
import { childPath, field, keyPath } from "../schema/paths.ts";
import type { Schema, ValidationRule } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { toValue } from "./convert.ts";
import { CALL_LIMIT, ESTIMATE_LIMIT, OBJECT_LIMIT, SCHEMA_ESTIMATE_LIMIT } from "./costs.ts";
import { type Declared, declare, mostInRequest } from "./declare.ts";
import { CostExceeded, Meter } from "./evaluate.ts";
import { type Compilation, compileCel } from "./expression.ts";
import { KUBERNETES } from "./library/index.ts";
import { DYN, optionalOf, type Type } from "./types.ts";
import { CelError, NONE, Optional, type Value } from "./values.ts";

const MAX_MESSAGE_BYTES = 5 * 1024;

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

/** Compiles a rule over the type of the node it stands on. */
export function compileRule(rule: ValidationRule, self: Type): CompiledRule {
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self) : self;
  const environment = {
    variables: new Map([
      ["self", self],
      ["oldSelf", oldSelf],
    ]),
    library: KUBERNETES,
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

// --- Evaluation

/** The rules of a schema, ready to be evaluated. */
export interface CompiledRules {
  /** What the rules say of an object. With `old` this is an update: transition rules run, and what did not change is let pass. */
  evaluate(object: JsonObject, old?: JsonObject): Cause[];
}

/** Prepares the rules of a resource's schema. They are compiled when first needed. */
export function compileRules(schema: Schema): CompiledRules {
  const root = new RuleNode(schema, true);
  return {
    evaluate: (object, old) => {
      const before = old === undefined ? undefined : { old, node: nodeOf(schema) };
      const run = new Run();
      run.visit(root, "", object, old ?? null, {
        current: before,
        parent: undefined,
        ratcheting: old !== undefined,
      });
      return run.causes;
    },
  };
}

/** What the rules of a node, and of what is below it, say of its default: as if it were there before, and as if it were new. */
export function evaluateDefault(schema: Schema, value: Json, path: string): Cause[] {
  const isResource = schema["x-kubernetes-embedded-resource"] === true;
  const node = new RuleNode(schema, isResource);
  for (const old of [value, null]) {
    const run = new Run();
    run.visit(node, path, value, old, { current: undefined, parent: undefined, ratcheting: false });
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

  get rules(): readonly CompiledRule[] {
    if (this.#rules === undefined) {
      const self = declare(this.schema, this.isResource)?.type ?? DYN;
      this.#rules = (this.schema["x-kubernetes-validations"] ?? []).map((rule) => compileRule(rule, self));
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

class Run {
  readonly causes: Cause[] = [];
  private budget = OBJECT_LIMIT;

  /** Returns false when the budget is used up and nothing more is to be run. */
  visit(node: RuleNode, path: string, value: Json, old: Json, ratchet: Ratchet): boolean {
    if (value === null) return true;
    if (!this.evaluateRules(node, path, value, old, ratchet)) return false;
    if (Array.isArray(value)) return this.visitItems(node, path, value, old, ratchet);
    return isObject(value) ? this.visitFields(node, path, value, old, ratchet) : true;
  }

  private visitFields(node: RuleNode, path: string, value: JsonObject, old: Json, ratchet: Ratchet): boolean {
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
        if (!this.visit(node.additional, at, value[name] as Json, was, inner(name))) return false;
      }
    }
    for (const [name, property] of node.properties) {
      const own = field(value, name);
      if (own === undefined) continue;
      const was = field(past, name) ?? null;
      if (!this.visit(property, childPath(path, name), own, was, inner(name))) return false;
    }
    return true;
  }

  private visitItems(node: RuleNode, path: string, list: Json[], old: Json, ratchet: Ratchet): boolean {
    if (node.items === undefined) return true;
    const isMap = node.schema["x-kubernetes-list-type"] === "map";
    const past: Correlated = { old, node: nodeOf(node.schema) };
    for (const [index, item] of list.entries()) {
      // Only items of map-lists have a past of their own, for rules that look at it.
      const was = isMap ? (correlatedItem(past, list, index)?.old ?? null) : null;
      const inner: Ratchet =
        ratchet.current === undefined
          ? ratchet
          : {
              ratcheting: ratchet.ratcheting,
              current: correlatedItem(ratchet.current, list, index),
              parent: { value: list, before: ratchet.current },
            };
      if (!this.visit(node.items, keyPath(path, index), item, was, inner)) return false;
    }
    return true;
  }

  private evaluateRules(node: RuleNode, path: string, value: Json, old: Json, ratchet: Ratchet): boolean {
    if (node.rules.length === 0) return true;
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
    for (const compiled of node.rules) {
      const { rule, program } = compiled;
      if (program === undefined) {
        fault(`rule compile error: ${compiled.error}`);
        continue;
      }
      const optional = rule.optionalOldSelf === true;
      if (compiled.usesOldSelf && old === null && !optional) continue;
      const meter = new Meter(CALL_LIMIT);
      let holds: Value;
      try {
        holds = program.run(variables.bound(optional), meter);
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
      const verdict = this.verdict(compiled, variables.bound(false));
      const passes = !compiled.usesOldSelf && letsPass(value, ratchet);
      if (!passes) this.causes.push(ruleCause(node.schema, rule, path, value, verdict.detail));
      if (verdict.stop) return false;
    }
    return true;
  }

  /** What to say of a rule that does not hold. */
  private verdict(
    compiled: CompiledRule,
    variables: ReadonlyMap<string, Value>,
  ): { detail: string; stop: boolean } {
    const { rule, message } = compiled;
    const plain = { detail: messageOf(rule), stop: false };
    if (message === undefined) return plain;
    const meter = new Meter(CALL_LIMIT);
    try {
      const text = message.run(variables, meter);
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
  if (error.message.startsWith("no such overload")) {
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

/** A rule's own field path, which is written with a leading dot and quoted keys, below the path of its node. */
function joined(path: string, fieldPath: string): string {
  const normal = fieldPath.replace(
    /\['((?:[^\\']|\\.)*)'\]/g,
    (_all, key: string) => `.${key.replace(/\\(.)/g, "$1")}`,
  );
  return childPath(path, normal.replace(/^\./, ""));
}

// --- Review of the rules of a CRD

/** Where a node with rules stands in the schema of a CRD. */
export interface RulePlace {
  /** The nearest place above whose parts cannot be told apart between two revisions. */
  readonly uncorrelatable?: string;
  /** How many values the schema allows at this place; undefined where it sets no bound. */
  readonly cardinality?: number;
}

/** Compiles the rules of a CRD's schema, and adds up what they may cost. */
export class RuleCompiler {
  private readonly root: Schema;
  private readonly path: string;
  private readonly suppressCost: boolean;
  private readonly causes: Cause[] = [];
  private readonly expensive: { path: string; cost: number }[] = [];
  private total = 0;

  /** `unchanged` says that the schema was accepted before: rules are then not refused for their own cost. */
  constructor(root: Schema, path: string, { unchanged: accepted }: { unchanged: boolean }) {
    this.root = root;
    this.path = path;
    this.suppressCost = accepted;
  }

  visit(schema: Schema, path: string, place: RulePlace): void {
    const isResource = schema === this.root || schema["x-kubernetes-embedded-resource"] === true;
    const self = declare(schema, isResource);
    if (self === undefined) {
      const why =
        "failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
      const field = childPath(path, "x-kubernetes-validations");
      this.causes.push({ reason: "InternalError", message: `Internal error: internal error: ${why}`, field });
      return;
    }
    for (const [index, rule] of (schema["x-kubernetes-validations"] ?? []).entries()) {
      const at = keyPath(childPath(path, "x-kubernetes-validations"), index);
      this.review(compileRule(rule, self.type), at, self, place);
    }
  }

  private review(compiled: CompiledRule, at: string, self: Declared, place: RulePlace): void {
    const { rule } = compiled;
    const rulePath = childPath(at, "rule");
    const messagePath = childPath(at, "messageExpression");
    if (compiled.program !== undefined) {
      const cost = compiled.program.maxCost * (place.cardinality ?? mostInRequest(self.least));
      this.observe(rulePath, cost, "estimated rule cost");
    }
    if (compiled.error !== undefined) this.causes.push(shownRule(rulePath, rule, compiled.error));
    if (compiled.messageError !== undefined) {
      this.causes.push(shownRule(messagePath, rule, compiled.messageError));
    } else if (compiled.message !== undefined) {
      this.observe(messagePath, compiled.message.maxCost, "estimated messageExpression cost");
    }
    if (compiled.usesOldSelf) {
      if (place.uncorrelatable !== undefined) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`;
        this.causes.push(invalidValue(rulePath, rule.rule, detail));
      }
    } else if (rule.optionalOldSelf !== undefined) {
      const detail = "may not be set if oldSelf is not used in rule";
      this.causes.push(invalidValue(childPath(at, "optionalOldSelf"), rule.optionalOldSelf, detail));
    }
  }

  private observe(path: string, cost: number, what: string): void {
    if (!this.suppressCost && cost > ESTIMATE_LIMIT) {
      this.causes.push(forbiddenValue(path, costText(what, cost, ESTIMATE_LIMIT)));
    }
    this.total += cost;
    if (cost >= SCHEMA_ESTIMATE_LIMIT / 100) this.expensive.push({ path, cost });
  }

  faults(): Cause[] {
    const causes = [...this.causes];
    if (this.total > SCHEMA_ESTIMATE_LIMIT) {
      const most = [...this.expensive].sort((a, b) => b.cost - a.cost).slice(0, 4);
      for (const { path } of most) {
        const detail =
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        causes.push(forbiddenValue(path, detail));
      }
      const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
      causes.push(forbiddenValue(this.path, costText(what, this.total, SCHEMA_ESTIMATE_LIMIT)));
    }
    return causes;
  }
}

function costText(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown =
    factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** The real server shows the rule in its internal form. */
function shownRule(path: string, rule: ValidationRule, detail: string): Cause {
  return invalidShown(path, internalRule(rule), detail);
}
