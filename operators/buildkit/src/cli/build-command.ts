import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Command, CommandError, command, type Terminal } from "@windlass/cli";
import { sleep, systemClock } from "@windlass/clock";
import { type AllocationFolder, allocationSchema, TemporaryFolder } from "./allocation-files.ts";
import { type ApiClient, RefusedCallError } from "./api-client.ts";
import { addressOf, allocate, allocateOptions, connectionOptions, openApi, poolOptions } from "./session.ts";

/** Builds on a worker of its own. */
export const buildCommand: Command = command({
  name: "build",
  summary: "build on a worker, and give it back",
  description: `
Gets a worker, runs buildctl build or docker buildx build on it with the arguments after --, and gives the
worker back. The key is in a folder that only you may read, and is removed whichever way it ends.
Long builds keep their worker: the allocation is renewed while they run.`,
  arguments: { usage: "[-- ARGUMENTS …]", completion: "files" },
  options: {
    ...poolOptions,
    with: {
      type: "string",
      value: "TOOL",
      describe: "buildctl or buildx",
      otherwise: "buildctl if it is installed",
      completion: ["buildctl", "buildx"],
    },
    ...allocateOptions,
    ...connectionOptions,
  },
  examples: [
    {
      line: "windlass-buildkit build --pool ci -- --frontend dockerfile.v0 --local context=. --local dockerfile=.",
      what: "with buildctl",
    },
    {
      line: "windlass-buildkit build --pool ci --with buildx -- -t registry/app:1 --push .",
      what: "with docker buildx",
    },
  ],
  async run({ options, arguments: args }, terminal) {
    const tool = await toolFor(options.with, terminal);
    await using api = await openApi(options, terminal);
    await releaseLeftovers(api, terminal);
    await using temporary = await TemporaryFolder.make(terminal.env);
    const { folder } = temporary;
    const allocation = await allocate(api, options, terminal);
    try {
      const address = addressOf(allocation, options);
      await folder.write(allocation, address);
      const done = new AbortController();
      const renewing = keepRenewing(
        api,
        folder,
        allocation.expiresAt,
        AbortSignal.any([done.signal, terminal.signal]),
        terminal,
      );
      try {
        await tool(folder, address, args, terminal);
      } finally {
        done.abort();
        await renewing;
      }
    } finally {
      await release(api, (await folder.read().catch(() => allocation)).token, terminal);
    }
  },
});

type Tool = (
  folder: AllocationFolder,
  address: string,
  args: readonly string[],
  terminal: Terminal,
) => Promise<void>;

const buildctl: Tool = (folder, address, args, terminal) =>
  run("buildctl", ["--addr", address, "--tlsdir", folder.path, "build", ...args], terminal);

/** How buildx is called: as docker's plugin, or by itself. Undefined if it is not installed. */
async function buildxCommand(env: Terminal["env"]): Promise<readonly [string, ...string[]] | undefined> {
  if (await isInstalled("docker", env)) return ["docker", "buildx"];
  return (await isInstalled("buildx", env)) ? ["buildx"] : undefined;
}

const buildx: Tool = async (folder, address, args, terminal) => {
  const name = `windlass-${crypto.randomUUID().slice(0, 8)}`;
  const driver = `cacert=${folder.ca},cert=${folder.certificate},key=${folder.key}`;
  const [program, ...first] = (await buildxCommand(terminal.env)) ?? ["docker", "buildx"];
  const call = (wanted: readonly string[], on = terminal) => run(program, [...first, ...wanted], on);
  await call(["create", "--name", name, "--driver", "remote", "--driver-opt", driver, address]);
  try {
    await call(["build", "--builder", name, ...args]);
  } finally {
    // Also after Ctrl-C: the builder names files that are gone by then.
    await call(["rm", "--force", name], { ...terminal, signal: new AbortController().signal });
  }
};

async function toolFor(wanted: string | undefined, { env }: Terminal): Promise<Tool> {
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

/**
 * Renews an allocation each time that half of what is left is over. A failure is told, and tried
 * again.
 */
async function keepRenewing(
  api: ApiClient,
  folder: AllocationFolder,
  expiresAt: string,
  signal: AbortSignal,
  { stderr }: Terminal,
): Promise<void> {
  let end = Date.parse(expiresAt);
  while (!signal.aborted) {
    try {
      await sleep(systemClock, Math.max(1_000, (end - Date.now()) / 2), signal);
      const { token, address } = await folder.read();
      const { body } = await api.call("POST", "/api/v1/workers/renew", { token });
      const renewed = allocationSchema.parse(body);
      await folder.write(renewed, address);
      end = Date.parse(renewed.expiresAt);
    } catch (error) {
      if (signal.aborted) return;
      stderr.write(
        `the allocation could not be renewed: ${error instanceof Error ? error.message : String(error)}\n`,
      );
      // What has lasted as long as it may ends when it ends.
      if (error instanceof RefusedCallError && error.code === "LifetimeExceeded") return;
    }
  }
}

/**
 * Gives a worker back. A worker that cannot be given back ends with its lifetime: that is no reason
 * to fail a build.
 */
async function release(api: ApiClient, token: string, { stderr }: Terminal): Promise<void> {
  try {
    await api.detached().call("POST", "/api/v1/workers/release", { token });
  } catch (error) {
    stderr.write(
      `the worker could not be released: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}

async function releaseLeftovers(api: ApiClient, terminal: Terminal): Promise<void> {
  for (const { token, workerName } of await TemporaryFolder.takeLeftovers(terminal.env)) {
    terminal.stderr.write(`a build that was killed has left ${workerName} behind: releasing it\n`);
    await release(api, token, terminal);
  }
}
