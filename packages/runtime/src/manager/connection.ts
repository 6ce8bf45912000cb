import {
  ApiError,
  Client,
  type ClusterAccess,
  findAccess,
  type Interceptor,
  intercept,
  isUnauthorized,
  openTransport,
  retry,
  TransportError,
} from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import type { Logger } from "../logging/logger.ts";
import { requestCounter, requestMeasures } from "../metrics/manager-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import type { Fence } from "./fence.ts";
import { FencedWrites } from "./fenced-writes.ts";
import type { ManagerOptions } from "./options.ts";
import type { Outage } from "./outage.ts";

/** A manager's ways to the API server. */
export interface Connection {
  /** May always write. */
  readonly open: Client;
  /** Writes only while the fence is open. */
  readonly fenced: Client;
  /** For the thread that renews the lease; absent for a handed-in client. */
  readonly access: ClusterAccess | undefined;
  /**
   * Asks the server anything, so that one that cannot be talked to is found out at the start and
   * not in the middle of the work. Any answer will do, but that it does not know us.
   *
   * @throws TransportError or ApiError if there is no such answer.
   */
  greet(signal: AbortSignal): Promise<void>;
  /** The writes of `fenced`. */
  readonly writes: Pick<FencedWrites, "settled" | "wereAnswered">;
  close(): Promise<void>;
}

/** What a connection is made with. */
export interface ConnectionParts {
  readonly log: Logger;
  readonly fence: Fence;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly outage: Outage;
}

/**
 * Connects to the cluster that the options name. Nothing is sent yet.
 *
 * @throws KubeconfigError without a usable configuration.
 */
export async function openConnection(
  { client, kubeconfig, context, metrics }: ManagerOptions,
  { log, fence, registry, clock, random, outage }: ConnectionParts,
): Promise<Connection> {
  const writes = new FencedWrites(fence, clock);
  if (client)
    return {
      open: client.through(outage.watch),
      fenced: client.through((next) => {
        const reads = outage.watch(next);
        const repeated = intercept(next, [writes.guard, retry({ clock, random }), outage.watch, once]);
        return {
          request: (request) => (request.method === "GET" ? reads : repeated).request(request),
          close: () => next.close(),
        };
      }),
      access: undefined,
      greet: (signal) => greet(client, undefined, signal),
      writes,
      close: () => Promise.resolve(),
    };
  const access = await findAccess({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const { host } = new URL(access.cluster.server);
  const countRequest = requestCounter(registry, host);
  const measures = metrics && metrics.requests === "measured" ? requestMeasures(registry) : undefined;
  // Retries are ours, so that each repetition is seen by the watch for outages.
  const base = openTransport(access, {
    attempts: 1,
    log,
    clock,
    random,
    onOutcome: (outcome) => {
      const { code, method, durationMs, requestBytes } = outcome;
      countRequest(method, code);
      measures?.ended(method, host, durationMs / 1000, requestBytes);
    },
    ...(measures
      ? { onResponseSize: ({ method, responseBytes }) => measures.received(method, host, responseBytes) }
      : {}),
  });
  const retrying = retry({
    clock,
    random,
    onRetry: ({ because, request }) => measures?.retried(String(because), request.method, host),
  });
  const first = new Client({ transport: intercept(base, [retrying]), log, clock });
  return {
    open: new Client({ transport: intercept(base, [retrying, outage.watch]), log, clock, protobuf: true }),
    fenced: new Client({ transport: intercept(base, [writes.guard, retrying, outage.watch]), log, clock }),
    access,
    greet: (signal) => greet(first, access.source, signal),
    writes,
    close: () => base.close(),
  };
}

/** @throws TransportError or ApiError, saying where the configuration came from. */
async function greet(client: Client, source: string | undefined, signal: AbortSignal): Promise<void> {
  try {
    await client.json({ path: "/version", signal });
  } catch (error) {
    if (error instanceof ApiError && !isUnauthorized(error)) return;
    if (source === undefined) throw error;
    if (error instanceof ApiError) throw new ApiError(error.status, `the server of ${source}`);
    if (!(error instanceof TransportError) || error.configuredBy !== undefined) throw error;
    throw new TransportError(error.code, `${error.message} (configured by ${source})`, {
      cause: error,
      configuredBy: source,
    });
  }
}

/**
 * Has a client that repeats requests by itself make each once: the repetitions are made where each
 * is seen by the watch for outages.
 */
const once: Interceptor = (next) => ({
  request: (request) => next.request({ ...request, retry: "never" }),
  close: () => next.close(),
});
