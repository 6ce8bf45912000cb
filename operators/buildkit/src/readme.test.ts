import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operator } from "../windlass.config.ts";
import { apiRoutes } from "./api/runnable.ts";
import type { Service } from "./api/service.ts";
import { windlassBuildkit } from "./cli/program.ts";

const readme = await readFile(join(import.meta.dirname, "..", "README.md"), "utf8");

/** What a pattern finds in the sources, tests left out. */
async function inSources(pattern: RegExp, files = "**/*.ts"): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const file of glob(files, { cwd: import.meta.dirname })) {
    if (/\.(test|fixture)\.ts$/.test(file)) continue;
    const text = await readFile(join(import.meta.dirname, file), "utf8");
    for (const [, word = ""] of text.matchAll(pattern)) found.add(word);
  }
  return [...found].toSorted();
}

const missing = (words: readonly string[]) => words.filter((word) => !readme.includes(`${word}`));

test("the README names every route of the API", () => {
  const routes = apiRoutes({ options: {} } as unknown as Service);
  expect(missing(routes.map(({ method, path }) => `${method} ${path}`))).toEqual([]);
});

test("the README names every command and every variable of the command line", () => {
  expect(missing(windlassBuildkit.commands.map(({ name }) => `\`${name}\``))).toEqual([]);
  const variables = (windlassBuildkit.environment ?? []).flatMap(([names]) => names.split(", "));
  expect(missing(variables)).toEqual([]);
});

test("the README names every metric", async () => {
  const metrics = await inSources(/name: "(buildkit_\w+)"/g);
  expect(metrics.length).toBeGreaterThan(20);
  expect(missing(metrics.map((name) => `\`${name}`))).toEqual([]);
});

test("alerts and graphs are about metrics that exist", async () => {
  const metrics = new Set(await inSources(/name: "(buildkit_\w+)"/g));
  const expressions = [
    ...(operator.alerts ?? []).map(({ expr }) => expr("labels")),
    ...(operator.panels ?? []).flatMap(({ queries }) => queries.map(({ expr }) => expr("labels"))),
  ];
  for (const expression of expressions) {
    const names = [...expression.matchAll(/\b(buildkit_\w+)/g)].map(([, name = ""]) =>
      name.replace(/_bucket$/, ""),
    );
    expect(names, expression).not.toEqual([]);
    expect(names.filter((name) => !metrics.has(name))).toEqual([]);
  }
});

test("the runbook has every reason of a condition, of a worker and of a provider", async () => {
  const reasons = [
    ...(await inSources(/condition\(\s*"\w+",\s*[^,]+,\s*(?:\w+ \? )?"([A-Z]\w+)"/g)),
    ...(await inSources(/reason: "([A-Z]\w+)"/g, "{worker,pool,oidc}/*.ts")),
    ...(await inSources(/\b(?:failed\(seen, |is\(|ReconcileError\(\s*|DiscoveryError\(\s*)"([A-Z]\w+)"/g)),
  ];
  expect(reasons.length).toBeGreaterThan(20);
  expect(missing(reasons.map((reason) => `\`${reason}\``))).toEqual([]);
});

test("the runbook has everything that clients receive", async () => {
  const codes = [
    ...(await inSources(/new Problem\(\s*\d+,\s*"([A-Z]\w+)"/g)),
    ...(await inSources(/^ {2}\| "([A-Z]\w+)"/gm, "allocation/errors.ts")),
    ...(await inSources(/(?:notFound|unavailable)\(\s*"([A-Z]\w+)"/g)),
    ...(await inSources(/status: "(\w+)",\n\s+code: "[A-Z_]+"/g, "gateway/refusal.ts")),
  ];
  expect(codes.length).toBeGreaterThan(25);
  expect(missing(codes.map((code) => `\`${code}\``))).toEqual([]);
});
