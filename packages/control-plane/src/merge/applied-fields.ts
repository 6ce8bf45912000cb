import { isObject, type Json, type JsonObject } from "../json.ts";
import { addNode, build, EMPTY_SET, type FieldSet } from "./field-set.ts";
import { indexItems } from "./list-item.ts";
import { fieldElement } from "./path-element.ts";
import { type ListType, type MapType, memberType, shapeOf, type Type } from "./typed.ts";

/**
 * The fields that an applied configuration claims: its leaves, the items of its lists and the keys
 * of its maps. Structs are not claimed for themselves, so that several managers can each apply a
 * part of one; empty or null they are.
 */
export function appliedFields(value: Json, type: Type): FieldSet {
  return below(value, type).children;
}

interface Claim {
  /** Whether the value itself is claimed, whatever contains it. */
  readonly self: boolean;
  readonly children: FieldSet;
}

const SELF: Claim = { self: true, children: EMPTY_SET };
const NOTHING: Claim = { self: false, children: EMPTY_SET };

function below(value: Json, type: Type): Claim {
  switch (shapeOf(type, value)) {
    case "map":
      if (type.map?.atomic) return SELF;
      return isObject(value) && type.map ? { self: false, children: members(value, type.map) } : NOTHING;
    case "list":
      if (type.list?.atomic) return SELF;
      return Array.isArray(value) && type.list ? { self: false, children: items(value, type.list) } : NOTHING;
    case "scalar":
      return SELF;
  }
}

function members(value: JsonObject, type: MapType): FieldSet {
  return build((nodes) => {
    for (const name of Object.keys(value)) {
      const member = value[name] as Json;
      const claim = below(member, memberType(type, name));
      const bare = member === null || (isObject(member) && Object.keys(member).length === 0);
      const keyed = type.field(name) === undefined;
      addNode(nodes, fieldElement(name), claim.self || bare || keyed, claim.children);
    }
  });
}

function items(value: readonly Json[], type: ListType): FieldSet {
  return build((nodes) => {
    for (const [element, same] of indexItems(type, value)) {
      const children = same.reduce<FieldSet>(
        (set, item) => set.union(below(item, type.element).children),
        EMPTY_SET,
      );
      addNode(nodes, element, true, children);
    }
  });
}
