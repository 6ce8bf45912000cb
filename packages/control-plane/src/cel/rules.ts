import type { Json, JsonObject } from "../json.ts";
import type { Schema } from "../schema/schema.ts";
import type { Cause } from "../status.ts";

/** The rules of a schema, ready to be evaluated. */
export interface CompiledRules {
  evaluate(object: JsonObject, old?: JsonObject): Cause[];
}
export function compileRules(_schema: Schema): CompiledRules {
  return { evaluate: () => [] };
}
export function evaluateDefault(_schema: Schema, _value: Json, _path: string): Cause[] {
  return [];
}
export class RuleCompiler {
  constructor(_schema: Schema, _path: string, _options: { unchanged: boolean }) {}
  visit(_schema: Schema, _path: string, _context: unknown): void {}
  faults(): Cause[] {
    return [];
  }
}
