import { isObject, type Json, type JsonObject } from "../json.ts";
import { nextTurn, type Steps } from "../steps.ts";
import { addNode, build, type FieldNode, type FieldSet } from "./field-set.ts";
import {
  compareRanks,
  type ElementRank,
  type PathElement,
  parseElement,
  plainPrefix,
  rankOf,
} from "./path-element.ts";

const written = new WeakMap<FieldSet, JsonObject>();

/**
 * Writes a set as `fieldsV1`, its keys in the order of the API server. A set that was read from
 * `fieldsV1` is not written again: most entries of an object outlive most of its writes.
 */
export function encodeFields(set: FieldSet): JsonObject {
  return written.get(set) ?? encodeSet(set);
}

/**
 * Most of a large set are leaves. One object stands for all of them: what is stored is never
 * changed.
 */
const nothing: JsonObject = Object.freeze({});

function encodeSet(set: FieldSet, result: JsonObject = {}): JsonObject {
  for (const [element, node] of ordered(set)) result[element] = encodeNode(node);
  return result;
}

function encodeNode(node: FieldNode): JsonObject {
  if (node.children === undefined) return nothing;
  return encodeSet(node.children, node.member ? { ".": nothing } : {});
}

/** How many elements are written, or put in order, between two turns of the event loop. */
const elementsPerTurn = 10_000;

/** As {@link encodeFields}, with turns of the event loop in between. */
export function* encodeInSteps(set: FieldSet): Steps<JsonObject> {
  return written.get(set) ?? (yield* encodeSetInSteps(set, {}, { left: elementsPerTurn }));
}

function* encodeSetInSteps(set: FieldSet, result: JsonObject, turn: { left: number }): Steps<JsonObject> {
  const isWide = set.nodes.size > elementsPerTurn;
  for (const [element, { member, children }] of ordered(set)) {
    if (--turn.left <= 0) {
      turn.left = elementsPerTurn;
      yield nextTurn;
    }
    if (children === undefined) result[element] = nothing;
    else result[element] = yield* encodeSetInSteps(children, member ? { ".": nothing } : {}, turn);
  }
  if (isWide) yield nextTurn;
  return result;
}

export function ordered(set: FieldSet): Iterable<[PathElement, FieldNode]> {
  if (areOrderedNames(set.nodes.keys())) return set.nodes;
  const alike = orderedAlike(set);
  if (alike !== undefined) return alike;
  const nodes = [...set.nodes].map((node) => ({ node, rank: rankOf(node[0]) }));
  // Objects mostly come with their members in order already, and comparing neighbours is cheaper
  // than sorting.
  const isOrdered = nodes.every(
    ({ rank }, at) => at === 0 || compareRanks((nodes[at - 1] as Ranked).rank, rank) <= 0,
  );
  if (!isOrdered) nodes.sort((a, b) => compareRanks(a.rank, b.rank));
  return nodes.map(({ node }) => node);
}

/**
 * Items of a list by one key that is text without escapes, which most lists are: they are ordered
 * by that text, without reading each element as JSON.
 */
function orderedAlike(set: FieldSet): [PathElement, FieldNode][] | undefined {
  const prefix = plainPrefix(set.nodes.keys().next().value ?? "");
  if (prefix === undefined) return undefined;
  const texts: { readonly text: string; readonly node: [PathElement, FieldNode] }[] = [];
  let isOrdered = true;
  for (const node of set.nodes) {
    if (plainPrefix(node[0]) !== prefix) return undefined;
    const text = node[0].slice(prefix.length, node[0].lastIndexOf('"'));
    isOrdered &&= texts.length === 0 || (texts.at(-1)?.text ?? "") <= text;
    texts.push({ text, node });
  }
  if (!isOrdered) texts.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
  return texts.map(({ node }) => node);
}

interface Ranked {
  readonly rank: ElementRank;
}

function areOrderedNames(elements: Iterable<PathElement>): boolean {
  let last = "";
  for (const element of elements) {
    if (!element.startsWith("f:") || element < last) return false;
    last = element;
  }
  return true;
}

/**
 * Reads `fieldsV1`.
 *
 * @throws {SyntaxError} when it is not a tree of field elements.
 */
export function decodeFields(fields: Json): FieldSet {
  const { set, canonical } = decodeNode(fields);
  if (canonical && isObject(fields) && !set.empty) written.set(set, fields);
  return set;
}

interface Decoded {
  readonly set: FieldSet;
  readonly member: boolean;
  /** Whether the set, written again, comes out the same. */
  readonly canonical: boolean;
}

function decodeNode(fields: Json): Decoded {
  if (!isObject(fields)) throw new SyntaxError("fieldsV1 must be a tree of objects");
  let member = false;
  let canonical = true;
  const set = build((nodes) => {
    for (const key of Object.keys(fields)) {
      if (key === ".") {
        member = true;
        continue;
      }
      const element = parseElement(key);
      canonical &&= element === key;
      if (element === undefined) continue;
      const below = decodeNode(fields[key] as Json);
      canonical &&= below.canonical;
      addNode(nodes, element, below.member, below.set);
    }
  });
  return { set, member: member || set.empty, canonical: canonical && !(member && set.empty) };
}
