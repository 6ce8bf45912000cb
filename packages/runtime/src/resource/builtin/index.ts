/**
 * Kubernetes' own types as zod schemas, for the fields of kinds that embed them.
 *
 * @example
 * import { labelSelector, podTemplateSpec } from "@windlass/runtime/schemas";
 *
 * defineResource({ …, spec: z.object({ template: podTemplateSpec(), selector: labelSelector().optional() }) });
 *
 * @module
 */

export type { BuiltinTypes } from "@windlass/kinds/schemas";
export { conditionSchema } from "../condition.ts";
export { duration, embeddedResource, intOrString, quantity } from "../field-schemas.ts";
export {
  type BuiltinSchema,
  type BuiltinShape,
  builtin,
} from "./builtin-schema.ts";
export * from "./named.ts";
