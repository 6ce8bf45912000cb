import type { Matcher } from "../patterns/index.ts";
import { forbiddenValue, invalidShown, invalidValue } from "../schema/causes.ts";
import { internalRule } from "../schema/internal-text.ts";
import { childPath, keyPath } from "../schema/paths.ts";
import type { Schema, ValidationRule } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { ESTIMATE_LIMIT, SCHEMA_ESTIMATE_LIMIT } from "./costs.ts";
import { type Declared, declare, mostInRequest } from "./declare.ts";
import { type CompiledRule, compileRule } from "./rule.ts";

/** Where a node with rules stands in the schema of a CRD. */
export interface RulePlace {
  /** The nearest place above whose parts cannot be distinguished between two revisions. */
  readonly uncorrelatable?: string;
  /** How many values the schema allows at this place; undefined where it sets no bound. */
  readonly cardinality?: number;
}

/** Compiles the rules of a CRD's schema, and adds up what they may cost. */
export class RuleCompiler {
  private readonly root: Schema;
  private readonly path: string;
  private readonly matcher: Matcher;
  private readonly suppressCost: boolean;
  private readonly causes: Cause[] = [];
  private readonly expensive: { path: string; cost: number }[] = [];
  private total = 0;

  /**
   * `unchanged` says that the schema was accepted before: rules are then not refused for their own
   * cost.
   */
  constructor(
    root: Schema,
    path: string,
    { unchanged: accepted, matcher }: { unchanged: boolean; matcher: Matcher },
  ) {
    this.matcher = matcher;
    this.root = root;
    this.path = path;
    this.suppressCost = accepted;
  }

  /** @throws MatchPending */
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
      this.review(compileRule(rule, self.type, this.matcher), at, self, place);
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
