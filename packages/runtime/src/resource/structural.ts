import { isRecord } from "@windlass/kinds/json";
/**
 * A node of a structural schema: the part of OpenAPI that a CustomResourceDefinition may use. Every
 * node has a type, unless it is an integer-or-string or keeps unknown fields; `allOf`, `anyOf`,
 * `oneOf` and `not` hold value validations only.
 */
export interface StructuralSchema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  title?: string;
  description?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
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
  minProperties?: number;
  maxProperties?: number;
  allOf?: StructuralSchema[];
  anyOf?: StructuralSchema[];
  oneOf?: StructuralSchema[];
  not?: StructuralSchema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: string[];
  "x-kubernetes-map-type"?: "atomic" | "granular";
  "x-kubernetes-validations"?: ValidationRule[];
}

/** A CEL rule, as a CustomResourceDefinition carries it. `cel` makes one from code. */
export interface ValidationRule {
  /** True when the value is valid. `self` is the value, `oldSelf` the one before an update. */
  rule: string;
  message?: string;
  /** CEL that computes the message; when it fails, `message` is used. */
  messageExpression?: string;
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  /** The field to blame, relative to the rule's own, e.g. `.min`. */
  fieldPath?: string;
  /** Run a transition rule on create as well, with `oldSelf` an optional. */
  optionalOldSelf?: boolean;
}

/**
 * Own property `name` of a JSON object; names like `__proto__` find nothing but what the data
 * holds.
 */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Sets an own property whatever its name, so that a field called `__proto__` stays data. */
export function setOwn<T>(record: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Fills in the defaults of a schema as the API server does on every read and write: absent fields
 * only, and inside values that were defaulted too. Never validates and never drops a field; the
 * input is left alone.
 */
export function fillDefaults(value: unknown, schema: StructuralSchema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item: unknown) => fillDefaults(item, items));
  }
  if (!isRecord(value)) return value;
  const filled: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const child = own(schema.properties, name) ?? schema.additionalProperties;
    // A null on a field that may not be null counts as absent: the server drops it before
    // defaulting.
    if (field === undefined || (field === null && child?.default !== undefined && child.nullable !== true)) {
      continue;
    }
    setOwn(filled, name, child === undefined ? field : fillDefaults(field, child));
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    if (child.default !== undefined && !Object.hasOwn(filled, name)) {
      setOwn(filled, name, fillDefaults(structuredClone(child.default), child));
    }
  }
  return filled;
}
