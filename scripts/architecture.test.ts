import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Walks } from "./walks.fixture.ts";

const root = join(import.meta.dirname, "..");
const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

interface Walk {
  /** The files of the last column: each is passed. A folder stands for all that is in it. */
  readonly steps: readonly string[];
  /** Files that run beside it, now and then. */
  readonly beside: readonly string[];
}

/** Paths in backticks, from the root of the repository. */
function pathsIn(words: string, base: string): string[] {
  const paths = [...words.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, path = ""]) => path);
  return paths.map((path) => (/^(packages|operators)\//.test(path) ? path : `${base}${path}`));
}

function walkOf(heading: string, base: string): Walk {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  const rows = section.split("\n").filter((line) => /^\| (?!step|---)/.test(line));
  return {
    steps: rows.flatMap((row) => pathsIn(row.split("|")[2] ?? "", base)),
    beside: pathsIn(/^Beside it run: .*$/m.exec(section)?.[0] ?? "", base),
  };
}

const eventToWrite = walkOf("From an event to a write", "packages/runtime/src/");
const request = walkOf("A request to the embedded API server", "packages/control-plane/src/");

const names = (walk: Walk, file: string) =>
  [...walk.steps, ...walk.beside].some((path) =>
    path.endsWith("/") ? file.startsWith(path) : file === path,
  );
const isPassed = (passed: readonly string[], path: string) =>
  passed.some((file) => (path.endsWith("/") ? file.startsWith(path) : file === path));

test("both walks name the files that are passed, and no others", { timeout: 120_000 }, async () => {
  const program = join(import.meta.dirname, "walks.fixture.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program], { maxBuffer: 1 << 20 });
  const walks = JSON.parse(stdout) as Walks;
  for (const [walk, passed] of [
    [eventToWrite, walks.eventToWrite],
    [request, walks.request],
  ] as const) {
    expect(passed.length).toBeGreaterThan(50);
    expect(
      passed.filter((file) => !names(walk, file)),
      "passed, and not named in ARCHITECTURE.md",
    ).toEqual([]);
    expect(
      walk.steps.filter((path) => !isPassed(passed, path)),
      "named in ARCHITECTURE.md, and not passed",
    ).toEqual([]);
  }
});

test("every path that is named exists", () => {
  const bases = ["", "packages/runtime/src/", "packages/client/src/", "packages/control-plane/src/"];
  const paths = [...text.matchAll(/`([\w./-]+\.(?:ts|yml|md))`/g)].map(([, path = ""]) => path);
  expect(paths.length).toBeGreaterThan(100);
  const missing = paths.filter((path) => !bases.some((base) => existsSync(join(root, base, path))));
  expect(missing).toEqual([]);
});

test("every package and operator is named, and every folder of those that have many", () => {
  const tree = /```\n(packages\/[\s\S]*?)```/.exec(text)?.[1] ?? "";
  const foldersIn = (path: string) =>
    readdirSync(join(root, path)).filter((name) => statSync(join(root, path, name)).isDirectory());
  const isNamed = (block: string, name: string) => new RegExp(`(^|\\s)${name}/(\\s|$)`, "m").test(block);
  const unnamed = ["packages", "operators"].flatMap((path) =>
    foldersIn(path).filter((name) => !new RegExp(`^  ${name}/`, "m").test(tree)),
  );
  for (const name of ["runtime", "control-plane"]) {
    const block = new RegExp(`^  ${name}/.*\\n( {4}.*\\n)+`, "m").exec(tree)?.[0] ?? "";
    const folders = foldersIn(`packages/${name}/src`);
    unnamed.push(...folders.filter((folder) => !isNamed(block, folder)).map((one) => `${name}/${one}`));
  }
  expect(unnamed).toEqual([]);
});
