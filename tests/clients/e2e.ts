/**
 * Runs Kubernetes' own end-to-end tests on the embedded control plane, as far as they need no
 * containers: 25 to 45 min.
 *
 *     E2E_TEST=… node tests/clients/e2e.ts [FOCUS | --on-real]
 *
 * E2E_TEST is the program that `e2e/README.md` tells how to build. FOCUS, a regular expression,
 * runs only what it matches. What a run of everything showed is kept in e2e/last-result.json; with
 * `--on-real`, what failed in it is run on the cluster of KUBECONFIG: what fails there as well is
 * no fault of the control plane.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Pod } from "@windlass/kinds/builtin";
import { ControlPlane } from "../../packages/control-plane/src/control-plane.ts";
import { focusOn, type Outcome, outcomeOf } from "./e2e/report.ts";
import { excluded, wanted } from "./e2e/specs.ts";
import { findProgram, mustRun, run, skip } from "./program.ts";

/**
 * Specs that want nodes for themselves wait a minute for what runs on every node of a cluster, each
 * time. This is all of it, by its name.
 */
const systemPod = [
  "run",
  "kube-proxy-fluentd-elasticsearch-node-problem-detector",
  "--namespace=kube-system",
  "--image=registry.k8s.io/pause",
];

const program = (await findProgram("e2e.test", "E2E_TEST")) ?? skip("there is no e2e.test");
const kubectl = (await findProgram("kubectl", "KUBECTL")) ?? skip("there is no kubectl");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { "on-real": { type: "boolean" } },
});
const [focus] = positionals;
const kept = join(import.meta.dirname, "e2e/last-result.json");
const folder = await mkdtemp(join(tmpdir(), "clients-e2e-"));
try {
  await (values["on-real"] ? testReal() : testEmbedded());
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** What is kept of a run of everything. */
interface KeptResults {
  readonly started: string;
  readonly commit: string;
  readonly passed: number;
  readonly run: number;
  /** How many of those that passed are part of Kubernetes' conformance. */
  readonly conformance: number;
  readonly seconds: number;
  /** Why it proves nothing. */
  readonly faults: readonly string[];
  readonly failed: readonly string[];
  /** Those that did not pass on a real cluster either; absent until it was tried. */
  readonly failedOnRealToo?: readonly string[];
  readonly skipped: readonly string[];
  readonly passedSpecs: readonly string[];
}

async function testEmbedded(): Promise<void> {
  const started = new Date().toISOString();
  const outcome = await onEmbedded();
  tell(outcome);
  const { passed, conformance, failed, skipped, seconds, faults } = outcome;
  if (faults.length > 0 || failed.length > 0) process.exitCode = 1;
  if (focus !== undefined) return;
  await keep({
    started,
    commit: commit(),
    passed: passed.length,
    run: passed.length + failed.length,
    conformance,
    seconds,
    faults,
    failed: failed.map(({ name }) => name),
    skipped,
    passedSpecs: passed.toSorted(),
  });
}

async function testReal(): Promise<void> {
  const { KUBECONFIG: kubeconfig } = process.env;
  if (kubeconfig === undefined) throw new Error("KUBECONFIG must name the real cluster");
  const last = JSON.parse(await readFile(kept, "utf8")) as KeptResults;
  const asked = [...last.failed, ...(last.failedOnRealToo ?? [])];
  const outcome = asked.length === 0 ? undefined : await runOn(kubeconfig, focusOn(asked));
  if (outcome) tell(outcome);
  const isGood = (name: string) => outcome?.passed.includes(name) === true;
  const ours = asked.filter(isGood);
  await keep({ ...last, failed: ours, failedOnRealToo: asked.filter((name) => !isGood(name)) });
  process.stdout.write(`${ours.length} of ${asked.length} that failed pass on the real cluster\n`);
  if (last.faults.length > 0 || ours.length > 0) process.exitCode = 1;
}

function tell({ passed, conformance, failed, skipped, seconds, faults }: Outcome): void {
  for (const { name, state, message } of failed) process.stdout.write(`${state}: ${name}\n  ${message}\n`);
  for (const fault of faults) process.stdout.write(`no proof: ${fault}\n`);
  const runs = passed.length + failed.length;
  process.stdout.write(
    `e2e: ${passed.length} of ${runs} passed in ${seconds} s, ${conformance} of them for conformance; ${skipped.length} left themselves out\n`,
  );
}

async function keep(result: KeptResults): Promise<void> {
  await writeFile(kept, `${JSON.stringify(result, undefined, 2)}\n`);
}

async function onEmbedded(): Promise<Outcome> {
  await using plane = await ControlPlane.start();
  teach(plane);
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await plane.kubeconfig());
  await mustRun(kubectl, [`--kubeconfig=${kubeconfig}`, ...systemPod]);
  return await runOn(kubeconfig, focus ?? wanted.join("|"));
}

async function runOn(kubeconfig: string, focused: string): Promise<Outcome> {
  const report = join(folder, "report.json");
  await rm(report, { force: true });
  const { output } = await run(program, [
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    "--ginkgo.no-color",
    "--ginkgo.timeout=3h",
    `--ginkgo.json-report=${report}`,
    `--ginkgo.focus=${focused}`,
    `--ginkgo.skip=${Object.values(excluded).flat().join("|")}`,
  ]);
  const text = await readFile(report, "utf8").catch(() => "");
  if (text === "") process.stdout.write(`e2e.test left no report:\n${output.slice(-2_000)}\n`);
  return outcomeOf(text);
}

/** What was tested: the commit, and whether anything has changed since. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--", "../../packages") === "" ? "" : ", with changes";
  return `${git("rev-parse", "HEAD")}${changed}`;
}

/** What images and commands of the specs do. All other pods run, and those of Jobs succeed. */
function teach({ node }: ControlPlane): void {
  node.missingImages("webserver:404");
  const contains =
    (part: string) =>
    ({ spec }: Pod) =>
      JSON.stringify(spec).includes(part);
  node.on(contains("/pause:"), "run");
  node.on(contains('"exit 1"'), "fail");
}
