import { join } from "node:path";
import { expect, test } from "vitest";
import { cyclesIn, type ImportGraph, importsIn, readImportGraph } from "./import-graph.ts";

/** Cycles that are known and to be broken, by one of their files. */
const known: readonly string[] = [];

test("imports are found at the top, of types, without names and within functions", () => {
  const text = [
    'import { a } from "./a.ts";',
    'import type {\n  B,\n  C,\n} from "./b.ts";',
    'export * from "./c.ts";',
    'import "./d.ts";',
    'const load = async () => await import("./e.ts");',
    'type F = import("./f.ts").F;',
    'const text = "from ./g.ts";',
  ].join("\n");
  expect(importsIn(text)).toEqual(["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"]);
});

test("a cycle is found whole, and its importers are not part of it", () => {
  const graph: ImportGraph = new Map([
    ["entry", ["a", "leaf"]],
    ["a", ["b"]],
    ["b", ["c", "leaf"]],
    ["c", ["a"]],
    ["self", ["self"]],
    ["leaf", []],
  ]);
  expect(cyclesIn(graph)).toEqual([["a", "b", "c"], ["self"]]);
});

test("no files import one another in a circle, not even for types", async () => {
  const graph = await readImportGraph(join(import.meta.dirname, ".."));
  expect(graph.size).toBeGreaterThan(1_000);
  const cycles = cyclesIn(graph);
  const unknown = cycles.filter((cycle) => !cycle.some((file) => known.includes(file)));
  expect(unknown, "put what both need into a file below them").toEqual([]);
  const broken = known.filter((file) => !cycles.some((cycle) => cycle.includes(file)));
  expect(broken, "to be taken off the list").toEqual([]);
});
