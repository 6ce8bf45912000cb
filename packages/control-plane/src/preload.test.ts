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
  expect(await readFile(join(root, "preload.ts"), "utf8")).toContain('() => loadControllers("all")');
  // What declarations of kinds load are their controllers.
  const isDeclaration = (file: string) =>
    /^builtin\/(?:[\w-]+\/index|[\w-]+)\.ts$/.test(file) || file === "controllers/index.ts";
  const used = (await Promise.all(files.filter((file) => !isDeclaration(file)).map(lazilyLoaded))).flat();
  const missing = used.filter((name) => name !== "preload.ts" && !preloaded.has(name));
  expect(missing, "to be added to preload.ts").toEqual([]);
});
