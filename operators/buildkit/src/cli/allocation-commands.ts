import { type Command, CommandError, command, type Terminal, type Values } from "@windlass/cli";
import {
  type AllocationAnswer,
  AllocationFolder,
  allocationSchema,
  type StoredAllocation,
} from "./allocation-files.ts";
import { RefusedCallError } from "./api-client.ts";
import { showLogs } from "./build-tools.ts";
import { writeGithubFiles } from "./github.ts";
import { release } from "./held-worker.ts";
import {
  addressOf,
  allocate,
  allocateOptions,
  connectionOptions,
  openApi,
  poolOf,
  poolOptions,
} from "./session.ts";

const tlsdir = {
  type: "string",
  value: "FOLDER",
  describe: "where the key and certificates are: ca.crt, tls.crt, tls.key, as buildctl --tlsdir takes them",
  completion: "folders",
} as const;
const github = {
  type: "boolean",
  describe:
    "for docker/setup-buildx-action: write BUILDER_NODE_0_AUTH_TLS_* to GITHUB_ENV, and endpoint to GITHUB_OUTPUT",
} as const;
const json = { type: "boolean", describe: "print JSON" } as const;

/** Allocates a worker, and leaves it to the caller. */
export const allocateCommand: Command = command({
  name: "allocate",
  summary: "get a worker, and the certificates to reach it",
  description: `
Gets a worker of a pool, waiting for one if need be, and writes what is needed to reach it to a
folder that only you may read. Give it back with: windlass-buildkit release --tlsdir FOLDER`,
  options: { ...poolOptions, ...allocateOptions, tlsdir, json, github, ...connectionOptions },
  examples: [
    {
      line: "windlass-buildkit allocate --pool ci --tlsdir ./certs",
      what: "then: buildctl --addr $(windlass-buildkit …) --tlsdir ./certs build …",
    },
    {
      line: "windlass-buildkit allocate --pool ci --json",
      what: "everything on standard output, nothing on disk",
    },
    {
      line: "windlass-buildkit allocate --pool ci --github --external",
      what: "then: docker/setup-buildx-action with driver: remote",
    },
  ],
  async run({ options }, terminal) {
    if (options.tlsdir === undefined && options.json !== true && options.github !== true)
      throw new CommandError(
        "set --tlsdir FOLDER or --github for the key and certificates, or --json to print everything",
        {
          exitCode: 2,
        },
      );
    await using api = await openApi(options, terminal);
    const allocation = await allocate(api, options, terminal);
    try {
      await show(allocation, options, terminal);
    } catch (error) {
      // Without its key it could neither be used nor given back.
      await release(api, allocation.token, terminal);
      throw error;
    }
  },
});

async function show(
  allocation: AllocationAnswer,
  options: {
    readonly tlsdir?: string;
    readonly json?: boolean;
    readonly external?: boolean;
    readonly github?: boolean;
  },
  terminal: Terminal,
): Promise<void> {
  const address = addressOf(allocation, options);
  if (options.github) await writeGithubFiles(allocation, address, terminal);
  if (options.tlsdir !== undefined) {
    const folder = new AllocationFolder(options.tlsdir);
    await folder.write(allocation, address);
    const { caCert: _ca, clientCert: _certificate, clientKey: _key, ...rest } = allocation;
    const kept = { ...rest, address, tlsdir: folder.path };
    terminal.stdout.write(options.json ? `${JSON.stringify(kept)}\n` : `${described(kept)}\n`);
  } else if (options.json) terminal.stdout.write(`${JSON.stringify({ ...allocation, address })}\n`);
}

function described({
  address,
  tlsdir: folder,
  workerName,
  expiresAt,
}: Pick<StoredAllocation, "address" | "workerName" | "expiresAt"> & { readonly tlsdir: string }): string {
  return [
    `worker ${workerName}, until ${expiresAt}`,
    `buildctl --addr ${address} --tlsdir ${folder} build …`,
    `docker buildx create --driver remote --driver-opt cacert=${folder}/ca.crt,cert=${folder}/tls.crt,key=${folder}/tls.key ${address}`,
  ].join("\n");
}

const existing = {
  tlsdir,
  "allocation-token": {
    type: "string",
    value: "TOKEN",
    describe: "the allocation's token, instead of --tlsdir",
    otherwise: "BKCTL_ALLOCATION_TOKEN, which allocate --github sets",
  },
} as const;

/** Gives a worker back. */
export const releaseCommand: Command = command({
  name: "release",
  summary: "give a worker back, and remove its key",
  description: `
Gives back what windlass-buildkit allocate got. Connections to the worker are closed, and the key
and certificates are removed. To release what is released already is no error.`,
  options: { ...existing, ...connectionOptions },
  examples: [{ line: "windlass-buildkit release --tlsdir ./certs", what: "after the build" }],
  async run({ options }, terminal) {
    await using api = await openApi(options, terminal);
    const { token, folder } = await allocationOf(options, terminal);
    try {
      await api.call("POST", "/api/v1/workers/release", { token });
      terminal.stderr.write("released\n");
    } catch (error) {
      if (!(error instanceof RefusedCallError && error.code === "NotAllocated")) throw error;
      terminal.stderr.write("it was released, or has expired, already\n");
    } finally {
      await folder?.remove();
    }
  },
});

/** Keeps a worker for longer. */
export const renewCommand: Command = command({
  name: "renew",
  summary: "keep a worker for longer",
  description: `
Has an allocation last longer. There is a new certificate then: it is written to the folder, for the
next connections. Those that are open go on.`,
  options: { ...existing, ttl: allocateOptions.ttl, json, ...connectionOptions },
  examples: [{ line: "windlass-buildkit renew --tlsdir ./certs --ttl 2h", what: "two hours from now" }],
  async run({ options }, terminal) {
    await using api = await openApi(options, terminal);
    const { token, folder, address } = await allocationOf(options, terminal);
    const ttl = options.ttl === undefined ? {} : { ttl: options.ttl };
    const { body } = await api.call("POST", "/api/v1/workers/renew", { token, ...ttl });
    const allocation = allocationSchema.parse(body);
    if (folder) await folder.write(allocation, address ?? allocation.gatewayEndpoint);
    const { caCert: _ca, clientCert: _certificate, clientKey: _key, ...rest } = allocation;
    terminal.stdout.write(
      options.json ? `${JSON.stringify(folder ? rest : allocation)}\n` : `until ${allocation.expiresAt}\n`,
    );
  },
});

async function allocationOf(options: Values<typeof existing>, { env }: Terminal) {
  const token = options["allocation-token"];
  if (token !== undefined) return { token };
  if (options.tlsdir === undefined && env.BKCTL_ALLOCATION_TOKEN)
    return { token: env.BKCTL_ALLOCATION_TOKEN };
  if (options.tlsdir === undefined)
    throw new CommandError("no allocation given: set --tlsdir, or --allocation-token", { exitCode: 2 });
  const folder = new AllocationFolder(options.tlsdir);
  const { token: kept, address } = await folder.read();
  return { token: kept, folder, address };
}

/** The log of a build. */
export const logsCommand: Command = command({
  name: "logs",
  summary: "show the log of a build on a worker",
  description: `
Shows the log of the build that began last on an allocated worker, or of the one with the given ref, while
it runs and afterwards. buildctl must be installed. Workers keep logs for as long as their cache.`,
  arguments: { usage: "[REF]" },
  options: { tlsdir },
  examples: [{ line: "windlass-buildkit logs --tlsdir ./certs", what: "of the last build" }],
  async run({ options, arguments: [ref] }, terminal) {
    if (options.tlsdir === undefined)
      throw new CommandError("no allocation given: set --tlsdir", { exitCode: 2 });
    const folder = new AllocationFolder(options.tlsdir);
    const { address } = await folder.read();
    await showLogs({ folder, address }, ref, terminal);
  },
});

/** What a pool is like, and whether one can build there. */
export const statusCommand: Command = command({
  name: "status",
  summary: "show a pool: its workers, its queue, where it is",
  description: "Shows what a pool is doing.",
  options: { ...poolOptions, json, ...connectionOptions },
  examples: [{ line: "windlass-buildkit status --pool ci", what: "workers by phase, and how many wait" }],
  async run({ options }, terminal) {
    await using api = await openApi(options, terminal);
    const pool = poolOf(options, terminal);
    const { body } = await api.call(
      "GET",
      `/api/v1/pools/${pool.name}?namespace=${encodeURIComponent(pool.namespace)}`,
    );
    if (options.json) {
      terminal.stdout.write(`${JSON.stringify(body)}\n`);
      return;
    }
    const workers = Object.entries(body.workers as Record<string, number>).map(
      ([phase, count]) => `${count} ${phase}`,
    );
    const { length } = body.queue as { length: number };
    terminal.stdout.write(
      [
        `${String(body.namespace)}/${String(body.name)}: ${String(body.status)}`,
        `endpoint  ${String(body.endpoint)}`,
        ...(typeof body.externalEndpoint === "string" ? [`external  ${body.externalEndpoint}`] : []),
        `workers   ${workers.join(", ")}`,
        `waiting   ${length}`,
        `lifetime  ${String(body.defaultTTL)}, at most ${String(body.maxTTL)}`,
      ]
        .join("\n")
        .concat("\n"),
    );
  },
});

/** Which pools there are. */
export const listCommand: Command = command({
  name: "list",
  summary: "show the pools that you may use",
  description: "Shows the pools that you may look at.",
  options: { namespace: poolOptions.namespace, json, ...connectionOptions },
  examples: [{ line: "windlass-buildkit list", what: "in all namespaces" }],
  async run({ options }, terminal) {
    await using api = await openApi(options, terminal);
    const query =
      options.namespace === undefined ? "" : `?namespace=${encodeURIComponent(options.namespace)}`;
    const { body } = await api.call("GET", `/api/v1/pools${query}`);
    if (options.json) {
      terminal.stdout.write(`${JSON.stringify(body)}\n`);
      return;
    }
    const pools = body.pools as readonly Readonly<Record<string, string>>[];
    if (pools.length === 0) terminal.stderr.write("there is no pool that you may look at\n");
    for (const { namespace, name, status, endpoint } of pools)
      terminal.stdout.write(`${namespace}/${name}  ${status}  ${endpoint}\n`);
  },
});
