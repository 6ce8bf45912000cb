import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { goTypes } from "@windlass/kinds/go-types";
import { recordedKinds, recordedSchemas } from "@windlass/kinds/recorded";
import { expect, test } from "vitest";
import { generatedFiles, staleFiles } from "../packages/cli/src/generate/files.ts";
import { loadOperator } from "../packages/cli/src/generate/load.ts";
import { jsonLines } from "./kubernetes/text.ts";
import { typeModules } from "./kubernetes/types.ts";

const root = join(import.meta.dirname, "..");
const operators = await readdir(join(root, "operators"));

test.for(operators)("what installs an operator is what its code says: %s", async (name) => {
  const path = join(root, "operators", name, "windlass.config.ts");
  expect(await staleFiles(join(path, ".."), generatedFiles(await loadOperator(path)))).toEqual([]);
});

const kinds = join(root, "packages", "kinds", "src");

test("types of Kubernetes' kinds are what was recorded of the server", async () => {
  const ids = (await readdir(join(kinds, "recorded", "schemas"))).map((file) => file.replace(".json", ""));
  const schemas = new Map(ids.sort().map((id) => [id, recordedSchemas(id)]));
  const modules = typeModules({ kinds: recordedKinds(), schemas, goTypes });
  expect(modules.map(({ name }) => `${name}.ts`).sort()).toEqual(
    (await readdir(join(kinds, "generated"))).sort(),
  );
  for (const { name, text } of modules)
    expect(await readFile(join(kinds, "generated", `${name}.ts`), "utf8"), name).toBe(text);
});

test("what was recorded is text whose lines show what has changed", async () => {
  const files = (await readdir(join(kinds, "recorded"), { recursive: true })).filter((file) =>
    file.endsWith(".json"),
  );
  expect(files.length).toBeGreaterThan(25);
  for (const file of files) {
    const text = await readFile(join(kinds, "recorded", file), "utf8");
    expect(jsonLines(JSON.parse(text)) === text, file).toBe(true);
  }
});
