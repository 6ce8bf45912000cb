import { isObject, type Json, stringify } from "../json.ts";

/** A decoded value as Go prints it with `%v`: error messages quote patches and values that way. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (isObject(value)) {
    const members = Object.keys(value).toSorted();
    return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
  }
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "<nil>" : stringify(value as Json);
}

/** The same with `%#v`: as Go source. */
export function goSource(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSource).join(", ")}}`;
  if (isObject(value)) {
    const members = Object.keys(value).toSorted();
    const list = members.map((key) => `${JSON.stringify(key)}:${goSource(value[key])}`);
    return `map[string]interface {}{${list.join(", ")}}`;
  }
  return value === null || value === undefined ? "interface {}(nil)" : stringify(value as Json);
}
