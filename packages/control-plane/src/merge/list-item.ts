import { isObject, type Json } from "../json.ts";
import { keyElement, type PathElement, valueElement } from "./path-element.ts";
import { get } from "./plain.ts";
import type { ListType } from "./typed.ts";

/** An item that cannot be distinguished from its neighbours; the text is the API server's. */
export interface Unidentified {
  readonly fault: string;
}

/**
 * How an item of a set or of a list of maps is addressed. Absent key fields take their defaults.
 */
export function listItemElement(list: ListType, item: Json): PathElement | Unidentified {
  return list.keys.length > 0 ? mapItemElement(list, item) : setItemElement(item);
}

function mapItemElement(list: ListType, item: Json): PathElement | Unidentified {
  if (item === null) return { fault: "associative list with keys may not have a null element" };
  if (!isObject(item)) return { fault: "associative list with keys may not have non-map elements" };
  const keys: [string, Json][] = [];
  for (const name of list.sortedKeys) {
    const value = get(item, name) ?? list.element.map?.field(name)?.default;
    if (value !== undefined) keys.push([name, value]);
    else if (Object.hasOwn(item, name)) keys.push([name, null]);
  }
  if (keys.length === 0) {
    const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
    return {
      fault: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
    };
  }
  return keyElement(keys);
}

function setItemElement(item: Json): PathElement | Unidentified {
  if (item === null) return { fault: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { fault: "not supported: associative list with lists as elements" };
  if (isObject(item)) return { fault: "associative list without keys has an element that's a map type" };
  return valueElement(item);
}

/**
 * The items of a list by their element, in order of first appearance. Items that cannot be
 * addressed are left out.
 */
export function indexItems(list: ListType, items: readonly Json[]): Map<PathElement, Json[]> {
  const index = new Map<PathElement, Json[]>();
  for (const item of items) addToIndex(index, list, item);
  return index;
}

/** Adds one item to what {@link indexItems} makes. */
export function addToIndex(index: Map<PathElement, Json[]>, list: ListType, item: Json): void {
  const element = listItemElement(list, item);
  if (typeof element !== "string") return;
  const same = index.get(element);
  if (same === undefined) index.set(element, [item]);
  else same.push(item);
}
