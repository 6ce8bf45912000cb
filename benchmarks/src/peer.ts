import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/**
 * The program that measures controller-runtime as these benchmarks measure Windlass: `CR_BENCH`, else the one that was built before, else built
 * now from the lab's sources (`WINDLASS_LAB`, else beside the repository).
 *
 * @throws Error that says which of these to provide.
 */
export async function findPeer(): Promise<string> {
  if (process.env.CR_BENCH) return process.env.CR_BENCH;
  const folder = join(root, ".windlass", "peers");
  const built = join(folder, "cr-bench");
  if (await exists(built)) return built;
  const sources = process.env.WINDLASS_LAB
    ? join(process.env.WINDLASS_LAB, "..", "peers")
    : join(root, "..", "shared", "lab", "peers");
  if (!(await exists(sources)))
    throw new Error(
      `cr-bench is not to be had: set CR_BENCH to the program, or put its sources in ${sources}`,
    );
  await mkdir(folder, { recursive: true });
  try {
    await run("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", built, "./cr-bench"], {
      cwd: sources,
      env: { ...process.env, CGO_ENABLED: "0" },
    });
  } catch (error) {
    throw new Error(`cr-bench could not be built from ${sources}; set CR_BENCH to a program that is there`, {
      cause: error,
    });
  }
  return built;
}

/** Runs the peer once. @returns the JSON object that it prints. */
export async function runPeer(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(program, args, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

/** The middle one of some measurements. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
