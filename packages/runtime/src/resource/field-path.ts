import { own, type StructuralSchema } from "./structural.ts";

/** What is at a dotted
 * path. `open`: inside a part of the object whose fields are not described.
 */
export type Target =
  | { readonly at: "field"; readonly node: StructuralSchema; readonly inList: boolean }
  | { readonly at: "open" }
  | { readonly at: "nothing"; readonly missing: string };

const segment = /\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)+)'\]|\[(\d+|\*)\]/y;

/**
 * The segments of a simple JSONPath (`.spec.ports[0].name`, `.metadata.labels['app']`), or
 * undefined where it is not simple: filters, slices, recursive descent.
 */
export function segmentsOf(path: string): (string | number)[] | undefined {
  const segments: (string | number)[] = [];
  segment.lastIndex = 0;
  while (segment.lastIndex < path.length) {
    const match = segment.exec(path);
    if (match === null) return undefined;
    segments.push(match[3] === undefined ? (match[1] ?? (match[2] ?? "").replaceAll("\\", "")) : 0);
  }
  return segments;
}

/** Follows a path from a node. */
export function follow(root: StructuralSchema, segments: readonly (string | number)[]): Target {
  let node = root;
  let inList = false;
  for (const [index, step] of segments.entries()) {
    const next =
      typeof step === "number" ? node.items : (own(node.properties, step) ?? node.additionalProperties);
    if (typeof step === "number") inList = true;
    if (next === undefined) {
      if (node["x-kubernetes-preserve-unknown-fields"] === true) return { at: "open" };
      return { at: "nothing", missing: `.${segments.slice(0, index + 1).join(".")}` };
    }
    node = next;
  }
  return { at: "field", node, inList };
}
