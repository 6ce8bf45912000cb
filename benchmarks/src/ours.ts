import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");
const built = new Map<string, Promise<string>>();

/**
 * Bundles a program of ours with all that it uses, as an operator is shipped. @returns the file to
 * run
 */
export function bundle(input: string, name: string): Promise<string> {
  let file = built.get(name);
  if (!file) {
    file = build(input, name);
    built.set(name, file);
  }
  return file;
}

async function build(input: string, name: string): Promise<string> {
  const folder = join(root, ".windlass", "benchmarks", name);
  await using program = await rolldown({ input: { main: input }, platform: "node", logLevel: "silent" });
  await program.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  return join(folder, "main.mjs");
}

/**
 * Runs one of our own programs once, in a process of its own, as an operator would run: bundled, in
 * production mode. `--expose-gc` is there to measure memory after a collection, as the peer does.
 *
 * @returns the JSON object that it prints.
 */
export async function runOurs(script: string, input: object): Promise<unknown> {
  const file = await bundle(join(import.meta.dirname, script), script.replace(/\.ts$/, ""));
  return runNode(["--expose-gc", file, JSON.stringify(input)], { NODE_ENV: "production" });
}

/** Runs Node once. @returns the JSON object that the program prints. */
export async function runNode(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<unknown> {
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
  const { stdout } = await run(process.execPath, args, {
    maxBuffer: 1 << 24,
    env: { ...inherited, ...environment },
  });
  return JSON.parse(stdout);
}
