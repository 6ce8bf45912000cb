import { isObject, type Json, type JsonObject } from "../json.ts";
import { canonicalQuantity, QuantityError } from "../kinds/index.ts";

/** What lies at the end of a path of field names, or undefined as soon as one is missing. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let held = value;
  for (const name of path) {
    if (!isObject(held) || !Object.hasOwn(held, name)) return undefined;
    held = held[name];
  }
  return held;
}

/** The text at a path, or an empty one. */
export function text(value: Json | undefined, ...path: readonly string[]): string {
  const held = at(value, ...path);
  return typeof held === "string" ? held : "";
}

/** The number at a path, or zero. */
export function number(value: Json | undefined, ...path: readonly string[]): number {
  const held = at(value, ...path);
  if (typeof held === "bigint") return Number(held);
  return typeof held === "number" ? held : 0;
}

/** The items of the list at a path, or none. */
export function list(value: Json | undefined, ...path: readonly string[]): Json[] {
  const held = at(value, ...path);
  return Array.isArray(held) ? held : [];
}

/** The texts in the list at a path. */
export function texts(value: Json | undefined, ...path: readonly string[]): string[] {
  return list(value, ...path).filter((item) => typeof item === "string");
}

/** The object at a path, or an empty one. */
export function object(value: Json | undefined, ...path: readonly string[]): JsonObject {
  const held = at(value, ...path);
  return isObject(held) ? held : {};
}

/** The scalar at a path as text, or `otherwise` where it is absent. */
export function shown(otherwise: string, value: Json | undefined, ...path: readonly string[]): string {
  const held = at(value, ...path);
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
  const condition = conditions.find((each) => text(each, "type") === type);
  return condition === undefined ? undefined : text(condition, "status");
}

/** `orNone("")` is `<none>`. */
export function orNone(value: string): string {
  return value === "" ? "<none>" : value;
}

/** Names and images of a pod's containers, each joined with commas. */
export function containerCells(podSpec: Json | undefined): [names: string, images: string] {
  const containers = list(podSpec, "containers");
  const join = (field: string) => containers.map((container) => text(container, field)).join(",");
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
