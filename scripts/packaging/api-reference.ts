import { join } from "node:path";
import { type DeclaredExport, declaredExports } from "./declared-exports.ts";
import { readDocComment } from "./doc-comment.ts";
import type { Entry, SourcePackage } from "./source-packages.ts";

/** Entries with thousands of generated types: named, not described one by one. */
const listed: ReadonlySet<string> = new Set([
  "@windlass/kinds/builtin",
  "@windlass/kinds/go-types",
  "@windlass/kinds/schemas",
]);

/**
 * A page of the reference for each package that others import, and one that lists them. By the name
 * of the file.
 */
export async function apiReference(packages: readonly SourcePackage[]): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>();
  const rows: string[] = [];
  for (const source of packages.filter(({ entries }) => entries.length > 0)) {
    pages.set(`${source.folder}.md`, await pageFor(source));
    rows.push(`| [${source.manifest.name}](${source.folder}.md) | ${source.manifest.description} |`);
  }
  pages.set(
    "README.md",
    [
      "# API reference",
      "",
      "Everything that the packages export, from the comments in their sources. `npm run api-reference` writes these pages.",
      "",
      "| package | what it is |",
      "|---|---|",
      ...rows,
      "",
    ].join("\n"),
  );
  return pages;
}

async function pageFor(source: SourcePackage): Promise<string> {
  const { manifest, entries } = source;
  const parts = [`# ${manifest.name}`, `${manifest.description}.`];
  for (const entry of entries) parts.push(...(await partsFor(source, entry, entries.length > 1)));
  return `${parts.join("\n\n")}\n`;
}

async function partsFor(
  { path, manifest }: SourcePackage,
  { subpath, source }: Entry,
  isOneOfSeveral: boolean,
): Promise<readonly string[]> {
  const module = `${manifest.name}${subpath.slice(1)}`;
  const file = join(path, "dist", "types", source.replace(/^src\//, "").replace(/\.ts$/, ".d.ts"));
  const all = [...(await declaredExports(file)).values()].toSorted((a, b) => compare(a.name, b.name));
  const title = isOneOfSeveral ? [`## From \`${module}\``] : [];
  if (listed.has(module)) {
    const values = all
      .filter(({ is }) => is !== "interface" && is !== "type")
      .map(({ name }) => `\`${name}\``);
    const rest = `${all.length - values.length} types that belong to them`;
    return [...title, `Generated from an API server: ${[...values, rest].join(", ")}.`];
  }
  const elsewhere = all.filter(({ is }) => is === "from elsewhere");
  const here = all.filter(({ is }) => is !== "from elsewhere");
  return [...title, ...here.map(sectionFor), ...fromElsewhere(elsewhere)];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function sectionFor({ name, is, comment, text }: DeclaredExport): string {
  const doc = readDocComment(comment);
  const points = [
    ...doc.params.map((one) => `- ${one.replace(/^(\S+)/, "`$1`:")}`),
    ...(doc.returns === undefined ? [] : [`- Returns ${doc.returns}`]),
    ...doc.throws.map((one) => `- Throws ${one}`),
  ];
  return [
    `### ${name}`,
    doc.text === "" ? `A ${is}.` : doc.text,
    ...(points.length === 0 ? [] : [points.join("\n")]),
    fenced(text),
    ...doc.examples.map((one) => `Example:\n\n${fenced(one)}`),
  ].join("\n\n");
}

function fenced(code: string): string {
  return `\`\`\`typescript\n${code}\n\`\`\``;
}

function fromElsewhere(exports: readonly DeclaredExport[]): readonly string[] {
  const byPackage = Map.groupBy(exports, ({ text }) => text);
  return [...byPackage].map(([from, some]) =>
    some.some(({ name }) => name === "*")
      ? `Everything of \`${from}\` is exported here too.`
      : `Also exported, from \`${from}\`: ${some.map(({ name }) => `\`${name}\``).join(", ")}.`,
  );
}
