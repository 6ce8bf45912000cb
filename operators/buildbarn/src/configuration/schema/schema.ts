import type { Version } from "../versions.ts";
import { fields2025 } from "./fields-2025-02.ts";
import { fields2026 } from "./fields-2026-08.ts";

/** What a field may hold. */
export type FieldType =
  | { readonly is: "scalar"; readonly name: string }
  | { readonly is: "enum"; readonly values: readonly string[] }
  | { readonly is: "message"; readonly name: string }
  | { readonly is: "list"; readonly of: FieldType }
  | { readonly is: "map"; readonly of: FieldType };

/** A field of a message. */
export interface FieldSchema {
  readonly type: FieldType;
  /** Of the fields of a group, at most one may be set. */
  readonly oneof: string | undefined;
}

/** The messages of a release, by name: what each field may hold. */
export type Schema = ReadonlyMap<string, ReadonlyMap<string, FieldSchema>>;

const texts: Readonly<Record<Version, string>> = { "2025-02": fields2025, "2026-08": fields2026 };

/** What the programs of a release take as their configuration. */
export function schemaOf(version: Version): Schema {
  const blocks = texts[version].trim().split("\n\n");
  return new Map(blocks.map(parseMessage));
}

function parseMessage(block: string): readonly [string, ReadonlyMap<string, FieldSchema>] {
  const [name = "", ...lines] = block.split("\n");
  return [name, new Map(lines.map(parseField))];
}

function parseField(line: string): readonly [string, FieldSchema] {
  const [, name = "", type = "", oneof] = /^ {2}(\w+): (.*?)(?: \(oneof (\w+)\))?$/.exec(line) ?? [];
  return [name, { type: parseType(type), oneof }];
}

function parseType(text: string): FieldType {
  if (text.startsWith("[]")) return { is: "list", of: parseType(text.slice(2)) };
  const map = /^map<\w+,(.*)>$/.exec(text);
  if (map) return { is: "map", of: parseType(map[1] ?? "") };
  const values = /^enum [\w.]+\{(.*)\}$/.exec(text);
  if (values) return { is: "enum", values: (values[1] ?? "").split("|") };
  return text.includes(".") ? { is: "message", name: text } : { is: "scalar", name: text };
}
