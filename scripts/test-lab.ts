/**
 * `npm run test:lab [-- NAME …]`: the suites that need a real control plane or the lab's cluster.
 * Starts and stops what it needs.
 *
 * | NAME | what it runs |
 * |---|---|
 * | `api` | the API suite on a real kube-apiserver, and what of Elasti needs no more than that |
 * | `cluster` | WebApp and webhooks, end to end on the lab's cluster |
 * | `buildkit` | BuildKit pools, with real buildkitd, buildctl and buildx |
 * | `elasti` | services that sleep and wake under traffic; some minutes |
 * | `elasti-full` | the same with 50 cycles each; about an hour, so only when it is asked for |
 * | `buildbarn` | real Buildbarn, resharded under load, and real Bazel |
 * | `newcomer` | the packages as they are published: a new operator is created, tested, bundled and installed |
 * | `scale` | a thousand objects on a real control plane with simulated nodes |
 * | `chaos` | a manager whose etcd and kube-apiserver are killed, cut off and stalled |
 * | `differential` | the same requests on the embedded server and on a real one, compared |
 * | `differential-cluster` | what controllers make of the same manifests, and what kubectl prints, on both |
 * | `properties` | every property test, with random seeds, for PROPERTY_SECONDS (4, and up to 40) each; those of `tests/api` on a real API server too: some twenty minutes |
 * | `faults` | the data file, with each of its system calls failing or killing the process in turn; needs strace |
 * | `fuzz` | invalid requests, which may fail only where they fail on a real server; and the largest ones, which may not block the event loop |
 * | `clients` | client-go, kube-rs, Python, JavaScript, Java and helm, which must see the same on both; those whose tools are missing are left out |
 * | `e2e` | Kubernetes' own end-to-end tests that need no containers; what fails is run on the lab's cluster then. Half an hour, and ten minutes to build them, so only when it is asked for |
 * | `envtest` | other projects' own suites, in Go, on the programs of `windlass-control-plane assets` and on the real ones |
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { collect } from "../tests/differential/tally.ts";
import { codeOf, resultLine, run, runVitest, type StepCounts, skippedCode } from "./steps.ts";

const root = join(import.meta.dirname, "..");
const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");
const scaleTests = "tests/lab/*-scale.test.ts";
const newcomerTest = "tests/lab/newcomer.test.ts";
const buildkitTests = "tests/lab/buildkit*.test.ts";
const elastiTests = "tests/lab/elasti*.test.ts";
const buildbarnTests = "tests/lab/buildbarn*.test.ts";
const { positionals } = parseArgs({ allowPositionals: true });

const suites: { readonly [name: string]: () => Promise<StepCounts> } = {
  api,
  differential,
  "differential-cluster": differentialCluster,
  properties,
  faults,
  fuzz,
  clients,
  e2e,
  envtest,
  chaos,
  cluster,
  scale,
  buildkit,
  elasti,
  "elasti-full": elastiFull,
  buildbarn,
  newcomer,
};
/** They can do without the lab's cluster and its programs. */
const withoutLab = ["properties", "faults"];
/** Run only when they are asked for: they take up to an hour. */
const onlyByName = ["e2e", "elasti-full"];
const wanted =
  positionals.length > 0 ? positionals : Object.keys(suites).filter((name) => !onlyByName.includes(name));
for (const name of wanted) {
  if (!Object.hasOwn(suites, name)) {
    process.stderr.write(`there is no suite ${name}; there are: ${Object.keys(suites).join(", ")}\n`);
    process.exit(2);
  }
}
if (!existsSync(lab) && wanted.some((name) => !withoutLab.includes(name))) {
  process.stderr.write(`the lab is not at ${lab}: set WINDLASS_LAB to its program\n`);
  process.exit(2);
}

let total: StepCounts = { passed: 0, failed: 0 };
for (const name of wanted) {
  process.stdout.write(`\n== ${name}\n`);
  const tally = await (suites[name] as () => Promise<StepCounts>)();
  total = sum(total, tally);
}
process.stdout.write(resultLine(total));
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

function sum(a: StepCounts, b: StepCounts): StepCounts {
  const skipped = [...(a.skipped ?? []), ...(b.skipped ?? [])];
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped };
}

/** The same API suite that runs on the embedded control plane, on a bare real one. */
async function api(): Promise<StepCounts> {
  const { KUBECONFIG: _kubeconfig, ...environment } = process.env;
  const elasti = ["token-check", "wake-server", "target-feed"].map(
    (name) => `operators/elasti/src/service/${name}.test.ts`,
  );
  return await runVitest(["tests/api", ...elasti], { ...environment, KUBEBUILDER_ASSETS: assets() });
}

/** A program with its arguments. */
type Comparison = readonly [program: string, ...args: string[]];

/** Everything that is compared with a bare API server, of which there is one for all. */
async function differential(): Promise<StepCounts> {
  const { startBinaries } = await import("@windlass/testing");
  const real = await startBinaries(assets(), { requireServiceAccounts: true });
  try {
    const kubeconfig = await real.kubeconfig();
    return await compare(kubeconfig, [
      ["http/compare.ts", "--kubeconfig", kubeconfig, "--count", "300"],
      ["wire/compare.ts", "--kubeconfig", kubeconfig],
      ["pages/compare.ts", "--kubeconfig", kubeconfig],
      ["builtin/main.ts"],
      ["merge/main.ts", "1", "6", "6", "8"],
      ["rbac/compare.ts", "--kubeconfig", kubeconfig],
      ["certificates/compare.ts", "--assets", assets()],
      ["admission/main.ts", "--kubeconfig", kubeconfig, "--host", "127.0.0.1"],
      ["admission/transport.ts"],
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
async function differentialCluster(): Promise<StepCounts> {
  return await onCluster([], async ({ KUBECONFIG: kubeconfig = "", PATH: path }) =>
    compare(kubeconfig, [["controllers/main.ts"], ["kubectl/compare.ts", "--kubeconfig", kubeconfig]], path),
  );
}

/** What `npm test` tries for a moment, for longer; and then, of a server, on a real one too. */
async function properties(): Promise<StepCounts> {
  const { KUBECONFIG: _kubeconfig, KUBEBUILDER_ASSETS: _assets, ...environment } = process.env;
  const config = ["--config", "vitest.properties.config.ts"];
  const embedded = await runVitest(config, environment);
  if (!existsSync(lab)) {
    process.stdout.write(`those of a server ran on the embedded one alone: the lab is not at ${lab}\n`);
    return embedded;
  }
  process.stdout.write("\n== properties, on a real API server\n");
  const real = await runVitest([...config, "tests/api"], { ...environment, KUBEBUILDER_ASSETS: assets() });
  return { passed: embedded.passed + real.passed, failed: embedded.failed + real.failed };
}

/** What `npm test` tries at one call in so many. */
async function faults(): Promise<StepCounts> {
  const environment = { ...process.env, FAULT_STRIDE: "1" };
  const tests = "packages/control-plane/src/storage/data-file.faults.test.ts";
  const tally = await runVitest([tests], environment);
  // Without strace next to nothing is tried.
  return { ...tally, failed: tally.failed + (tally.skipped ?? []).length };
}

async function fuzz(): Promise<StepCounts> {
  const { startBinaries } = await import("@windlass/testing");
  const real = await startBinaries(assets(), { requireServiceAccounts: true });
  try {
    const args = ["--seeds", "1,2,3", "--kubeconfig", await real.kubeconfig()];
    const programs: readonly Comparison[] = [
      [join(root, "tests/fuzz/api-server.ts"), ...args],
      // The aim is 100 ms. The CPU time of a thread goes up by half where other work shares its
      // core.
      [join(root, "tests/fuzz/time.ts"), "--most", "150"],
    ];
    return await tallyOf(programs, process.env);
  } finally {
    await real.close();
  }
}

async function clients(): Promise<StepCounts> {
  const names = ["client-check", "kube-rs", "python", "javascript", "java", "helm"];
  const programs = names.map((name) => [join(root, "tests/clients", `${name}.ts`)] as const);
  return await onCluster([], (environment) => tallyOf(programs, environment));
}

/** The program is built where it is not named. */
async function e2e(): Promise<StepCounts> {
  const program = process.env.E2E_TEST ?? (await builtE2e());
  const tests = join(root, "tests/clients/e2e.ts");
  const { KUBECONFIG: _kubeconfig, ...own } = process.env;
  const path = `${assets()}:${process.env.PATH}`;
  const code = await codeOf(process.execPath, [tests], { ...own, PATH: path, E2E_TEST: program });
  if (code === 0) return { passed: 1, failed: 0 };
  return await onCluster([], (environment) =>
    tallyOf([[tests, "--on-real"]], { ...environment, E2E_TEST: program }),
  );
}

async function builtE2e(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const program = join(cache, "windlass", "e2e.test");
  const sources = join(root, "tests/clients/e2e");
  if (!(await run("go", ["-C", sources, "build", "-o", program, "."])))
    throw new Error("the end-to-end tests cannot be built");
  return program;
}

async function envtest(): Promise<StepCounts> {
  const environment = { ...process.env, KUBEBUILDER_ASSETS: assets() };
  return await tallyOf([[join(root, "tests/envtest/main.ts")]], environment);
}

/**
 * Runs programs one after the other. Those that end with 0 have passed, unless they were left out.
 */
async function tallyOf(programs: readonly Comparison[], environment: NodeJS.ProcessEnv): Promise<StepCounts> {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  for (const program of programs) {
    const code = await codeOf(process.execPath, [...program], environment);
    const name = relative(root, program[0]);
    if (code === 0) passed++;
    else if (code === skippedCode) skipped.push(name);
    else {
      failed++;
      process.stdout.write(`FAILED  ${name}\n`);
    }
  }
  return { passed, failed, skipped };
}

/**
 * Each comparison is a program of its own, which ends with 1 where the servers differ in a way that
 * is not listed as known.
 */
async function compare(
  kubeconfig: string,
  comparisons: readonly Comparison[],
  path = process.env.PATH,
): Promise<StepCounts> {
  const programs = comparisons.map(
    ([program, ...args]) => [join(root, "tests/differential", program), ...args] as const,
  );
  let tally: StepCounts = { passed: 0, failed: 0 };
  const summary = await collect(async (environment) => {
    tally = await tallyOf(programs, { ...environment, KUBECONFIG: kubeconfig, PATH: path });
  });
  process.stdout.write(`\n${summary}\n`);
  return tally;
}

/** Kills, cuts, stalls and faults. What it showed last is in tests/chaos/last-result.json. */
async function chaos(): Promise<StepCounts> {
  const { KUBECONFIG: _kubeconfig, ...environment } = process.env;
  return await runVitest(["--config", "vitest.chaos.config.ts"], {
    ...environment,
    KUBEBUILDER_ASSETS: assets(),
  });
}

/** The suites of tests/lab, on a fresh cluster. */
async function cluster(): Promise<StepCounts> {
  return await onCluster([], async (environment) => {
    execFileSync(join(lab, "..", "images"), ["nginx"], { stdio: "inherit" });
    const others = [scaleTests, newcomerTest, buildkitTests, elastiTests, buildbarnTests].flatMap((tests) => [
      "--exclude",
      tests,
    ]);
    return await runVitest(["--config", "vitest.lab.config.ts", ...others], environment);
  });
}

/** What needs room for a thousand pods, which then run nothing. */
async function scale(): Promise<StepCounts> {
  return await onCluster(["--simulated", "20"], (environment) =>
    runVitest(["--config", "vitest.lab.config.ts", "webapp-scale"], environment),
  );
}

/**
 * Pools of real workers. Their images take minutes the first time on a machine, longer than a test
 * may prepare itself.
 */
async function buildkit(): Promise<StepCounts> {
  return await onCluster([], (environment) => {
    execFileSync(join(lab, "..", "images"), ["buildkit"], { stdio: "inherit", env: environment });
    return runVitest(["--config", "vitest.lab.config.ts", "tests/lab/buildkit"], environment);
  });
}

/**
 * The operator and the resolver in pods, with kube-proxy between them and their clients. The suite
 * makes their image.
 */
async function elasti(): Promise<StepCounts> {
  return await onCluster([], (environment) => {
    execFileSync(join(lab, "..", "images"), ["prometheus"], { stdio: "inherit", env: environment });
    return runVitest(["--config", "vitest.lab.config.ts", "tests/lab/elasti"], environment);
  });
}

/** As many cycles as it takes to trust it. */
async function elastiFull(): Promise<StepCounts> {
  process.env.ELASTI_CYCLES = "50";
  return await elasti();
}

/** Sets of real Buildbarn, and builds by real Bazel. The suite loads the images that it needs. */
async function buildbarn(): Promise<StepCounts> {
  return await onCluster([], (environment) =>
    runVitest(["--config", "vitest.lab.config.ts", "tests/lab/buildbarn"], environment),
  );
}

/** From the packages as they are published to an operator that runs in a cluster. */
async function newcomer(): Promise<StepCounts> {
  return await onCluster([], (environment) =>
    runVitest(["--config", "vitest.newcomer.config.ts"], environment),
  );
}

/** Runs tests on a fresh cluster, and deletes it. */
async function onCluster(
  flags: readonly string[],
  work: (environment: NodeJS.ProcessEnv) => Promise<StepCounts>,
): Promise<StepCounts> {
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
