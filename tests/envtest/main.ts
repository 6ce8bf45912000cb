/**
 * Runs others' test suites, unchanged, on the real kube-apiserver and etcd and on those that `npx
 * windlass-control-plane assets` prints where the package is installed, outside of this repository:
 * each test must have the same result on both. The suites are compiled from the Go module proxy the
 * first time, which takes some minutes.
 *
 *     KUBEBUILDER_ASSETS=… node tests/envtest/main.ts [part of a suite's name]
 *
 * KUBEBUILDER_ASSETS has the real programs. What it showed last, with both times, is in
 * last-result.json.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { homedir, loadavg } from "node:os";
import { join } from "node:path";
import { buildPackages } from "../../scripts/packaging/build.ts";
import { sourcePackages } from "../../scripts/packaging/source-packages.ts";
import { packTarballs } from "../../scripts/packaging/tarballs.ts";
import { type Newcomer, newcomer } from "../packages/newcomer.ts";
import { endLeftovers } from "./leftovers.ts";
import { known, projects } from "./projects.ts";
import { type Compiled, compile, fetchProject, type Outcome, runSuite } from "./suite-run.ts";

/** How many tests ended how on one of the servers. */
interface States {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface Row {
  readonly suite: string;
  readonly tests: number;
  /** How many passed on both. */
  readonly passed: number;
  readonly real: States;
  readonly ours: States;
  readonly realSeconds: number;
  readonly oursSeconds: number;
  readonly known: readonly string[];
  readonly differing: readonly string[];
}

const real = process.env.KUBEBUILDER_ASSETS;
if (real === undefined) throw new Error("KUBEBUILDER_ASSETS must name the folder of the real programs");
const wanted = process.argv[2] ?? "";
const work = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "windlass", "envtest-suites");

// Those of runs that were killed.
endLeftovers();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    endLeftovers();
    process.exit(1);
  });
}
const packages = await sourcePackages();
await buildPackages(packages);
await using user = await newcomer(await packTarballs(packages, join(work, "packages")));
const ours = await installedAssets(user);
const rows: Row[] = [];
for (const project of projects) {
  const chosen = project.suites.filter(({ folder }) => `${project.module}/${folder}`.includes(wanted));
  if (chosen.length === 0) continue;
  const sources = await fetchProject(project, work);
  for (const suite of chosen) {
    const row = await compared(`${project.module}/${suite.folder}`, await compile(sources, suite), real);
    rows.push(row);
    process.stdout.write(`${rowText(row)}\n`);
  }
}

const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
const differing = sum((row) => row.differing.length);
process.stdout.write(
  `envtest: ${sum(({ tests }) => tests)} tests, ${sum(({ passed }) => passed)} passed on both, ${differing} differ, ` +
    `${sum((row) => row.known.length)} known to; real ${Math.round(sum((row) => row.realSeconds))} s, ours ${Math.round(sum((row) => row.oursSeconds))} s\n`,
);
if (wanted === "") {
  const result = { load: loadavg().map((load) => Math.round(load * 10) / 10), rows };
  await writeFile(join(import.meta.dirname, "last-result.json"), `${JSON.stringify(result, undefined, 2)}\n`);
}
if (differing > 0 || rows.length === 0) process.exitCode = 1;

/** Installs the control plane where nothing else is. @returns the folder of its programs */
async function installedAssets({ home, run }: Newcomer): Promise<string> {
  const folder = join(home, "project");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), "{}");
  await run(folder, "npm", "install", "@windlass/control-plane");
  const { output } = await run(folder, "npx", "windlass-control-plane", "assets");
  return output.trim();
}

/**
 * Both results. Where they differ, both run once more: a suite that waits for things may fail on a
 * busy machine.
 */
async function compared(name: string, suite: Compiled, realAssets: string): Promise<Row> {
  let [theirs, own] = [await runSuite(suite, realAssets), await runSuite(suite, ours)];
  if (differences(theirs, own).some((test) => !isKnown(test))) {
    [theirs, own] = [await runSuite(suite, realAssets), await runSuite(suite, ours)];
  }
  const found = differences(theirs, own);
  const unknown = found.filter((test) => !isKnown(test));
  if (unknown.length > 0) await writeFile(`${suite.program}.log`, own.log);
  const round = (seconds: number) => Math.round(seconds * 10) / 10;
  return {
    suite: name,
    tests: theirs.states.size,
    passed: [...theirs.states].filter(
      ([test, state]) => /pass/i.test(state) && own.states.get(test) === state,
    ).length,
    real: statesOf(theirs),
    ours: statesOf(own),
    realSeconds: round(theirs.seconds),
    oursSeconds: round(own.seconds),
    known: found.filter(isKnown),
    differing: unknown.map(
      (test) => `${test}: real ${theirs.states.get(test)}, ours ${own.states.get(test)}`,
    ),
  };
}

function differences(theirs: Outcome, own: Outcome): string[] {
  if (theirs.states.size === 0) return ["no test was run"];
  const tests = new Set([...theirs.states.keys(), ...own.states.keys()]);
  return [...tests].filter((test) => theirs.states.get(test) !== own.states.get(test));
}

function statesOf({ states }: Outcome): States {
  const count = (wanted: RegExp) => [...states.values()].filter((state) => wanted.test(state)).length;
  const [passed, skipped] = [count(/^pass/i), count(/^(skip|pending)/i)];
  return { passed, failed: states.size - passed - skipped, skipped };
}

function isKnown(test: string): boolean {
  return Object.hasOwn(known, test);
}

function rowText({ suite, tests, passed, realSeconds, oursSeconds, differing }: Row): string {
  const lines = differing.map((line) => `\n    ${line}`);
  return `${suite}: ${passed} of ${tests} passed on both, real ${realSeconds} s, ours ${oursSeconds} s${lines.join("")}`;
}
