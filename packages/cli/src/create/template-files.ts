import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/**
 * The files of the template by their path in it. In the published package this module is replaced
 * by one that contains the files: npm leaves out some of them, such as `.gitignore`.
 */
export async function templateFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = join(import.meta.dirname, "..", "..", "templates", "operator");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));
  return new Map(
    await Promise.all(
      paths
        .toSorted()
        .map(async (path): Promise<[string, string]> => [path, await readFile(join(folder, path), "utf8")]),
    ),
  );
}
