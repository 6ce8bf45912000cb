/**
 * `npm run test:lab [-- NAME]`: the suites that need a real control plane or the lab's cluster. Starts and stops what it needs.
 *
 * NAME is one of `api` (the API suite on a real kube-apiserver), `chaos` (a manager through every kind of bad weather, on a real etcd
 * and kube-apiserver of its own), `cluster` (end to end on the lab's cluster), `scale` (a thousand objects on a real control plane with
 * simulated nodes), `newcomer` (the packages as they are published: a new operator is created, tested, bundled and installed), `differential` (the same requests on the embedded server and on a real one, compared), `differential-cluster`
 * (what controllers make of the same manifests, and what kubectl prints, on the embedded control plane and on the lab's cluster), `fuzz` (requests that make no
 * sense: where the embedded server fails, the real one must too), `clients` (client-go, kube-rs, Python, JavaScript and helm, which must see the same on both; those whose tools are
 * missing are left out).
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { collect } from "../tests/differential/tally.ts";
import { run, runVitest, type Tally } from "./steps.ts";

const root = join(import.meta.dirname, "..");
const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");
const scaleTests = "tests/lab/*-scale.test.ts";
const newcomerTest = "tests/lab/newcomer.test.ts";
const { positionals } = parseArgs({ allowPositionals: true });

const suites: { readonly [name: string]: () => Promise<Tally> } = {
  api,
  differential,
  "differential-cluster": differentialCluster,
  fuzz,
  clients,
  chaos,
  cluster,
  scale,
  newcomer,
};
const wanted = positionals.length > 0 ? positionals : Object.keys(suites);
for (const name of wanted) {
  if (!Object.hasOwn(suites, name)) {
    process.stderr.write(`there is no suite ${name}; there are: ${Object.keys(suites).join(", ")}\n`);
    process.exit(2);
  }
}
if (!existsSync(lab)) {
  process.stderr.write(`the lab is not at ${lab}: set WINDLASS_LAB to its program\n`);
  process.exit(2);
}

let passed = 0;
let failed = 0;
for (const name of wanted) {
  process.stdout.write(`\n== ${name}\n`);
  const tally = await (suites[name] as () => Promise<Tally>)();
  passed += tally.passed;
  failed += tally.failed;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

/** The same API suite that runs on the embedded control plane, on a bare real one. */
async function api(): Promise<Tally> {
  const { KUBECONFIG: _kubeconfig, ...environment } = process.env;
  return await runVitest(["tests/api"], { ...environment, KUBEBUILDER_ASSETS: assets() });
}

/** A program with its arguments. */
type Comparison = readonly [program: string, ...args: string[]];

/** Everything that is compared with a bare API server, of which there is one for all. */
async function differential(): Promise<Tally> {
  const { startBinaries } = await import("@windlass/testing");
  const real = await startBinaries(assets(), { requireServiceAccounts: true });
  try {
    const kubeconfig = await real.kubeconfig();
    return await compare(kubeconfig, [
      ["http/compare.ts", "--kubeconfig", kubeconfig, "--count", "300"],
      ["builtin/main.ts"],
      ["merge/main.ts", "1", "6", "6", "8"],
      ["rbac/compare.ts", "--kubeconfig", kubeconfig],
      ["admission/main.ts", "--kubeconfig", kubeconfig, "--host", "127.0.0.1"],
      ["crd/definitions.ts"],
      ["crd/cel.ts"],
      ["crd/patterns.ts", "1"],
      ["crd/schemas.ts", "8", "30", "1"],
      ["crd/updates.ts"],
    ]);
  } finally {
    await real.close();
  }
}

/** What takes controllers and nodes to compare. */
async function differentialCluster(): Promise<Tally> {
  return await onCluster([], async ({ KUBECONFIG: kubeconfig = "", PATH: path }) =>
    compare(kubeconfig, [["controllers/main.ts"], ["kubectl/compare.ts", "--kubeconfig", kubeconfig]], path),
  );
}

async function fuzz(): Promise<Tally> {
  const { startBinaries } = await import("@windlass/testing");
  const real = await startBinaries(assets(), { requireServiceAccounts: true });
  try {
    const args = ["--seeds", "1,2,3", "--kubeconfig", await real.kubeconfig()];
    return await tallyOf([[join(root, "tests/fuzz/api-server.ts"), ...args]], process.env);
  } finally {
    await real.close();
  }
}

async function clients(): Promise<Tally> {
  const names = ["client-check", "kube-rs", "python", "javascript", "helm"];
  const programs = names.map((name) => [join(root, "tests/clients", `${name}.ts`)] as const);
  return await onCluster([], (environment) => tallyOf(programs, environment));
}

/** Runs programs one after the other. Those that end with 0 have passed. */
async function tallyOf(programs: readonly Comparison[], environment: NodeJS.ProcessEnv): Promise<Tally> {
  let passed = 0;
  let failed = 0;
  for (const program of programs) {
    if (await run(process.execPath, [...program], environment)) passed++;
    else {
      failed++;
      process.stdout.write(`FAILED  ${program[0]}\n`);
    }
  }
  return { passed, failed };
}

/** Each comparison is a program of its own, which ends with 1 where the servers differ in a way that is not listed as known. */
async function compare(
  kubeconfig: string,
  comparisons: readonly Comparison[],
  path = process.env.PATH,
): Promise<Tally> {
  const programs = comparisons.map(
    ([program, ...args]) => [join(root, "tests/differential", program), ...args] as const,
  );
  let tally: Tally = { passed: 0, failed: 0 };
  const summary = await collect(async (environment) => {
    tally = await tallyOf(programs, { ...environment, KUBECONFIG: kubeconfig, PATH: path });
  });
  process.stdout.write(`\n${summary}\n`);
  return tally;
}

/** Kills, cuts, stalls and faults. What it showed last is in tests/chaos/last-result.json. */
async function chaos(): Promise<Tally> {
  const { KUBECONFIG: _kubeconfig, ...environment } = process.env;
  return await runVitest(["--config", "vitest.chaos.config.ts"], {
    ...environment,
    KUBEBUILDER_ASSETS: assets(),
  });
}

/** The suites of tests/lab, on a fresh cluster. */
async function cluster(): Promise<Tally> {
  return await onCluster([], async (environment) => {
    execFileSync(join(lab, "..", "images"), ["nginx"], { stdio: "inherit" });
    const others = ["--exclude", scaleTests, "--exclude", newcomerTest];
    return await runVitest(["--config", "vitest.lab.config.ts", ...others], environment);
  });
}

/** What needs room for a thousand pods, which then run nothing. */
async function scale(): Promise<Tally> {
  return await onCluster(["--simulated", "20"], (environment) =>
    runVitest(["--config", "vitest.lab.config.ts", "webapp-scale"], environment),
  );
}

/** From the packages as they are published to an operator that runs in a cluster. */
async function newcomer(): Promise<Tally> {
  return await onCluster([], (environment) =>
    runVitest(["--config", "vitest.newcomer.config.ts"], environment),
  );
}

/** Runs tests on a cluster that nobody used before, and takes it down. */
async function onCluster(
  flags: readonly string[],
  work: (environment: NodeJS.ProcessEnv) => Promise<Tally>,
): Promise<Tally> {
  const bin = assets();
  execFileSync(lab, ["down"], { stdio: "inherit" });
  const kubeconfig = execFileSync(lab, ["up", ...flags], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
  try {
    return await work({ ...process.env, KUBECONFIG: kubeconfig, PATH: `${bin}:${process.env.PATH}` });
  } finally {
    execFileSync(lab, ["down"], { stdio: "inherit" });
  }
}

function assets(): string {
  return execFileSync(lab, ["assets"], { encoding: "utf8" }).trim();
}
