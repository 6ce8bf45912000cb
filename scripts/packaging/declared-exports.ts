import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** Something that a module exports, as its declaration has it. */
export interface DeclaredExport {
  readonly name: string;
  readonly is: "function" | "class" | "interface" | "type" | "value" | "from elsewhere";
  /** The comment right before it, with its slashes; empty if there is none. */
  readonly comment: string;
  /** Its declaration, or the package that it is from. */
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

type Exports = ReadonlyMap<string, DeclaredExport>;

/** Everything that a declaration file exports, wherever it is declared. By name. */
export async function declaredExports(
  file: string,
  seen: Map<string, Promise<Exports>> = new Map(),
): Promise<Exports> {
  const known = seen.get(file);
  if (known !== undefined) return await known;
  const reading = readExports(file, seen);
  seen.set(file, reading);
  return await reading;
}

async function readExports(file: string, seen: Map<string, Promise<Exports>>): Promise<Exports> {
  const source = await readFile(file, "utf8");
  const { body } = parseAst(source, { lang: "dts" }, file) as unknown as { readonly body: readonly Node[] };
  const local = new Map<string, DeclaredExport>();
  const exported = new Map<string, DeclaredExport>();
  const add = (to: Map<string, DeclaredExport>, one: DeclaredExport) => {
    const before = to.get(one.name);
    // Overloads, and a type with a value of the same name, are one: what is said of the first holds
    // for all.
    const is = before !== undefined && one.is !== "value" ? before.is : one.is;
    to.set(one.name, before === undefined ? one : { ...before, is, text: `${before.text}\n${one.text}` });
  };
  for (const node of body) {
    const declaration = (node.declaration ?? node) as Node;
    for (const one of declarationsIn(declaration, node, source)) {
      add(local, one);
      if (node.type === "ExportNamedDeclaration") add(exported, one);
    }
  }
  for (const node of body) {
    const from = (node.source as { readonly value: string } | null | undefined)?.value;
    if (node.type === "ExportAllDeclaration" && from !== undefined && !from.startsWith("."))
      exported.set(`* ${from}`, { name: "*", is: "from elsewhere", comment: "", text: from });
    if (node.type === "ExportAllDeclaration" && from?.startsWith("."))
      for (const one of (await declaredExports(beside(file, from), seen)).values())
        exported.set(one.name, one);
    if (node.type !== "ExportNamedDeclaration") continue;
    const origin = from?.startsWith(".") ? await declaredExports(beside(file, from), seen) : local;
    for (const specifier of node.specifiers as readonly Node[]) {
      const name = nameOf(specifier.exported);
      const found = origin.get(nameOf(specifier.local));
      if (from !== undefined && !from.startsWith("."))
        exported.set(name, { name, is: "from elsewhere", comment: "", text: from });
      else if (found !== undefined) exported.set(name, { ...found, name });
    }
  }
  return exported;
}

function beside(file: string, path: string): string {
  return join(dirname(file), path.replace(/\.js$/, ".d.ts"));
}

function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: string; readonly value?: string };
  return name ?? value ?? "";
}

const kinds: Readonly<Record<string, DeclaredExport["is"]>> = {
  TSDeclareFunction: "function",
  FunctionDeclaration: "function",
  ClassDeclaration: "class",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
  VariableDeclaration: "value",
};

function declarationsIn(declaration: Node, statement: Node, source: string): readonly DeclaredExport[] {
  const is = kinds[declaration.type];
  if (is === undefined) return [];
  const named = is === "value" ? (declaration.declarations as readonly Node[]) : [declaration];
  const text = tidy(source.slice(statement.start, statement.end));
  const comment = commentBefore(source, statement.start);
  return named.map((one) => ({ name: nameOf(one.id), is, comment, text }));
}

/** The doc comment that ends right before a place. */
function commentBefore(source: string, at: number): string {
  const before = source.slice(0, at).trimEnd();
  if (!before.endsWith("*/")) return "";
  const begin = before.lastIndexOf("/**");
  return before.slice(begin);
}

/**
 * A declaration for people: without words that only a compiler needs, and without what is private.
 */
function tidy(text: string): string {
  return text
    .replace(/^export (?:declare )?/, "")
    .replaceAll(/^ +(?:#private|private .*);\n/gm, "")
    .replaceAll('import("./', 'import("')
    .replaceAll(/import\("[^"]+"\)\./g, "")
    .trim();
}
