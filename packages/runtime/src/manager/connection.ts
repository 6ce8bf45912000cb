import {
  Client,
  type ClusterAccess,
  findAccess,
  intercept,
  openTransport,
  retry,
  type Transport,
} from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import { requestCounter } from "../metrics/manager-metrics.ts";
import type { Registry } from "../metrics/registry.ts";
import type { Logger } from "../reconcile/log.ts";
import type { Fence } from "./fence.ts";
import type { ManagerOptions } from "./options.ts";

/** A manager's ways to the API server. */
export interface Connection {
  /** May always write. */
  readonly open: Client;
  /** Writes only while the fence is open. */
  readonly fenced: Client;
  /** For the thread that renews the lease; absent for a handed-in client. */
  readonly access: ClusterAccess | undefined;
  close(): Promise<void>;
}

/** What a connection is made with. */
export interface ConnectionParts {
  readonly log: Logger;
  readonly fence: Fence;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Connects to the cluster that the options name. Nothing is sent yet.
 *
 * @throws KubeconfigError without a usable configuration.
 */
export async function openConnection(
  { client, kubeconfig, context }: ManagerOptions,
  { log, fence, registry, clock, random }: ConnectionParts,
): Promise<Connection> {
  if (client)
    return {
      open: client,
      fenced: new Client({
        transport: fenced(client.transport, fence),
        fieldManager: client.fieldManager,
        log,
      }),
      access: undefined,
      close: () => Promise.resolve(),
    };
  const access = await findAccess({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  const requests = requestCounter(registry);
  // Retries are ours, so that the fence is asked again before each of them.
  const base = openTransport(access, {
    attempts: 1,
    log,
    clock,
    random,
    onOutcome: ({ code, method, host }) => requests.inc({ code, method, host }),
  });
  const retrying = retry({ clock, random });
  const open = new Client({ transport: intercept(base, [retrying]), log });
  return {
    open,
    fenced: new Client({ transport: intercept(base, [retrying, (next) => fenced(next, fence)]), log }),
    access,
    close: () => base.close(),
  };
}

/** Refuses writes while the fence is closed. Asked again before each retry, and as late as can be. */
function fenced(next: Transport, fence: Fence): Transport {
  return {
    request(request) {
      if (request.method !== "GET") fence.check(`${request.method} ${request.path.split("?", 1)[0]}`);
      return next.request(request);
    },
    close: () => next.close(),
  };
}
