import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generatedFiles, staleFiles } from "../packages/cli/src/generate/files.ts";
import { loadOperator } from "../packages/cli/src/generate/load.ts";

const root = join(import.meta.dirname, "..");
const operators = await readdir(join(root, "operators"));

test.for(operators)("what installs an operator is what its code says: %s", async (name) => {
  const path = join(root, "operators", name, "windlass.config.ts");
  expect(await staleFiles(join(path, ".."), generatedFiles(await loadOperator(path)))).toEqual([]);
});
