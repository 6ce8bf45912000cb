import { countParts, equal, isObject, type Json, type JsonObject, largeParts } from "../json.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";
import { build, EMPTY_SET, type FieldNode, FieldSet, LEAF, uniteNodes } from "./field-set.ts";
import { addToIndex, indexItems } from "./list-item.ts";
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
  return comparisonOf(compareNodes(before, after, type));
}

/** As {@link compare}; of large objects with turns of the event loop in between. */
export function* compareInSteps(before: Json, after: Json, type: Type): Steps<Comparison> {
  return comparisonOf(yield* compareNodesInSteps(before, after, type, new TurnBudget(partsPerTurn)));
}

/** How many parts of objects are compared between two turns of the event loop. */
const partsPerTurn = 50_000;

function comparisonOf(delta: Delta | undefined): Comparison {
  return {
    added: delta?.added?.children ?? EMPTY_SET,
    removed: delta?.removed?.children ?? EMPTY_SET,
    modified: delta?.modified?.children ?? EMPTY_SET,
  };
}

/**
 * Every field of an object, parents included: what an update that adds it comes to own.
 */
export function everyField(value: Json, type: Type): FieldSet {
  return grow(value, type).children ?? EMPTY_SET;
}

/** As {@link everyField}; of a large object with turns of the event loop in between. */
export function* everyFieldInSteps(value: Json, type: Type): Steps<FieldSet> {
  return (yield* growInSteps(value, type, new TurnBudget(partsPerTurn))).children ?? EMPTY_SET;
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

/** As {@link compareNodes}, with turns of the event loop in between where a value is large. */
function* compareNodesInSteps(
  before: Json | undefined,
  after: Json | undefined,
  type: Type,
  budget: TurnBudget,
): Steps<Delta | undefined> {
  if (before === after) return undefined;
  if (before === undefined) return { added: yield* growInSteps(after as Json, type, budget) };
  if (after === undefined) return { removed: yield* growInSteps(before, type, budget) };
  const parts = countParts(before, budget.wide) + countParts(after, budget.wide);
  if (budget.spend(parts)) yield nextTurn;
  const shape = shapeOf(type, after);
  if (parts <= largeParts || shapeOf(type, before) !== shape) return compareNodes(before, after, type);
  if (shape === "map" && type.map && !type.map.atomic) {
    return yield* compareMapsInSteps(orEmpty(before), orEmpty(after), type.map, budget);
  }
  if (shape === "list" && type.list && !type.list.atomic) {
    const [old, now] = [before, after].map((list) => (Array.isArray(list) ? list : []));
    return yield* compareListsInSteps(old ?? [], now ?? [], type.list, budget);
  }
  return compareNodes(before, after, type);
}

function orEmpty(value: Json): JsonObject {
  return isObject(value) ? value : {};
}

function* compareMapsInSteps(
  before: JsonObject,
  after: JsonObject,
  type: MapType,
  budget: TurnBudget,
): Steps<Delta | undefined> {
  const parts = new Parts();
  const compareAt = function* (name: string): Steps<void> {
    const [old, now] = [get(before, name), get(after, name)];
    const delta = yield* compareNodesInSteps(old, now, memberType(type, name), budget);
    parts.add(fieldElement(name), delta);
  };
  for (const name of Object.keys(before)) yield* compareAt(name);
  for (const name of Object.keys(after)) if (!Object.hasOwn(before, name)) yield* compareAt(name);
  return parts.delta();
}

function* compareListsInSteps(
  before: readonly Json[],
  after: readonly Json[],
  type: ListType,
  budget: TurnBudget,
): Steps<Delta | undefined> {
  const parts = new Parts();
  const old = yield* indexInSteps(type, before, budget);
  const now = yield* indexInSteps(type, after, budget);
  const compareAt = function* (element: PathElement): Steps<void> {
    const [items, others] = [old.get(element) ?? [], now.get(element) ?? []];
    const delta =
      items.length > 1 || others.length > 1
        ? compareItems(items, others, type)
        : yield* compareNodesInSteps(items[0], others[0], type.element, budget);
    parts.add(element, delta);
  };
  for (const element of old.keys()) yield* compareAt(element);
  for (const element of now.keys()) if (!old.has(element)) yield* compareAt(element);
  return parts.delta();
}

function* indexInSteps(
  type: ListType,
  items: readonly Json[],
  budget: TurnBudget,
): Steps<Map<PathElement, Json[]>> {
  const index = new Map<PathElement, Json[]>();
  for (const item of items) {
    if (budget.spend(1)) yield nextTurn;
    addToIndex(index, type, item);
  }
  return index;
}

/** As {@link grow}, with turns of the event loop in between where the value is large. */
function* growInSteps(value: Json, type: Type, budget: TurnBudget): Steps<FieldNode> {
  const parts = countParts(value, budget.wide);
  if (budget.spend(parts)) yield nextTurn;
  if (parts <= largeParts) return grow(value, type);
  const nodes = new Map<PathElement, FieldNode>();
  if (isObject(value) && type.map && !type.map.atomic) {
    for (const name of Object.keys(value)) {
      const node = yield* growInSteps(value[name] as Json, memberType(type.map, name), budget);
      nodes.set(fieldElement(name), node);
    }
  } else if (Array.isArray(value) && type.list && !type.list.atomic) {
    for (const [element, items] of yield* indexInSteps(type.list, value, budget)) {
      const isOne = items.length === 1;
      nodes.set(element, isOne ? yield* growInSteps(items[0] as Json, type.list.element, budget) : LEAF);
    }
  }
  return nodes.size === 0 ? LEAF : { member: true, children: new FieldSet(nodes) };
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
