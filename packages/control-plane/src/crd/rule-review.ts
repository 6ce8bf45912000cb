import type { Json, JsonObject } from "../json.ts";
import type { Matcher } from "../patterns/index.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import type { Steps } from "../steps.ts";
import { versionsOf } from "./definition.ts";
import { hasRules, type SchemaContext } from "./openapi-rules.ts";

type Cel = typeof import("../cel/rules.ts") & typeof import("../cel/rule-compiler.ts");

let cel: Cel | undefined;

/**
 * Loads what a CRD's CEL rules need, and nothing when it has none. Await it before the first
 * `validateCrd` or `servedKinds` of a CRD that may have rules; those two are synchronous.
 */
export async function prepareCrd(crd: JsonObject): Promise<void> {
  if (cel === undefined && versionsOf(crd).some((version) => hasRules(version.schema))) {
    const [rules, compiler] = await Promise.all([
      import("../cel/rules.ts"),
      import("../cel/rule-compiler.ts"),
    ]);
    cel = { ...rules, ...compiler };
  }
}

/** CEL, which `prepareCrd` has loaded. */
export function loadedCel(): Cel {
  if (cel === undefined) throw new Error("this CRD has CEL rules: await prepareCrd(crd) first");
  return cel;
}

/** The faults of rules evaluated on a default. */
export function* defaultRulesOf(matcher: Matcher, schema: Schema, value: Json, path: string): Steps<Cause[]> {
  return hasRules(schema) ? yield* loadedCel().evaluateDefault(matcher, schema, value, path) : [];
}

/** Collects what is wrong with the rules of one schema, and what they may cost together. */
export class RuleReview {
  private readonly review: InstanceType<Cel["RuleCompiler"]> | undefined;

  constructor(schema: Schema, path: string, options: { unchanged: boolean; matcher: Matcher }) {
    if (hasRules(schema)) this.review = new (loadedCel().RuleCompiler)(schema, path, options);
  }

  /** @throws MatchPending */
  visit(schema: Schema, path: string, context: SchemaContext): void {
    this.review?.visit(schema, path, context);
  }

  faults(): Cause[] {
    return this.review?.faults() ?? [];
  }
}
