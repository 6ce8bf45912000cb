import { addNode, build, type FieldSet, LEAF } from "./field-set.ts";
import { memberType, type Type } from "./typed.ts";

/**
 * Brings a manager's set in line with a schema that has changed since it was recorded: where a list
 * or map has become atomic, the owners of a part own the whole. The other way round nothing
 * changes, as on the real server: the owner of the whole keeps it, and owns none of its parts.
 */
export function reconcileWithSchema(owned: FieldSet, type: Type): FieldSet {
  if (agrees(owned, type)) return owned;
  return build((nodes) => {
    for (const [element, node] of owned.nodes) {
      const below = node.children === undefined ? undefined : typeBelow(type, element);
      if (node.children === undefined || below === undefined) nodes.set(element, node);
      else if (isAtomic(below)) nodes.set(element, LEAF);
      else addNode(nodes, element, node.member, reconcileWithSchema(node.children, below));
    }
  });
}

/**
 * Whether nothing is owned below what is atomic: nearly always so, and found out without building
 * anything.
 */
function agrees(owned: FieldSet, type: Type): boolean {
  for (const [element, { children }] of owned.nodes) {
    if (children === undefined) continue;
    const below = typeBelow(type, element);
    if (below !== undefined && (isAtomic(below) || !agrees(children, below))) return false;
  }
  return true;
}

/** Free-form data is left alone: a schema cannot have changed its mind about it. */
function typeBelow(type: Type, element: string): Type | undefined {
  if (type.map)
    return type.map.deduced || !element.startsWith("f:") ? undefined : memberType(type.map, element.slice(2));
  return type.scalar === undefined ? type.list?.element : undefined;
}

function isAtomic(type: Type): boolean {
  if (type.map) return type.map.atomic && !type.map.deduced;
  return type.scalar === undefined && (type.list?.atomic ?? false);
}

/**
 * A set with the named fields on the way to its members made members too; what a prune takes out
 * then takes them out.
 */
export function withNamedParents(set: FieldSet, type: Type | undefined): FieldSet {
  if (set.empty) return set;
  return build((nodes) => {
    for (const [element, node] of set.nodes) {
      if (node.children === undefined) {
        nodes.set(element, node);
        continue;
      }
      const named = element.startsWith("f:") ? type?.map?.field(element.slice(2)) : undefined;
      const below = element.startsWith("f:")
        ? (named?.type ?? type?.map?.element)
        : element.startsWith("k:")
          ? type?.list?.element
          : undefined;
      nodes.set(element, {
        member: node.member || named !== undefined,
        children: withNamedParents(node.children, below),
      });
    }
  });
}
