import { execFile } from "node:child_process";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

/**
 * The peers that are programs of the lab: from which of its folders each is built, and what names
 * one that is there already.
 */
const peers = {
  "cr-bench": { folder: "cr-bench", variable: "CR_BENCH" },
  "go-gateway": { folder: "gateway", variable: "GO_GATEWAY" },
} as const;

const found = new Map<PeerName, Promise<string>>();

type PeerName = keyof typeof peers;

/**
 * A program to measure against: the one that its variable names (`CR_BENCH`, `GO_GATEWAY`), else
 * the one that was built before from the lab's present sources (`WINDLASS_LAB`, else beside the
 * repository), else built from them now, which takes minutes.
 *
 * @throws Error that says which of these to provide.
 */
export function findPeer(name: PeerName = "cr-bench"): Promise<string> {
  let program = found.get(name);
  if (!program) {
    program = find(name);
    found.set(name, program);
  }
  return program;
}

async function find(name: PeerName): Promise<string> {
  const { folder: source, variable } = peers[name];
  const given = process.env[variable];
  if (given) {
    if ((await changedAt(given)) === undefined)
      throw new Error(`${variable} is ${given}, which is not there`);
    return given;
  }
  const folder = join(root, ".windlass", "peers");
  const built = join(folder, name);
  const builtAt = await changedAt(built);
  const sources = process.env.WINDLASS_LAB
    ? join(process.env.WINDLASS_LAB, "..", "peers")
    : join(root, "..", "shared", "lab", "peers");
  const sourcesAt = await lastChangeIn(join(sources, source));
  if (builtAt !== undefined && builtAt >= (sourcesAt ?? 0)) return built;
  if (sourcesAt === undefined)
    throw new Error(`${name} is missing: set ${variable} to the program, or put its sources in ${sources}`);
  await mkdir(folder, { recursive: true });
  try {
    await run("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", built, `./${source}`], {
      cwd: sources,
      env: { ...process.env, CGO_ENABLED: "0" },
    });
  } catch (error) {
    throw new Error(
      `${name} could not be built from ${sources}, which needs Go (${String(error).split("\n", 1)[0]}); set ${variable} to a program that is there`,
      { cause: error },
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

/** When a file last changed, in milliseconds since the epoch; undefined if there is none. */
async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** When a file of a folder last changed; undefined if there is no such folder. */
async function lastChangeIn(folder: string): Promise<number | undefined> {
  if ((await changedAt(folder)) === undefined) return undefined;
  const files = await readdir(folder);
  const times = await Promise.all(files.map((file) => changedAt(join(folder, file))));
  return Math.max(0, ...times.map((time) => time ?? 0));
}
