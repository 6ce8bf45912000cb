import { isObject, type Json, type JsonObject } from "../json.ts";
import { addNode, build, type FieldNode, type FieldSet } from "./field-set.ts";
import { compareElements, type PathElement, parseElement } from "./path-element.ts";

/** Writes a set as `fieldsV1`, its keys in the order of the API server. */
export function encodeFields(set: FieldSet): JsonObject {
  const result: JsonObject = {};
  for (const [element, node] of ordered(set)) result[element] = encodeNode(node);
  return result;
}

function encodeNode(node: FieldNode): JsonObject {
  if (node.children === undefined) return {};
  return node.member ? { ".": {}, ...encodeFields(node.children) } : encodeFields(node.children);
}

export function ordered(set: FieldSet): [PathElement, FieldNode][] {
  const nodes = [...set.nodes];
  return nodes.length < 2 ? nodes : nodes.sort(([a], [b]) => compareElements(a, b));
}

/**
 * Reads `fieldsV1`.
 *
 * @throws {SyntaxError} when it is not a tree of field elements.
 */
export function decodeFields(fields: Json | undefined): FieldSet {
  return decodeNode(fields ?? {}).set;
}

function decodeNode(fields: Json): { set: FieldSet; member: boolean } {
  if (!isObject(fields)) throw new SyntaxError("fieldsV1 must be a tree of objects");
  let member = false;
  const set = build((nodes) => {
    for (const key of Object.keys(fields)) {
      if (key === ".") {
        member = true;
        continue;
      }
      const element = parseElement(key);
      if (element === undefined) continue;
      const below = decodeNode(fields[key] as Json);
      addNode(nodes, element, below.member, below.set);
    }
  });
  return { set, member: member || set.empty };
}
