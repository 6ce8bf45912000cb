import { type Json, type JsonObject, parse, stringify } from "../json.ts";
import { put } from "./plain.ts";

/**
 * One step of a field path, in the text that FieldsV1 uses as a key, made canonical so that
 * equal steps are equal strings:
 *
 * - `f:name`: a field of a struct or a key of a map
 * - `k:{"name":"nginx"}`: an item of a list of maps, by its keys
 * - `v:"finalizer"`: an item of a set, by its value
 * - `i:0`: an item by position
 */
export type PathElement = string;

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** `keys` must come sorted by name, as the API server writes them. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): PathElement {
  let text = "k:{";
  for (const [name, value] of keys) {
    text += `${text.length === 3 ? "" : ","}${quoted(name)}:${canonical(value)}`;
  }
  return `${text}}`;
}

export function valueElement(value: Json): PathElement {
  return `v:${canonical(value)}`;
}

/**
 * One key with a text that needs no escapes, or such a text alone: canonical as it stands, and by
 * far the most common.
 */
const plainElement = /^(k:\{"[\w.-]+":"|v:")[\w./: -]*"\}?$/;

/**
 * What comes before the text of an element that has one key, or value, without escapes; undefined
 * for all others.
 */
export function plainPrefix(element: PathElement): string | undefined {
  return plainElement.exec(element)?.[1];
}

/**
 * Reads a FieldsV1 key. Undefined for kinds of elements that are not known: a later version may
 * know them.
 *
 * @throws {SyntaxError} when the element is of a known kind and malformed.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2 || text[1] !== ":") throw new SyntaxError(`missing colon: ${JSON.stringify(text)}`);
  if (text[0] === "f" || plainElement.test(text)) return text;
  const body = text.slice(2);
  switch (text[0]) {
    case "k": {
      const keys: unknown = parse(body);
      if (typeof keys !== "object" || keys === null || Array.isArray(keys)) {
        throw new SyntaxError(`not an object of keys: ${text}`);
      }
      return `k:${canonical(keys as JsonObject)}`;
    }
    case "v":
      return valueElement(parse(body) as Json);
    case "i":
      if (!/^[+-]?\d+$/.test(body)) throw new SyntaxError(`not an index: ${text}`);
      return `i:${Number(body)}`;
    default:
      return undefined;
  }
}

/** How conflict messages name an element: `.spec`, `[name="nginx"]`, `[="x"]`, `[0]`. */
export function elementText(element: PathElement): string {
  const body = element.slice(2);
  switch (element[0]) {
    case "f":
      return `.${body}`;
    case "k": {
      const keys = parse(body) as JsonObject;
      return `[${Object.keys(keys)
        .map((name) => `${name}=${valueText(keys[name] as Json)}`)
        .join(",")}]`;
    }
    case "v":
      return `[=${valueText(parse(body) as Json)}]`;
    default:
      return `[${body}]`;
  }
}

export function valueText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.keys(value).toSorted(compareText);
    return members.map((name) => `${name}=${valueText(value[name] as Json)}`).join(";");
  }
  return stringify(value);
}

const KINDS = "fkvi";

/** What an element is ordered by: read once, however often it is compared. */
export interface ElementRank {
  readonly kind: number;
  readonly value: Json;
}

export function rankOf(element: PathElement): ElementRank {
  const kind = KINDS.indexOf(element.charAt(0));
  return { kind, value: kind === 0 ? element : (parse(element.slice(2)) as Json) };
}

/** The order in which the API server writes and reports elements. */
export function compareRanks(a: ElementRank, b: ElementRank): number {
  return a.kind - b.kind || compareValues(a.value, b.value);
}

/** Numbers before strings before booleans before null before lists before maps. */
function compareValues(a: Json, b: Json): number {
  const rank = typeRank(a);
  if (rank !== typeRank(b)) return rank - typeRank(b);
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    for (const [at, item] of a.entries()) {
      const other = b[at];
      if (other === undefined) return 1;
      const order = compareValues(item, other);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) {
    return compareMaps(a as JsonObject, b as JsonObject);
  }
  return 0;
}

function compareMaps(a: JsonObject, b: JsonObject): number {
  const left = Object.keys(a).toSorted(compareText);
  const right = Object.keys(b).toSorted(compareText);
  for (const [at, name] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const order = compareText(name, other) || compareValues(a[name] as Json, b[other] as Json);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function typeRank(value: Json): number {
  if (isNumber(value)) return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "boolean") return 2;
  if (value === null) return 3;
  return Array.isArray(value) ? 4 : 5;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** As the API server writes it: members sorted, and what HTML would read as markup escaped. */
function canonical(value: Json): string {
  if (typeof value === "string") return quoted(value);
  return typeof value === "object" && value !== null ? escaped(stringify(sorted(value))) : stringify(value);
}

function quoted(text: string): string {
  return /^[\w./: -]*$/.test(text) ? `"${text}"` : escaped(JSON.stringify(text));
}

function escaped(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const result: JsonObject = {};
  for (const name of Object.keys(value).toSorted(compareText)) put(result, name, sorted(value[name] as Json));
  return result;
}
