import type { StructuralSchema } from "./structural.ts";

/** The largest request, and so the bound on everything that has none of its own. */
const requestBytes = 3 * 1024 * 1024;

/**
 * Whether CEL has a type for a node: not for a value that may be anything, nor for lists and maps
 * of such values.
 */
export function isVisible(node: StructuralSchema): boolean {
  if (node.type === undefined)
    return node["x-kubernetes-int-or-string"] === true || node["x-kubernetes-embedded-resource"] === true;
  if (node.items !== undefined) return isVisible(node.items);
  return node.additionalProperties === undefined || isVisible(node.additionalProperties);
}

/**
 * How often a rule on a node may run, as the API server estimates it: as often as the smallest such
 * values fit into a request.
 */
export function mostRepeats(node: StructuralSchema): number {
  return Math.floor(requestBytes / (leastBytes(node) + 1));
}

/** The least JSON that a value takes. Fields with a default need not be written. */
function leastBytes(node: StructuralSchema): number {
  switch (node.type) {
    case "boolean":
      return 4;
    case "string":
      return { date: 12, "date-time": 22 }[node.format ?? ""] ?? 2;
    case "array":
      return 2;
    case "object": {
      let bytes = 2;
      for (const name of node.required ?? []) {
        const field = node.properties?.[name];
        if (field !== undefined && field.default === undefined && isVisible(field))
          bytes += name.length + 4 + leastBytes(field);
      }
      return bytes;
    }
    default:
      return 1;
  }
}

/**
 * How much there may be to compare in a value, as the API server estimates it: bytes of a string,
 * items of a list or map.
 */
export function mostElements(node: StructuralSchema): number {
  const { type, items, additionalProperties: values } = node;
  if (node["x-kubernetes-int-or-string"] === true) return requestBytes - 2;
  if (type === "string") {
    // CEL has types of its own for these.
    if (["date", "date-time", "duration"].includes(node.format ?? "")) return 0;
    if (node.maxLength !== undefined) return node.maxLength * 4;
    if (node.enum !== undefined) return Math.max(...node.enum.map((value) => String(value).length));
    return requestBytes - 2;
  }
  if (type === "array")
    return node.maxItems ?? Math.floor((requestBytes - 2) / (leastBytes(items ?? {}) + 1));
  if (values === undefined) return 0;
  return node.maxProperties ?? Math.floor((requestBytes - 2) / (leastBytes(values) + 6));
}
