import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface StepCounts {
  readonly passed: number;
  readonly failed: number;
  /** What left itself out, for want of what it needs. @default none */
  readonly skipped?: readonly string[];
}

/** What a program ends with that has left itself out, as with automake. */
export const skippedCode = 77;

/** What a run came to, for its last line. */
export function resultLine({ passed, failed, skipped = [] }: StepCounts): string {
  const lines = skipped.map((what) => `skipped: ${what}\n`);
  const left = skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
  return `${lines.join("")}${passed} passed, ${failed} failed${left}\n`;
}

/**
 * Runs a program of node_modules/.bin with this terminal as its own. @returns whether it ended well
 */
export async function run(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  return (await codeOf(program, args, environment)) === 0;
}

/** As {@link run}. @returns what the program ended with; null for a signal */
export function codeOf(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", env: environment });
    child.once("error", reject);
    child.once("exit", resolve);
  });
}

/** Runs checks one after the other, all of them even if one fails. */
export async function runSteps(
  steps: readonly (readonly [name: string, program: string, args: readonly string[]])[],
): Promise<StepCounts> {
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
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Runs vitest, and counts. A file that cannot be loaded is a failure too. */
export async function runVitest(
  args: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<StepCounts> {
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
    const skipped = report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === "skipped" || status === "pending")
      .map(({ fullName }) => fullName);
    return { passed: report.numPassedTests, failed, skipped };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
