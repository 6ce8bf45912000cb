import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..", "..", "..");
const checks = await readFile(join(import.meta.dirname, "..", "testing", "CHECKS.md"), "utf8");
const rows = checks.split("\n").filter((line) => /^\| [AF]\d+ \|/.test(line));
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** What a row is about: `A1` of a check, `F1` of a feature. */
function rowNames(letter: "A" | "F"): readonly string[] {
  return rows.map((row) => row.split("|")[1]?.trim() ?? "").filter((name) => name.startsWith(letter));
}

test("every check has its row, and every feature", () => {
  expect(rowNames("A")).toEqual(numbers(48).map((number) => `A${number}`));
  expect(rowNames("F")).toEqual(numbers(23).map((number) => `F${number}`));
});

test("every check is one of a feature", () => {
  const named = rows
    .filter((row) => row.startsWith("| F"))
    .flatMap((row) => (row.split("|").at(-2) ?? "").split(","))
    .flatMap((range) => {
      const [first = 0, last = first] = [...range.matchAll(/A(\d+)/g)].map(([, number]) => Number(number));
      return numbers(last).slice(first - 1);
    });
  expect(named).toEqual(numbers(48));
});

test("every file that a check names is there", () => {
  const named = [...checks.matchAll(/`([\w/.-]+)`/g)].map(([, name = ""]) => name);
  const tests = named.filter((name) => name.endsWith(".test.ts"));
  const labFiles = named
    .filter((name) => name.startsWith("buildkit-"))
    .map((name) => `tests/lab/${name}.test.ts`);
  expect(tests.length).toBeGreaterThan(30);
  expect(labFiles.length).toBeGreaterThan(20);
  const isThere = (name: string) =>
    existsSync(join(import.meta.dirname, name)) || existsSync(join(root, name));
  expect([...tests, ...labFiles].filter((name) => !isThere(name))).toEqual([]);
});
