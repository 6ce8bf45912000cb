import { equal, isObject, type Json, type JsonObject } from "../json.ts";
import { build, EMPTY_SET, type FieldNode, FieldSet, LEAF, uniteNodes } from "./field-set.ts";
import { indexItems } from "./list-item.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import { get } from "./plain.ts";
import { type ListType, type MapType, memberType, type Shape, shapeOf, type Type } from "./typed.ts";

/** The fields in which two versions of an object differ. */
export interface Comparison {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** Compares two objects of one type, field by field as the type takes them apart. */
export function compare(before: Json, after: Json, type: Type): Comparison {
  const delta = compareNodes(before, after, type);
  return {
    added: delta?.added?.children ?? EMPTY_SET,
    removed: delta?.removed?.children ?? EMPTY_SET,
    modified: delta?.modified?.children ?? EMPTY_SET,
  };
}

/**
 * Every field of an object, parents included: what an update that brings it in anew comes to own.
 */
export function everyField(value: Json, type: Type): FieldSet {
  return grow(value, type).children ?? EMPTY_SET;
}

/**
 * The same three sets for one node and what lies below. Undefined, as a whole or in part, when
 * nothing differs.
 */
interface Delta {
  readonly added?: FieldNode | undefined;
  readonly removed?: FieldNode | undefined;
  readonly modified?: FieldNode | undefined;
}

const MODIFIED: Delta = { modified: LEAF };

function compareNodes(before: Json | undefined, after: Json | undefined, type: Type): Delta | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: grow(after as Json, type) };
  if (after === undefined) return { removed: grow(before, type) };
  const from = shapeOf(type, before);
  const to = shapeOf(type, after);
  const delta = compareAs(to, before, after, type);
  return from === to ? delta : unite(compareAs(from, before, after, type), delta);
}

function compareAs(shape: Shape, before: Json, after: Json, type: Type): Delta | undefined {
  if (shape === "map" && type.map && !type.map.atomic) {
    const old = isObject(before) ? before : {};
    const now = isObject(after) ? after : {};
    if (hasMembers(old) || hasMembers(now)) return compareMaps(old, now, type.map);
  }
  if (shape === "list" && type.list && !type.list.atomic) {
    const old = Array.isArray(before) ? before : [];
    const now = Array.isArray(after) ? after : [];
    if (old.length > 0 || now.length > 0) return compareLists(old, now, type.list);
  }
  return equal(before, after) ? undefined : MODIFIED;
}

function compareMaps(before: JsonObject, after: JsonObject, type: MapType): Delta | undefined {
  const parts = new Parts();
  for (const name of Object.keys(before)) {
    const old = before[name];
    const now = get(after, name);
    if (old !== now) parts.add(fieldElement(name), compareNodes(old, now, memberType(type, name)));
  }
  for (const name of Object.keys(after)) {
    if (Object.hasOwn(before, name)) continue;
    parts.add(fieldElement(name), { added: grow(after[name] as Json, memberType(type, name)) });
  }
  return parts.delta();
}

function compareLists(before: readonly Json[], after: readonly Json[], type: ListType): Delta | undefined {
  const parts = new Parts();
  const old = indexItems(type, before);
  const now = indexItems(type, after);
  for (const [element, items] of old) parts.add(element, compareItems(items, now.get(element) ?? [], type));
  for (const [element, items] of now) {
    if (!old.has(element)) parts.add(element, compareItems([], items, type));
  }
  return parts.delta();
}

/**
 * Items that share an element are not taken apart: as long as there are several, they count as one
 * value.
 */
function compareItems(before: readonly Json[], after: readonly Json[], type: ListType): Delta | undefined {
  if (before.length <= 1 && after.length <= 1) return compareNodes(before[0], after[0], type.element);
  if (before.length >= 2 && after.length >= 2) return equal(before, after) ? undefined : MODIFIED;
  if (before.length >= 2) {
    return unite(after.length === 1 ? compareNodes(undefined, after[0], type.element) : undefined, {
      removed: LEAF,
    });
  }
  return unite(before.length === 1 ? compareNodes(before[0], undefined, type.element) : undefined, {
    added: LEAF,
  });
}

/** All of a value that has appeared or vanished as a whole. */
function grow(value: Json, type: Type): FieldNode {
  if (typeof value !== "object" || value === null) return LEAF;
  const children = Array.isArray(value) ? growList(value, type.list) : growMap(value, type.map);
  return children === undefined || children.empty ? LEAF : { member: true, children };
}

function growMap(value: JsonObject, type: MapType | undefined): FieldSet | undefined {
  if (type === undefined || type.atomic) return undefined;
  return build((nodes) => {
    for (const name of Object.keys(value)) {
      nodes.set(fieldElement(name), grow(value[name] as Json, memberType(type, name)));
    }
  });
}

function growList(value: readonly Json[], type: ListType | undefined): FieldSet | undefined {
  if (type === undefined || type.atomic) return undefined;
  return build((nodes) => {
    for (const [element, items] of indexItems(type, value)) {
      nodes.set(element, items.length === 1 ? grow(items[0] as Json, type.element) : LEAF);
    }
  });
}

class Parts {
  readonly #added = new Map<PathElement, FieldNode>();
  readonly #removed = new Map<PathElement, FieldNode>();
  readonly #modified = new Map<PathElement, FieldNode>();

  add(element: PathElement, delta: Delta | undefined): void {
    if (delta?.added) this.#added.set(element, delta.added);
    if (delta?.removed) this.#removed.set(element, delta.removed);
    if (delta?.modified) this.#modified.set(element, delta.modified);
  }

  delta(): Delta | undefined {
    if (this.#added.size + this.#removed.size + this.#modified.size === 0) return undefined;
    return { added: parent(this.#added), removed: parent(this.#removed), modified: parent(this.#modified) };
  }
}

function parent(children: Map<PathElement, FieldNode>): FieldNode | undefined {
  return children.size === 0 ? undefined : { member: false, children: new FieldSet(children) };
}

function unite(a: Delta | undefined, b: Delta | undefined): Delta | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    added: uniteOptional(a.added, b.added),
    removed: uniteOptional(a.removed, b.removed),
    modified: uniteOptional(a.modified, b.modified),
  };
}

function uniteOptional(a: FieldNode | undefined, b: FieldNode | undefined): FieldNode | undefined {
  return a && b ? uniteNodes(a, b) : (a ?? b);
}

function hasMembers(object: JsonObject): boolean {
  for (const name in object) if (Object.hasOwn(object, name)) return true;
  return false;
}
