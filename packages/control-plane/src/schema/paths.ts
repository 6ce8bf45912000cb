import type { Json, JsonObject } from "../json.ts";

/** `parent.name`, or `name` at the root. */
export function childPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

/** `parent[key]`: an entry of a map, or an item of a list. */
export function keyPath(parent: string, key: string | number): string {
  return `${parent}[${key}]`;
}

/**
 * Sets an own field, also when its name is `__proto__`, which plain assignment would take for the
 * prototype.
 */
export function setField(object: JsonObject, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}
