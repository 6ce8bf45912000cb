import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { CommandError, type Terminal } from "@windlass/cli";
import { z } from "zod";
import type { AllocationAnswer, AllocationFolder } from "./allocation-files.ts";

/** A worker to build on. */
export interface BuildNode {
  readonly folder: AllocationFolder;
  readonly address: string;
  /** What it is to build for. @default whatever it can */
  readonly platform: string | undefined;
}

/** What a program is to build with. */
export interface ToBuild {
  readonly args: readonly string[];
  /** The pool's backends, if they are to be used. */
  readonly cache: AllocationAnswer["cacheOptions"];
}

/** A program that builds. */
export interface BuildTool {
  /** Whether it can build on several workers at once, each for a platform. */
  readonly takesNodes: boolean;
  /** @throws CommandError with the program's exit code. */
  build(nodes: readonly [BuildNode, ...BuildNode[]], toBuild: ToBuild, terminal: Terminal): Promise<void>;
}

/** Options of both programs that say where cache is. */
const cacheFlags = {
  buildctl: { import: "--import-cache", export: "--export-cache" },
  buildx: { import: "--cache-from", export: "--cache-to" },
} as const;

/** The arguments of a build, with the pool's cache unless they say where theirs is. */
function withCache({ args, cache }: ToBuild, flags: (typeof cacheFlags)[keyof typeof cacheFlags]): string[] {
  const names = Object.values(flags);
  const isOwn = args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)));
  if (!cache || isOwn) return [...args];
  const read = cache.import.flatMap((one) => [flags.import, one]);
  const written = cache.export.flatMap((one) => [flags.export, one]);
  return [...read, ...written, ...args];
}

const buildctl: BuildTool = {
  takesNodes: false,
  build: ([{ folder, address }], toBuild, terminal) => {
    const args = withCache(toBuild, cacheFlags.buildctl);
    return run("buildctl", ["--addr", address, "--tlsdir", folder.path, "build", ...args], terminal);
  },
};

/** How buildx is called: as docker's plugin, or by itself. Undefined if it is not installed. */
async function buildxCommand(env: Terminal["env"]): Promise<readonly [string, ...string[]] | undefined> {
  if (await isInstalled("docker", env)) return ["docker", "buildx"];
  return (await isInstalled("buildx", env)) ? ["buildx"] : undefined;
}

const buildx: BuildTool = {
  takesNodes: true,
  async build(nodes, toBuild, terminal) {
    const name = `windlass-${crypto.randomUUID().slice(0, 8)}`;
    const [program, ...first] = (await buildxCommand(terminal.env)) ?? ["docker", "buildx"];
    const call = (wanted: readonly string[], on = terminal) => run(program, [...first, ...wanted], on);
    const add = ({ folder, address, platform }: BuildNode, own: readonly string[]) => {
      const driver = `cacert=${folder.ca},cert=${folder.certificate},key=${folder.key}`;
      const isFor = platform === undefined ? [] : ["--platform", platform];
      const to = ["--driver", "remote", "--driver-opt", driver, ...isFor, address];
      return call(["create", "--name", name, ...own, ...to]);
    };
    const [node, ...others] = nodes;
    await add(node, []);
    try {
      for (const other of others) await add(other, ["--append"]);
      await call(["build", "--builder", name, ...withCache(toBuild, cacheFlags.buildx)]);
    } finally {
      // Also after Ctrl-C: the builder names files that are gone by then.
      await call(["rm", "--force", name], { ...terminal, signal: new AbortController().signal });
    }
  },
};

/** The program of a name, or one that is installed. @throws CommandError. */
export async function toolFor(wanted: string | undefined, { env }: Terminal): Promise<BuildTool> {
  if (wanted === "buildctl") return buildctl;
  if (wanted === "buildx") return buildx;
  if (wanted !== undefined)
    throw new CommandError(`--with: ${wanted} must be buildctl or buildx`, { exitCode: 2 });
  if (await isInstalled("buildctl", env)) return buildctl;
  if (await buildxCommand(env)) return buildx;
  throw new CommandError("none of buildctl, docker and buildx is installed: install one of them");
}

/** Whether a program is on the path. */
export async function isInstalled(name: string, env: Terminal["env"]): Promise<boolean> {
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const isThere = await access(join(folder, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

/**
 * The build's log as buildkitd keeps it, on this terminal.
 *
 * @param ref Of the build. @default the one that began last
 * @throws CommandError.
 */
export async function showLogs(
  { folder, address }: Pick<BuildNode, "folder" | "address">,
  ref: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const debug = ["--addr", address, "--tlsdir", folder.path, "debug"];
  const wanted = ref ?? (await lastBuild(debug, terminal));
  if (wanted === undefined) throw new CommandError("nothing was built on this worker yet");
  await run("buildctl", [...debug, "logs", "--progress", "plain", wanted], terminal);
}

const record = z.object({
  record: z.object({
    Ref: z.string(),
    CreatedAt: z.object({ seconds: z.number(), nanos: z.number().default(0) }),
  }),
});

async function lastBuild(debug: readonly string[], terminal: Terminal): Promise<string | undefined> {
  const text = await output("buildctl", [...debug, "histories", "--format", "{{json .}}"], terminal);
  const records = text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .flatMap((line) => record.safeParse(JSON.parse(line)).data?.record ?? []);
  const startOf = ({ CreatedAt }: (typeof records)[number]) => CreatedAt.seconds + CreatedAt.nanos / 1e9;
  return records.toSorted((a, b) => startOf(b) - startOf(a))[0]?.Ref;
}

/** What a program prints. @throws CommandError. */
async function output(
  program: string,
  args: readonly string[],
  { env, folder, signal }: Terminal,
): Promise<string> {
  const child = spawn(program, args, { cwd: folder, env, signal, stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (code === 0) return Buffer.concat(chunks).toString("utf8");
    throw new CommandError(`${program} ended with ${code ?? "a signal"}`, { exitCode: code ?? 1 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CommandError(`${program} is not installed, or not on the PATH`, { cause: error });
  }
}

/** Runs a program on this terminal. @throws CommandError with its exit code. */
async function run(
  program: string,
  args: readonly string[],
  { env, folder, signal }: Terminal,
): Promise<void> {
  signal.throwIfAborted();
  const child: ChildProcess = spawn(program, args, { cwd: folder, env, stdio: "inherit" });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    signal.throwIfAborted();
    if (code !== 0)
      throw new CommandError(`${program} ended with ${code ?? "a signal"}`, { exitCode: code ?? 1 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CommandError(`${program} is not installed, or not on the PATH`, { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
