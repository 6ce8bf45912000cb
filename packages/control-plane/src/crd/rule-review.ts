import type { Json, JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";
import { versionsOf } from "./definition.ts";
import { hasRules, type SchemaContext } from "./openapi-rules.ts";

type Cel = typeof import("../cel/rules.ts");

let cel: Cel | undefined;

/**
 * Loads what a CRD's CEL rules need, and nothing when it has none. Await it before the first `validateCrd` or `servedKinds`
 * of a CRD that may have rules; those two are synchronous.
 */
export async function prepareCrd(crd: JsonObject): Promise<void> {
  if (cel === undefined && versionsOf(crd).some((version) => hasRules(version.schema))) {
    cel = await import("../cel/rules.ts");
  }
}

/** CEL, which `prepareCrd` has loaded. */
export function loadedCel(): Cel {
  if (cel === undefined) throw new Error("this CRD has CEL rules: await prepareCrd(crd) first");
  return cel;
}

/** The faults of rules evaluated on a default. */
export function defaultRulesOf(schema: Schema, value: Json, path: string): Cause[] {
  return hasRules(schema) ? loadedCel().evaluateDefault(schema, value, path) : [];
}

/** Collects what is wrong with the rules of one schema, and what they may cost together. */
export class RuleReview {
  private readonly review: InstanceType<Cel["RuleCompiler"]> | undefined;

  constructor(schema: Schema, path: string, { unchanged }: { unchanged: boolean }) {
    if (hasRules(schema)) this.review = new (loadedCel().RuleCompiler)(schema, path, { unchanged });
  }

  visit(schema: Schema, path: string, context: SchemaContext): void {
    this.review?.visit(schema, path, context);
  }

  faults(): Cause[] {
    return this.review?.faults() ?? [];
  }
}
