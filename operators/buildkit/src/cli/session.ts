import { readFile } from "node:fs/promises";
import { CommandError, type Options, type Terminal, type Values } from "@windlass/cli";
import { milliseconds, sleep, systemClock } from "@windlass/clock";
import type { z } from "zod";
import { type AllocationAnswer, allocationSchema, nodesSchema } from "./allocation-files.ts";
import { ApiClient } from "./api-client.ts";
import { buildkitExitCodes } from "./exit-codes.ts";
import { tokenSource } from "./token-source.ts";

/** Options of every command that speaks to the API. */
export const connectionOptions = {
  endpoint: {
    type: "string",
    value: "URL",
    describe: "where the allocation API is",
    otherwise: "BKCTL_ENDPOINT, else https://buildkit-controller-api.buildkit-system.svc:8082",
  },
  ca: {
    type: "string",
    value: "FILE",
    describe: "PEM of the authorities that sign its certificate",
    otherwise: "BKCTL_TLS_CA_CERT, else those that Node trusts",
    completion: "files",
  },
  token: {
    type: "string",
    value: "TOKEN",
    describe: "says who you are; visible in the process list: better a file or a variable",
  },
  "token-file": { type: "string", value: "FILE", describe: "the same from a file", completion: "files" },
  audience: {
    type: "string",
    value: "NAME",
    describe: "what an ID token of GitHub is asked for",
    otherwise: "buildkit-controller",
  },
  "retry-for": {
    type: "string",
    value: "SPAN",
    describe: "how long to go on while the API cannot be reached",
    otherwise: "2m",
  },
} as const satisfies Options;

/** Options of every command that is about a pool. */
export const poolOptions = {
  pool: { type: "string", short: "p", value: "NAME", describe: "the pool", otherwise: "BKCTL_POOL" },
  namespace: {
    type: "string",
    short: "n",
    value: "NAME",
    describe: "of the pool",
    otherwise: "BKCTL_NAMESPACE, else default",
  },
} as const satisfies Options;

/** Options of every command that allocates. */
export const allocateOptions = {
  ttl: { type: "string", value: "SPAN", describe: "how long the allocation lasts", otherwise: "the pool's" },
  "job-id": {
    type: "string",
    value: "ID",
    describe: "your name for the job: asked again, it gets the same worker",
    otherwise: "a unique one",
  },
  project: {
    type: "string",
    value: "KEY",
    describe: "whose cache to use",
    otherwise: "GITHUB_REPOSITORY, else CI_PROJECT_PATH",
  },
  timeout: { type: "string", value: "SPAN", describe: "how long to wait for a worker", otherwise: "30m" },
  external: { type: "boolean", describe: "connect from outside of the cluster" },
} as const satisfies Options;

const defaultEndpoint = "https://buildkit-controller-api.buildkit-system.svc:8082";

/** @throws CommandError. */
export async function openApi(
  options: Values<typeof connectionOptions>,
  terminal: Terminal,
): Promise<ApiClient> {
  const { env, signal } = terminal;
  const caFile = options.ca ?? env.BKCTL_TLS_CA_CERT;
  return new ApiClient({
    endpoint: options.endpoint ?? env.BKCTL_ENDPOINT ?? defaultEndpoint,
    ca: caFile === undefined ? undefined : await readFile(caFile, "utf8"),
    tokens: await tokenSource(terminal, options),
    retryForMs: spanOf(options["retry-for"] ?? "2m", "--retry-for"),
    signal,
    env,
  });
}

/** Which pool a command is about. @throws CommandError. */
export function poolOf(
  options: Values<typeof poolOptions>,
  { env }: Terminal,
): { readonly name: string; readonly namespace: string } {
  const name = options.pool ?? env.BKCTL_POOL;
  if (name === undefined) throw new CommandError("no pool given: set --pool, or BKCTL_POOL", { exitCode: 2 });
  return { name, namespace: options.namespace ?? env.BKCTL_NAMESPACE ?? "default" };
}

/** How long one call waits: short enough for whatever stands in between. */
const WAIT_MS = 25_000;

/**
 * Asks for a worker until there is one. The position is reported as it changes.
 *
 * @throws CommandError.
 */
export async function allocate(
  api: ApiClient,
  options: Values<typeof allocateOptions & typeof poolOptions>,
  terminal: Terminal,
): Promise<AllocationAnswer> {
  return allocationSchema.parse(await askForWorkers(api, options, terminal, {}));
}

/**
 * Asks for a worker for each platform until there are all. None is held while another is missing.
 *
 * @throws CommandError.
 */
export async function allocateNodes(
  api: ApiClient,
  options: Values<typeof allocateOptions & typeof poolOptions>,
  terminal: Terminal,
  platforms: readonly string[],
): Promise<z.output<typeof nodesSchema>["nodes"]> {
  return nodesSchema.parse(await askForWorkers(api, options, terminal, { platforms })).nodes;
}

async function askForWorkers(
  api: ApiClient,
  options: Values<typeof allocateOptions & typeof poolOptions>,
  terminal: Terminal,
  own: { readonly platforms?: readonly string[] },
): Promise<Readonly<Record<string, unknown>>> {
  const { env, stderr, signal } = terminal;
  const pool = poolOf(options, terminal);
  const timeoutMs = spanOf(options.timeout ?? "30m", "--timeout");
  const giveUpAt = performance.now() + timeoutMs;
  const affinityKey = options.project ?? env.GITHUB_REPOSITORY ?? env.CI_PROJECT_PATH;
  // Named in any case, so that asking again is the same request.
  const jobId = options["job-id"] ?? crypto.randomUUID();
  const body = {
    poolName: pool.name,
    namespace: pool.namespace,
    jobId,
    wait: `${Math.min(WAIT_MS, timeoutMs)}ms`,
    ...(options.ttl === undefined ? {} : { ttl: options.ttl }),
    ...(affinityKey ? { affinityKey } : {}),
    ...own,
  };
  const job = { poolName: pool.name, namespace: pool.namespace, jobId, ...own };
  let reported = "";
  for (;;) {
    const answer = await api.call("POST", "/api/v1/workers/allocate", body).catch(async (error: unknown) => {
      // Ctrl-C leaves the queue, also before the API has answered.
      if (signal.aborted) await endJob(api, job);
      throw error;
    });
    if (answer.status === 200) return answer.body;
    const { state, position, estimatedWaitSeconds } = answer.body;
    const eta = typeof estimatedWaitSeconds === "number" ? `, about ${estimatedWaitSeconds} s` : "";
    const text =
      state === "Provisioning" ? "a worker is being started" : `${String(position)} in front${eta}`;
    if (text !== reported) stderr.write(`waiting for a worker of ${pool.namespace}/${pool.name}: ${text}\n`);
    reported = text;
    if (performance.now() < giveUpAt) continue;
    await endJob(api, job);
    throw new CommandError(
      `no worker of ${pool.namespace}/${pool.name} was free within ${options.timeout ?? "30m"}`,
      { exitCode: buildkitExitCodes.unavailable },
    );
  }
}

/** How long a replica may take to notice that its client has gone. */
const NOTICED_MS = 1_000;

/**
 * Ends a job whose request may still be served: its replica may claim a worker until it notices
 * that the client has gone, so it is ended once more after that. What cannot be ended ends by
 * itself, with the time of the request or the allocation.
 */
async function endJob(api: ApiClient, job: object): Promise<void> {
  const detached = api.detached();
  for (const pauseMs of [0, NOTICED_MS]) {
    if (pauseMs > 0) await sleep(systemClock, pauseMs);
    try {
      await detached.call("POST", "/api/v1/jobs/release", job);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
  }
}

/** Where to connect to. @throws CommandError. */
export function addressOf(allocation: AllocationAnswer, options: { readonly external?: boolean }): string {
  if (!options.external) return allocation.gatewayEndpoint;
  if (allocation.externalGatewayEndpoint !== undefined) return allocation.externalGatewayEndpoint;
  throw new CommandError(`pool ${allocation.poolName} cannot be reached from outside of its cluster`);
}

/** @throws CommandError. */
export function spanOf(text: string, option: string): number {
  try {
    return milliseconds(text, option);
  } catch (cause) {
    throw new CommandError(`${option}: ${JSON.stringify(text)} is not a duration: write 90s, 30m or 1h30m`, {
      cause,
      exitCode: 2,
    });
  }
}
