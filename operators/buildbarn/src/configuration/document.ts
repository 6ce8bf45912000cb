/** A piece of jsonnet within a document. */
export class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a configuration file holds: JSON with pieces of jsonnet. Undefined fields are left out. */
export type Document =
  | null
  | boolean
  | number
  | string
  | Code
  | readonly Document[]
  | { readonly [field: string]: Document | undefined };

/** How caches of all kinds make room. */
export const leastRecentlyUsed = "LEAST_RECENTLY_USED";

/** A variable of the container's environment. */
export function environment(name: string): Code {
  return new Code(`std.extVar(${quoted(name)})`);
}

/** A field of common.libsonnet. */
export function shared(path: string): Code {
  return new Code(`common.${path}`);
}

const bareName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reserved = new Set(
  "assert else error false for function if import importstr importbin in local null tailstrict then self super true".split(
    " ",
  ),
);

/** A document as jsonnet, formatted as people write it. The same document gives the same text. */
export function print(document: Document, indent = ""): string {
  if (document instanceof Code) return document.text;
  if (document === null || typeof document !== "object")
    return typeof document === "string" ? quoted(document) : String(document);
  const inner = `${indent}  `;
  if (Array.isArray(document)) {
    const items = (document as readonly Document[]).map((item) => `${inner}${print(item, inner)},\n`);
    return items.length === 0 ? "[]" : `[\n${items.join("")}${indent}]`;
  }
  const fields = Object.entries(document as Readonly<Record<string, Document | undefined>>)
    .filter((entry): entry is [string, Document] => entry[1] !== undefined)
    .map(([name, value]) => `${inner}${fieldName(name)}: ${print(value, inner)},\n`);
  return fields.length === 0 ? "{}" : `{\n${fields.join("")}${indent}}`;
}

function fieldName(name: string): string {
  return bareName.test(name) && !reserved.has(name) ? name : quoted(name);
}

/** A string in single quotes, as jsonnet's formatter has it. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
