import { isRecord } from "@windlass/kinds/json";
import { own, type StructuralSchema } from "./structural.ts";

/**
 * The paths of the fields that a schema does not have, as an API server sees it: those that it
 * would refuse in an apply, and drop otherwise: `status.endpoints[].uri`.
 */
export function unknownFields(value: unknown, schema: StructuralSchema, path: string): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return [...new Set(value.flatMap((item: unknown) => unknownFields(item, items, `${path}[]`)))];
  }
  if (!isRecord(value)) return [];
  const isOpen =
    schema["x-kubernetes-preserve-unknown-fields"] === true ||
    schema["x-kubernetes-embedded-resource"] === true;
  return Object.entries(value).flatMap(([name, field]) => {
    if (field === undefined) return [];
    const below = own(schema.properties, name) ?? schema.additionalProperties;
    if (below !== undefined) return unknownFields(field, below, `${path}.${name}`);
    return isOpen ? [] : [`${path}.${name}`];
  });
}
