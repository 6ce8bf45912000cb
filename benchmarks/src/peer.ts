import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/** The peers that are programs of the lab: from which of its folders each is built, and what names one that is there already. */
const peers = {
  "cr-bench": { folder: "cr-bench", variable: "CR_BENCH" },
  "go-gateway": { folder: "gateway", variable: "GO_GATEWAY" },
} as const;

/**
 * A program to measure against: the one that its variable names (`CR_BENCH`, `GO_GATEWAY`), else the one that was built before, else built now
 * from the lab's sources (`WINDLASS_LAB`, else beside the repository).
 *
 * @throws Error that says which of these to provide.
 */
export async function findPeer(name: keyof typeof peers = "cr-bench"): Promise<string> {
  const { folder: source, variable } = peers[name];
  const given = process.env[variable];
  if (given) return given;
  const folder = join(root, ".windlass", "peers");
  const built = join(folder, name);
  if (await exists(built)) return built;
  const sources = process.env.WINDLASS_LAB
    ? join(process.env.WINDLASS_LAB, "..", "peers")
    : join(root, "..", "shared", "lab", "peers");
  if (!(await exists(sources)))
    throw new Error(`${name} is missing: set ${variable} to the program, or put its sources in ${sources}`);
  await mkdir(folder, { recursive: true });
  try {
    await run("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", built, `./${source}`], {
      cwd: sources,
      env: { ...process.env, CGO_ENABLED: "0" },
    });
  } catch (error) {
    throw new Error(
      `${name} could not be built from ${sources}; set ${variable} to a program that is there`,
      {
        cause: error,
      },
    );
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
