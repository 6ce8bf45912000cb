import { isObject, type Json, type JsonObject } from "../json.ts";
import { listItemElement } from "./list-item.ts";
import type { PathElement } from "./path-element.ts";
import { get, put } from "./plain.ts";
import { type ListType, type MapType, memberType, shapeOf, type Type } from "./typed.ts";

/**
 * Lays an applied configuration over the live object: what both have is merged as far as the type
 * takes it apart, and below that the configuration wins. Nothing is removed. The result shares
 * parts with both.
 */
export function mergeValues(live: Json, config: Json, type: Type): Json {
  switch (shapeOf(type, config)) {
    case "map": {
      const map = type.map;
      if (map === undefined || map.atomic) return config;
      const old = isObject(live) ? live : {};
      const now = isObject(config) ? config : {};
      if (Object.keys(old).length === 0 && Object.keys(now).length === 0) return config;
      return mergeMaps(old, now, map);
    }
    case "list": {
      const list = type.list;
      if (list === undefined || list.atomic) return config;
      const old = Array.isArray(live) ? live : [];
      const now = Array.isArray(config) ? config : [];
      if (old.length === 0 && now.length === 0) return config;
      return mergeLists(old, now, list);
    }
    case "scalar":
      return config;
  }
}

function mergeMaps(live: JsonObject, config: JsonObject, type: MapType): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(live)) {
    const old = live[name] as Json;
    const now = get(config, name);
    put(result, name, now === undefined ? old : mergeValues(old, now, memberType(type, name)));
  }
  for (const name of Object.keys(config)) {
    if (!Object.hasOwn(live, name)) put(result, name, config[name] as Json);
  }
  return result;
}

interface Items {
  readonly elements: PathElement[];
  readonly items: Json[];
  /**
   * By element; null for an element that several items share, since there is no telling which of
   * them is meant.
   */
  readonly index: Map<PathElement, Json>;
}

function itemsOf(list: readonly Json[], type: ListType): Items {
  const result: Items = { elements: [], items: [], index: new Map() };
  for (const item of list) {
    const element = listItemElement(type, item);
    if (typeof element !== "string") continue;
    result.elements.push(element);
    result.items.push(item);
    result.index.set(element, result.index.has(element) ? null : item);
  }
  return result;
}

/**
 * Items of the configuration come in its order, items that only the live list has keep their place
 * after the items they followed, as far as the two orders agree.
 */
function mergeLists(live: readonly Json[], config: readonly Json[], type: ListType): Json[] {
  const left = itemsOf(live, type);
  const right = itemsOf(config, type);
  const result: Json[] = [];
  const shared = right.elements.filter((element) => left.index.has(element));
  const merged = new Set<PathElement>();
  const take = (element: PathElement) => {
    merged.add(element);
    const old = left.index.get(element);
    const now = right.index.get(element) as Json;
    result.push(old === undefined ? now : mergeValues(old, now, type.element));
  };
  let at = 0;
  let next = shared[at];
  let i = 0;
  let j = 0;
  while (i < left.elements.length || j < right.elements.length) {
    const ours = left.elements[i];
    const theirs = right.elements[j];
    if (ours !== undefined && theirs !== undefined) {
      if (ours === theirs) {
        take(ours);
        i++;
        j++;
        next = shared[++at];
        continue;
      }
      if (right.index.has(ours) && next !== undefined && next !== ours) {
        i++;
        continue;
      }
    }
    if (ours !== undefined) {
      if (!right.index.has(ours)) {
        result.push(left.items[i] as Json);
        i++;
        continue;
      }
      if (merged.has(ours)) i++;
    }
    if (theirs !== undefined) {
      take(theirs);
      j++;
      if (next === theirs) next = shared[++at];
    }
  }
  return result;
}
