import { canonicalQuantity, QuantityError } from "@windlass/kinds/quantity";
import type { Json } from "../json.ts";
import { listAt, textAt, valueAt } from "../json-fields.ts";

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

/** The status of the first condition of a type, or undefined where there is none. */
export function conditionStatus(conditions: readonly Json[], type: string): string | undefined {
  const condition = conditions.find((each) => textAt(each, "type") === type);
  return condition === undefined ? undefined : textAt(condition, "status");
}

/** `orNone("")` is `<none>`. */
export function orNone(value: string): string {
  return value === "" ? "<none>" : value;
}

/** Names and images of a pod's containers, each joined with commas. */
export function containerCells(podSpec: Json | undefined): [names: string, images: string] {
  const containers = listAt(podSpec, "containers");
  const join = (field: string) => containers.map((container) => textAt(container, field)).join(",");
  return [join("name"), join("image")];
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
