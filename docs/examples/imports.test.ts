import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What a project has that `npm create windlass` made. */
const template = new URL("../../packages/cli/templates/operator/package.json", import.meta.url);
const { dependencies, devDependencies } = JSON.parse(readFileSync(template, "utf8"));
const declared = new Set(Object.keys({ ...dependencies, ...devDependencies }));

/** The runner of these tests; a created project has `node:test`, which needs no package. */
const runner = "vitest";

/** Examples of other packages, which their readers install first. */
const others: Readonly<Record<string, readonly string[]>> = {
  "bakery.test.ts": ["fast-check"],
  "control-plane.test.ts": ["@windlass/control-plane"],
  "cron-job.ts": ["croner"],
  "errors.test.ts": ["@windlass/client"],
  "fault-injection.test.ts": ["@windlass/clock", "@windlass/control-plane"],
  "main.test.ts": ["@windlass/control-plane"],
  "packages.test.ts": [
    "@windlass/certificates",
    "@windlass/client",
    "@windlass/clock",
    "@windlass/control-plane",
    "@windlass/kinds",
    "@windlass/relay",
  ],
};

function packagesIn(code: string): readonly string[] {
  const modules = [...code.matchAll(/(?:from|import) "([^".][^"]*)"/g)].map(([, name = ""]) => name);
  const names = modules
    .filter((name) => !name.startsWith("node:"))
    .map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].toSorted();
}

const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".ts"));

test.for(files)("%s imports what a created project declares", (file) => {
  const code = readFileSync(new URL(file, import.meta.url), "utf8");
  const undeclared = packagesIn(code).filter((name) => name !== runner && !declared.has(name));
  expect(undeclared).toEqual(others[file] ?? []);
});
