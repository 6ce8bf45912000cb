import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const hatch = /\bas (?:never|any)\b|\bas unknown as\b|<any>/;
const cast = /[\w)\]}"'`>] as (?!const\b)[\w({[]/;

/** Code without its comments, its strings and the names that imports and exports give. */
function bare(code: string): string {
  return code
    .replaceAll(/\/\*.*?\*\/|(?<!:)\/\/[^\n]*$/gms, "")
    .replaceAll(/^(?:import|export) [^;(]*? from "[^"]+";$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replaceAll(/`(?:[^`\\]|\\.)*`/g, codeIn);
}

/** The code within a template. */
function codeIn(template: string): string {
  return [...template.matchAll(/\$\{([^{}]*)\}/g)].map(([, code]) => code).join(";");
}

/** The lines that have something. */
function linesWith(pattern: RegExp, code: string): string[] {
  return bare(code)
    .split("\n")
    .filter((line) => pattern.test(line))
    .map((line) => line.trim());
}

async function found(pattern: RegExp, sources: readonly string[], isMeant: (file: string) => boolean) {
  const lines: string[] = [];
  let files = 0;
  for await (const file of glob(sources, { cwd: root })) {
    if (!isMeant(file)) continue;
    files++;
    for (const line of linesWith(pattern, await readFile(join(root, file), "utf8")))
      lines.push(`${file}: ${line}`);
  }
  expect(files).toBeGreaterThan(20);
  return lines;
}

const isTest = (file: string) => /\.(?:test|fixture)\.ts$/.test(file);

test("a cast is found, and what only looks like one is not", () => {
  const code = 'import { a as b } from "c";\n// Taken as never.\nconst d = "e as F";\nconst g = h as never;';
  expect(linesWith(cast, code)).toEqual(["const g = h as never;"]);
  expect(linesWith(hatch, `${code}\ni(j as unknown as K, "l" as const);`)).toHaveLength(2);
  expect(linesWith(cast, 'const m = ["n"] as const;')).toEqual([]);
});

test("what a newcomer reads has no cast at all: the examples, WebApp and what is created", async () => {
  const sources = ["docs/examples/*.ts", "operators/webapp/src/*.ts", "packages/cli/templates/**/*.ts"];
  expect(await found(cast, sources, (file) => !isTest(file))).toEqual([]);
});

test("no operator turns the compiler off", async () => {
  const sources = ["operators/*/*.ts", "operators/*/{src,testing}/**/*.ts"];
  expect(await found(hatch, sources, (file) => !isTest(file))).toEqual([]);
});

test("nothing is cast to never or any", async () => {
  const sources = ["{docs,tests,operators,benchmarks,scripts}/**/*.ts", "packages/*/src/**/*.ts"];
  const places = await found(
    /\bas (?:never|any)\b|<any>/,
    sources,
    (file) => !file.endsWith("casts.test.ts"),
  );
  expect(places).toEqual([]);
});
