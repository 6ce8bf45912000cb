import { canonicalQuantity, QuantityError } from "@windlass/kinds/quantity";
import type { Json } from "../json.ts";
import { valueAt } from "../json-fields.ts";

/** The scalar at a path as text, or `otherwise` where it is absent. */
export function shown(otherwise: string, value: Json | undefined, ...path: readonly string[]): string {
  const held = valueAt(value, ...path);
  if (
    typeof held === "string" ||
    typeof held === "number" ||
    typeof held === "bigint" ||
    typeof held === "boolean"
  )
    return String(held);
  return otherwise;
}

/**
 * A quantity in its canonical form, `otherwise` where it is absent; text that is not a quantity is
 * shown as it is.
 */
export function quantity(otherwise: string, value: Json | undefined, ...path: readonly string[]): string {
  const held = shown(otherwise, value, ...path);
  if (held === otherwise) return held;
  try {
    return canonicalQuantity(held);
  } catch (error) {
    if (error instanceof QuantityError) return held;
    throw error;
  }
}
