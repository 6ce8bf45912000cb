import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { diff } from "node:util";
import { writeWhole } from "../whole-file.ts";
import { chartFiles } from "./chart.ts";
import { type GeneratedFiles, kustomizeFiles } from "./kustomize.ts";
import type { Operator } from "./resolve.ts";
import { notice } from "./yaml.ts";

/** All that is generated for an operator, by its path in the operator's folder. */
export function generatedFiles(operator: Operator): GeneratedFiles {
  return new Map([...kustomizeFiles(operator), ...chartFiles(operator)]);
}

/** Folders that may hold files which were generated once and no longer are. */
const folders = ["config", "chart"];

/** How a file differs from what would be generated. */
export type Stale =
  | { readonly path: string; readonly is: "missing" }
  | { readonly path: string; readonly is: "left over" }
  | { readonly path: string; readonly is: "outdated"; readonly added: number; readonly removed: number };

/** The files of a folder that are not what would be generated, by their path. */
export async function staleFiles(folder: string, files: GeneratedFiles): Promise<readonly Stale[]> {
  const stale: Stale[] = [];
  for (const [path, text] of files) {
    const present = await readIfThere(join(folder, path));
    if (present === undefined) stale.push({ path, is: "missing" });
    else if (present !== text) stale.push({ path, is: "outdated", ...countChanges(present, text) });
  }
  for (const path of await generatedIn(folder)) if (!files.has(path)) stale.push({ path, is: "left over" });
  return stale.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Makes a folder's files what is generated. What was generated once and no longer is goes.
 *
 * @returns what it changed
 */
export async function writeFiles(folder: string, files: GeneratedFiles): Promise<readonly Stale[]> {
  const stale = await staleFiles(folder, files);
  for (const { path, is } of stale) {
    const file = join(folder, path);
    if (is === "left over") {
      await rm(file);
      continue;
    }
    await writeWhole(file, files.get(path) ?? "");
  }
  return stale;
}

function countChanges(from: string, to: string): { readonly added: number; readonly removed: number } {
  // Of what `diff` returns, 1 is only in the first, -1 only in the second.
  const changes = diff(from.split("\n"), to.split("\n"));
  const count = (operation: number) => changes.filter(([one]) => one === operation).length;
  return { added: count(-1), removed: count(1) };
}

/** Files that say of themselves that they were generated. */
async function generatedIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const root of folders) {
    const paths = await readdir(join(folder, root), { recursive: true }).catch(noneWithout);
    for (const path of paths.filter((one) => one.endsWith(".yaml")))
      if ((await readFile(join(folder, root, path), "utf8")).startsWith(notice)) found.push(join(root, path));
  }
  return found;
}

async function readIfThere(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

function noneWithout(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
