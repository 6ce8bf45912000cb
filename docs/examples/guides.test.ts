import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const docs = new URL("../", import.meta.url);
const readAll = (folder: string, extension: string) =>
  readdirSync(new URL(folder, docs))
    .filter((file) => file.endsWith(extension))
    .map((file) => ({
      file: `${folder}${file}`,
      text: readFileSync(new URL(`${folder}${file}`, docs), "utf8"),
    }));

const examples = readAll("examples/", ".ts").map(({ text }) => taken(text));
const packages = readdirSync(new URL("../packages/", docs));
const pages = [
  ...readAll("../", ".md"),
  ...readAll("", ".md"),
  ...readAll("guides/", ".md"),
  ...readAll("reference/", ".md"),
  ...readAll("design/", ".md"),
  ...packages.flatMap((name) => readAll(`../packages/${name}/`, ".md")),
];

/** However it is indented and broken into lines. */
function closed(code: string): string {
  return code.replaceAll(/\s+/g, "");
}

/** Code without its imports, and what those bring in: each name with the module it is from. */
function taken(code: string): { readonly rest: string; readonly names: ReadonlySet<string> } {
  const imports = /^import \{([^}]*)\} from ("[^"]+");$/gm;
  const names = [...code.matchAll(imports)].flatMap(([, list = "", from = ""]) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "")
      .map((name) => `${name} from ${from}`),
  );
  return { rest: closed(code.replaceAll(imports, "")), names: new Set(names) };
}

function isShown(code: string): boolean {
  const { rest, names } = taken(code);
  return examples.some(
    (example) => example.rest.includes(rest) && [...names].every((name) => example.names.has(name)),
  );
}

test.for(pages)("all code in $file is that of an example, which is type-checked and runs", ({ text }) => {
  const blocks = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  expect(blocks.filter((code) => !isShown(code))).toEqual([]);
});

test("every package says on a page what it is, with an example", () => {
  const shown = pages.filter(({ text }) => /```(?:ts|sh)\n/.test(text)).map(({ file }) => file);
  expect(packages.filter((name) => !shown.includes(`../packages/${name}/README.md`))).toEqual([]);
});

test("the tests that keep the promises are there", () => {
  const { text = "" } = pages.find(({ file }) => file === "design/promises.md") ?? {};
  const [introduction = "", ...sections] = text.split(/^## /m);
  const places = sections.flatMap((section) => {
    // A section may have a folder of its own.
    const [, folder = ""] =
      /Paths are within `([^`]+)`/.exec(section) ?? /Paths are within `([^`]+)`/.exec(introduction) ?? [];
    const paths = [...section.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = ""]) => path);
    return paths.map((path) =>
      /^(?:tests|docs|scripts|benchmarks|operators|packages)\//.test(path)
        ? `../${path}`
        : `../${folder}${path}`,
    );
  });
  expect(places.length).toBeGreaterThan(50);
  expect(places.filter((place) => !existsSync(new URL(place, docs)))).toEqual([]);
});

test("every promise names what keeps it", () => {
  const { text = "" } = pages.find(({ file }) => file === "design/promises.md") ?? {};
  const tables = text.split(/^\| promise \| tests \|\n\|---\|---\|\n/m).slice(1);
  const rows = tables.flatMap((table) => /^(?:\|.*\n)*/.exec(table)?.[0].trimEnd().split("\n") ?? []);
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((row) => !/\| [^|]*`[\w./-]+\.ts`[^|]* \|$/.test(row))).toEqual([]);
});

test.for(pages)("all links in $file lead somewhere", ({ file, text }) => {
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !existsSync(new URL(link, new URL(file, docs))))).toEqual([]);
});
