import { glob, readFile } from "node:fs/promises";
import { dirname, join, posix, relative } from "node:path";
import { expect, test } from "vitest";

const root = import.meta.dirname;

/**
 * The modules that a file loads when it needs them, by their path from the root or their package's
 * name.
 */
async function lazilyLoaded(file: string): Promise<string[]> {
  const text = await readFile(join(root, file), "utf8");
  return [...text.matchAll(/(?<!typeof )\bimport\(\s*"([^"]+)"/g)].map(([, name = ""]) =>
    name.startsWith(".") ? posix.normalize(join(dirname(file), name)) : name,
  );
}

test("preloading loads everything that is otherwise loaded when first needed", async () => {
  const files: string[] = [];
  for await (const file of glob("**/*.ts", { cwd: root })) {
    // The command is a process of its own, preloading loads itself, and fixtures are not shipped.
    if (!/\.(?:test|fixture)\.ts$|^main\.ts$|^preload\.ts$/.test(file))
      files.push(relative(root, join(root, file)));
  }
  const preloaded = new Set(await lazilyLoaded("preload.ts"));
  const used = (await Promise.all(files.map(lazilyLoaded))).flat();
  const missing = used.filter((name) => name !== "preload.ts" && !preloaded.has(name));
  expect(missing, "to be added to preload.ts").toEqual([]);
});
