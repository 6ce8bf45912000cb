import { readFileSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { importsIn, readImportGraph } from "./import-graph.ts";

const root = join(import.meta.dirname, "..");
const graph = await readImportGraph(root);

const isSource = (file: string) => /^(packages|operators)\/[^/]+\/src\//.test(file);
/** Tests, what supports them, and the folders that hold nothing else. */
const isForTests = (file: string) =>
  /\.(test|fixture)\.ts$/.test(file) || /^(tests|benchmarks)\/|\/(test|testing)\//.test(file);
/**
 * Tests and fixtures among the sources. `runtime/src/testing` is for the tests of users, so it is
 * product.
 */
const isFixture = (file: string) => /\.(test|fixture)\.ts$/.test(file);

/**
 * Where a user, a container or a generator begins: exported modules, programs, threads and the
 * scripts of a package, and what records Kubernetes.
 */
async function entries(): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const manifest of glob("{packages,operators}/*/package.json", { cwd: root })) {
    const { exports = {} } = JSON.parse(readFileSync(join(root, manifest), "utf8")) as {
      readonly exports?: Readonly<Record<string, string>>;
    };
    for (const path of Object.values(exports)) found.add(join(dirname(manifest), path));
  }
  for (const file of graph.keys())
    if (
      /\/src\/(.*[/-])?(main|thread|worker)\.ts$|^(packages|operators)\/[^/]+\/scripts\/|^scripts\/record-kubernetes\.ts$/.test(
        file,
      )
    )
      found.add(file);
  return found;
}

function reachableFrom(files: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  const open = [...files];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    open.push(...(graph.get(file) ?? []));
  }
  return reached;
}

test("only tests and their support import test support", () => {
  const wrong = [...graph].flatMap(([file, targets]) =>
    isForTests(file) ? [] : targets.filter(isFixture).map((target) => `${file} imports ${target}`),
  );
  expect(wrong).toEqual([]);
});

test("only tests and their support use the tools of tests", async () => {
  const wrong: string[] = [];
  for (const file of graph.keys()) {
    if (!isSource(file) || isFixture(file)) continue;
    const tools = importsIn(await readFile(join(root, file), "utf8")).filter((what) =>
      /^(vitest|fast-check)(\/|$)/.test(what),
    );
    wrong.push(...tools.map((tool) => `${file} imports ${tool}`));
  }
  expect(wrong, "call it *.fixture.ts").toEqual([]);
});

test("every source that is not test support is reached from an export, a program or a generator", async () => {
  const reached = reachableFrom(await entries());
  const unreached = [...graph.keys()].filter(
    (file) => isSource(file) && !isFixture(file) && !reached.has(file),
  );
  expect(unreached, "call it *.fixture.ts, or remove it").toEqual([]);
});

/** Programs that a test starts by their path. */
function startedBy(test: string): readonly string[] {
  const named = readFileSync(join(root, test), "utf8").matchAll(/"([\w./-]+\.fixture\.ts)"/g);
  return [...named].map(([, path = ""]) => join(dirname(test), path)).filter((path) => graph.has(path));
}

test("every fixture is used by a test", () => {
  const tests = [...graph.keys()].filter((file) => /\.test\.ts$|^(tests|benchmarks)\//.test(file));
  const reached = reachableFrom([...tests, ...tests.flatMap(startedBy)]);
  const unused = [...graph.keys()].filter((file) => file.endsWith(".fixture.ts") && !reached.has(file));
  expect(unused).toEqual([]);
});
