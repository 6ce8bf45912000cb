import { spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { skippedCode } from "../../scripts/steps.ts";

/** What a program left behind. */
export interface Ended {
  readonly code: number | null;
  /** Both streams, in the order they came. */
  readonly output: string;
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env } });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
    child.stdin.end();
  });
}

/** Runs a program that must succeed. @returns its output */
export async function mustRun(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { code, output } = await run(program, args, env);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${output}`);
  return output;
}

/** Where a program is: what the variable names, or what PATH holds; undefined if nowhere. */
export async function findProgram(name: string, variable: string): Promise<string | undefined> {
  const named = process.env[variable];
  const places =
    named === undefined ? (process.env.PATH ?? "").split(delimiter).map((at) => join(at, name)) : [named];
  for (const place of places) {
    const isThere = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return place;
  }
  return undefined;
}

/** Says that a client is not there, which is neither a success nor a failure. */
export function skip(what: string): never {
  process.stdout.write(`skipped: ${what}\n`);
  process.exit(skippedCode);
}
