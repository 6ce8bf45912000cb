export { type Condition, conditionSchema } from "./condition.ts";
export type { Conversion, Converted } from "./conversion.ts";
export type { ConversionWebhook, CrdManifest, CrdOptions } from "./crd.ts";
export {
  type DeepReadonly,
  defineResource,
  type ReadObject,
  type Resource,
  type WriteObject,
} from "./define-resource.ts";
export type { PrinterColumn, ResourceDefinition, ScaleSubresource } from "./definition.ts";
export { duration, embeddedResource, filled, intOrString, quantity } from "./field-schemas.ts";
export { atomic, type CelOptions, cel, immutable, listMap, listSet, type Marker } from "./markers.ts";
export { type Problem, ResourceDefinitionError } from "./refusal.ts";
export { lostInRoundTrip } from "./round-trip.ts";
export type { StructuralSchema, ValidationRule } from "./structural.ts";
export { type CrdSource, type GenerateTypesOptions, generateTypes } from "./typegen/generate-types.ts";
export type { OpenApiDocument, OpenApiSchema } from "./typegen/openapi-schema.ts";
