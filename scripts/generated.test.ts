import { glob } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generatedFiles, staleFiles } from "../packages/cli/src/generate/files.ts";
import { loadOperator } from "../packages/cli/src/generate/load.ts";

const root = join(import.meta.dirname, "..");
const declared = (await Array.fromAsync(glob("operators/*/windlass.config.ts", { cwd: root }))).toSorted();

test.for(declared)("what installs an operator is what its code says: %s", async (file) => {
  const path = join(root, file);
  expect(await staleFiles(join(path, ".."), generatedFiles(await loadOperator(path)))).toEqual([]);
});
