import type { Json } from "../json.ts";
import { appliedFields } from "./applied-fields.ts";
import { addNode, build, EMPTY_SET, type FieldNode, FieldSet, LEAF } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";
import { memberType, type Type } from "./typed.ts";

/**
 * Brings a manager's set in line with a schema that has changed since it was recorded: where a list or map has become
 * atomic, whoever owned a part owns the whole; where it has become granular, whoever owned the whole owns all its parts.
 */
export function reconcileWithSchema(owned: FieldSet, object: Json, type: Type): FieldSet {
  const changes = new Changes(object, type);
  changes.visit({ member: false, children: owned }, type, []);
  return changes.applyTo(owned);
}

class Changes {
  readonly #object: Json;
  readonly #type: Type;
  readonly #remove: PathElement[][] = [];
  #add: FieldSet = EMPTY_SET;
  #present: FieldSet | undefined;

  constructor(object: Json, type: Type) {
    this.#object = object;
    this.#type = type;
  }

  applyTo(owned: FieldSet): FieldSet {
    if (this.#remove.length === 0 && this.#add.empty) return owned;
    return owned.recursiveDifference(FieldSet.of(...this.#remove)).union(this.#add);
  }

  visit(node: FieldNode, type: Type, path: readonly PathElement[]): void {
    const whole = node.member && node.children === undefined;
    if (type.map) {
      if (type.map.deduced) return;
      if (!whole && type.map.atomic) {
        if (node.children !== undefined) this.#collapse(path);
        return;
      }
      if (whole && !type.map.atomic) this.#expand(path);
      for (const [element, child] of node.children?.nodes ?? []) {
        if (!element.startsWith("f:")) continue;
        this.visit(child, memberType(type.map, element.slice(2)), [...path, element]);
      }
    } else if (type.scalar === undefined && type.list) {
      if (!whole && type.list.atomic) {
        this.#collapse(path);
        return;
      }
      if (whole && !type.list.atomic) this.#expand(path);
      for (const [element, child] of node.children?.nodes ?? []) {
        this.visit(child, type.list.element, [...path, element]);
      }
    }
  }

  #collapse(path: readonly PathElement[]): void {
    if (path.length === 0) return;
    this.#remove.push([...path]);
    this.#add = this.#add.union(nest(path, LEAF));
  }

  #expand(path: readonly PathElement[]): void {
    this.#present ??= appliedFields(this.#object, this.#type);
    let set: FieldSet | undefined = this.#present;
    for (const element of path) set = set?.nodes.get(element)?.children;
    if (set !== undefined) this.#add = this.#add.union(nest(path, { member: false, children: set }));
  }
}

function nest(path: readonly PathElement[], node: FieldNode): FieldSet {
  const [first, ...rest] = path;
  if (first === undefined) return node.children ?? EMPTY_SET;
  if (rest.length === 0) return new FieldSet(new Map([[first, node]]));
  return build((nodes) => addNode(nodes, first, false, nest(rest, node)));
}

/** A set with the named fields on the way to its members made members too; what a prune takes out then takes them out. */
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
