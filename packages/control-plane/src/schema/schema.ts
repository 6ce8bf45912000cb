import type { Json } from "../json.ts";

/**
 * A node of a structural schema: the part of OpenAPI that the API server works with, for built-in
 * kinds and CRDs alike.
 *
 * Nodes are linked in memory, never by `$ref`: loading a schema resolves references, so a
 * recursive type is a cycle of nodes. Walk the data and the schema together, never the schema
 * alone.
 */
export interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  title?: string;
  description?: string;
  nullable?: boolean;
  default?: Json;
  enum?: Json[];
  properties?: { [name: string]: Schema };
  /** Values of a map. `true` allows anything. */
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
  "x-kubernetes-validations"?: ValidationRule[];
}

/** A CEL rule on a node of a CRD's schema. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}
