/**
 * `npm run test:lab [-- NAME]`: the suites that need a real control plane or the lab's cluster. Starts and stops what it needs.
 *
 * NAME is one of `api` (the API suite on a real kube-apiserver), `chaos` (a manager through every kind of bad weather, on a real etcd
 * and kube-apiserver of its own), `cluster` (end to end on the lab's cluster), `scale` (a thousand objects on a real control plane with
 * simulated nodes), `differential` (the same requests on the embedded server and on a real one, compared).
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run, runVitest, type Tally } from "./steps.ts";

const root = join(import.meta.dirname, "..");
const lab = process.env.WINDLASS_LAB ?? join(root, "..", "shared", "lab", "lab");
const scaleTests = "tests/lab/*-scale.test.ts";
const { positionals } = parseArgs({ allowPositionals: true });

const suites: { readonly [name: string]: () => Promise<Tally> } = {
  api,
  differential,
  chaos,
  cluster,
  scale,
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

/** Each comparison is a program of its own, which ends with 1 where the servers differ in a way that is not listed as known. */
async function differential(): Promise<Tally> {
  const { startBinaries } = await import("@windlass/testing");
  const real = await startBinaries(assets(), { requireServiceAccounts: true });
  try {
    const kubeconfig = await real.kubeconfig();
    const folder = "tests/differential";
    const programs: readonly (readonly [name: string, ...args: string[]])[] = [
      ["http/compare.ts", "--kubeconfig", kubeconfig, "--count", "60"],
      ["builtin/main.ts"],
      ["merge/main.ts", "1", "3", "6", "8"],
      ["rbac/compare.ts", "--kubeconfig", kubeconfig],
      ["crd/schemas.ts", "8", "30", "1"],
      ["crd/updates.ts"],
    ];
    let passed = 0;
    let failed = 0;
    for (const [name, ...args] of programs) {
      const good = await run(process.execPath, [`${folder}/${name}`, ...args], {
        ...process.env,
        KUBECONFIG: kubeconfig,
      });
      process.stdout.write(`${good ? "ok" : "FAILED"}  ${name}\n`);
      if (good) passed++;
      else failed++;
    }
    return { passed, failed };
  } finally {
    await real.close();
  }
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
    return await runVitest(["--config", "vitest.lab.config.ts", "--exclude", scaleTests], environment);
  });
}

/** What needs room for a thousand pods, which then run nothing. */
async function scale(): Promise<Tally> {
  return await onCluster(["--simulated", "20"], (environment) =>
    runVitest(["--config", "vitest.lab.config.ts", "webapp-scale"], environment),
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
