import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** Runs a program of node_modules/.bin with this terminal as its own. @returns whether it ended well */
export function run(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: environment });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0));
  });
}

/** Runs checks one after the other, all of them even if one fails. */
export async function runSteps(
  steps: readonly (readonly [name: string, program: string, args: readonly string[]])[],
): Promise<Tally> {
  let passed = 0;
  let failed = 0;
  for (const [name, program, args] of steps) {
    const began = performance.now();
    const good = await run(program, args);
    process.stdout.write(
      `${good ? "ok" : "FAILED"}  ${name} (${Math.round(performance.now() - began)} ms)\n`,
    );
    if (good) passed++;
    else failed++;
  }
  return { passed, failed };
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
}

/** Runs vitest, and counts. A file that cannot be loaded is a failure too. */
export async function runVitest(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "windlass-test-"));
  const file = join(folder, "report.json");
  try {
    const good = await run(
      "vitest",
      ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`, ...args],
      environment,
    );
    const report = JSON.parse(await readFile(file, "utf8")) as Report;
    const failed =
      report.numFailedTests > 0 ? report.numFailedTests : good ? 0 : Math.max(1, report.numFailedTestSuites);
    return { passed: report.numPassedTests, failed };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
