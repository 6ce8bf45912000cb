import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/**
 * The files of the repository and the files of the same repository that each of them imports, by
 * their paths from the root.
 */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const importPattern =
  /^(?:import|export)\b[^;"=(]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

/** What a module imports: for values or types, at its top, within a function, or within a type. */
export function importsIn(text: string): string[] {
  return [...text.matchAll(importPattern)].map(([, from, bare, lazy]) => from ?? bare ?? lazy ?? "");
}

/** Reads every module of packages, operators, tests, benchmarks and scripts. */
export async function readImportGraph(root: string): Promise<ImportGraph> {
  const graph = new Map<string, readonly string[]>();
  for await (const name of glob("{packages,operators,tests,benchmarks,scripts}/**/*.ts", {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist|templates)$/.test(path),
  })) {
    const file = name.replaceAll("\\", "/");
    const text = await readFile(join(root, file), "utf8");
    const targets = importsIn(text)
      .filter((what) => what.startsWith("."))
      .map((what) => relative(root, join(root, dirname(file), what)).replaceAll("\\", "/"))
      .filter((target) => existsSync(join(root, target)));
    graph.set(file, [...new Set(targets)]);
  }
  return graph;
}

/**
 * The groups of files that import one another in a circle, each sorted by name: the strongly
 * connected components of more than one file, by Tarjan's algorithm.
 */
export function cyclesIn(graph: ImportGraph): string[][] {
  const cycles: string[][] = [];
  const indexes = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();

  function visit(file: string): number {
    const index = indexes.size;
    indexes.set(file, index);
    stack.push(file);
    onStack.add(file);
    let low = index;
    for (const target of graph.get(file) ?? []) {
      if (!indexes.has(target)) low = Math.min(low, visit(target));
      else if (onStack.has(target)) low = Math.min(low, indexes.get(target) ?? low);
    }
    lowest.set(file, low);
    if (low === index) {
      const group = stack.splice(stack.indexOf(file));
      for (const member of group) onStack.delete(member);
      if (group.length > 1 || (graph.get(file) ?? []).includes(file)) cycles.push(group.toSorted());
    }
    return low;
  }
  for (const file of graph.keys()) if (!indexes.has(file)) visit(file);
  return cycles;
}
