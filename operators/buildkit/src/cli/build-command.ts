import { type Command, CommandError, command, type Terminal } from "@windlass/cli";
import { TemporaryFolder } from "./allocation-files.ts";
import type { ApiClient } from "./api-client.ts";
import { type BuildNode, toolFor } from "./build-tools.ts";
import { HeldWorker, release } from "./held-worker.ts";
import {
  addressOf,
  allocate,
  allocateNodes,
  allocateOptions,
  connectionOptions,
  openApi,
  poolOptions,
} from "./session.ts";

/** Builds on a worker of its own. */
export const buildCommand: Command = command({
  name: "build",
  summary: "build on a worker, and give it back",
  description: `
Gets a worker, runs buildctl build or docker buildx build on it with the arguments after --, and gives the
worker back. The key is in a folder that only you may read, and is removed whichever way it ends.
Long builds keep their worker: the allocation is renewed while they run. If the pool has cache backends, the
build reads its project's cache there and writes it, unless the arguments have options for cache of their own.`,
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
    platforms: {
      type: "string",
      value: "LIST",
      describe: "a worker for each, for buildx --platform: linux/amd64,linux/arm64",
      otherwise: "one worker",
    },
    ...allocateOptions,
    "no-cache-backends": { type: "boolean", describe: "leave the pool's cache backends out" },
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
    {
      line: "windlass-buildkit build --platforms linux/amd64,linux/arm64 -- --platform linux/amd64,linux/arm64 --push .",
      what: "natively on two workers at once",
    },
  ],
  async run({ options, arguments: args }, terminal) {
    const platforms = options.platforms?.split(",");
    const tool = await toolFor(platforms ? (options.with ?? "buildx") : options.with, terminal);
    if (platforms && !tool.takesNodes)
      throw new CommandError("--platforms: buildctl builds on one worker: take --with buildx", {
        exitCode: 2,
      });
    await using api = await openApi(options, terminal);
    await releaseLeftovers(api, terminal);
    const allocations = platforms
      ? await allocateNodes(api, options, terminal, platforms)
      : [{ ...(await allocate(api, options, terminal)), platform: undefined }];
    const held = allocations.map((allocation) => ({
      allocation,
      worker: new HeldWorker(api, allocation, terminal),
    }));
    try {
      const nodes: BuildNode[] = [];
      for (const { allocation, worker } of held) {
        const address = addressOf(allocation, options);
        const folder = await worker.keep(address);
        nodes.push({ folder, address, platform: allocation.platform });
      }
      const [first, ...others] = nodes;
      if (!first) throw new CommandError("the allocation API returned no worker");
      // Each worker would write its own platform's cache over the others'.
      const cache = platforms || options["no-cache-backends"] ? undefined : allocations[0]?.cacheOptions;
      await tool.build([first, ...others], { args, cache }, terminal);
    } finally {
      await Promise.all(held.map(({ worker }) => worker.giveBack()));
    }
  },
});

async function releaseLeftovers(api: ApiClient, terminal: Terminal): Promise<void> {
  for (const { token, workerName } of await TemporaryFolder.takeLeftovers(terminal.env)) {
    terminal.stderr.write(`a build that was killed has left ${workerName} behind: releasing it\n`);
    await release(api, token, terminal);
  }
}
