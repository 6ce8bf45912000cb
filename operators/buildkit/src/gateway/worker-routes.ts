import type { Clock } from "@windlass/clock";
import type { Logger, RunnableContext } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { workerServerName } from "../certificates/index.ts";
import { poolLabel, poolNames, workerPort } from "../names.ts";
import type { PoolName } from "../pool-name.ts";
import {
  type AllocationHash,
  parseAllocationHash,
  RevocationsError,
  readRevocations,
  revocationsDataKey,
} from "../tokens/index.ts";
import { BuildKitWorker, type Worker } from "../worker/worker.ts";
import { type Route, RoutingTable, type WorkerLookup } from "./lookup.ts";

/** Where the connections of a worker's allocation lead. */
export function routeOf(worker: Worker): Route {
  const { metadata, status } = worker;
  const { name } = metadata;
  switch (status?.phase) {
    case undefined:
    case "Pending":
    case "Provisioning":
    // The claim is newer than what is said of the worker: it can be reached as soon as it is seen.
    case "Idle":
    case "Allocated":
    case "Running":
    case "Terminating": {
      const host = status?.endpoint === undefined ? undefined : status.podIP;
      if (host === undefined)
        return status?.phase === "Terminating"
          ? { at: "lost", worker: name, reason: "it has stopped" }
          : { at: "starting", worker: name };
      return {
        at: "ready",
        worker: { name, host, port: workerPort, serverName: workerServerName(metadata) },
      };
    }
    case "Failed":
      return { at: "lost", worker: name, reason: status.message ?? status.reason ?? "it failed" };
  }
}

/** Feeds a routing table from the workers of a pool. */
export class WorkerRoutes {
  readonly table = new RoutingTable();
  readonly #clock: Pick<Clock, "now">;
  readonly #byWorker = new Map<string, { readonly allocation: AllocationHash; readonly expiresAt: number }>();
  /**
   * Allocations whose worker is gone, by when their tokens have expired and no client asks for them
   * any more.
   */
  readonly #lost = new Map<AllocationHash, number>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** A worker is there, or has changed. */
  update(worker: Worker): void {
    const { name } = worker.metadata;
    const { tokenHash = "", expiresAt = "" } = worker.spec.allocation ?? {};
    const allocation = parseAllocationHash(tokenHash);
    const before = this.#byWorker.get(name)?.allocation;
    if (before !== undefined && before !== allocation) this.table.set(before, { at: "unknown" });
    if (allocation === undefined) this.#byWorker.delete(name);
    else {
      this.#byWorker.set(name, { allocation, expiresAt: Date.parse(expiresAt) });
      this.table.set(allocation, routeOf(worker));
    }
  }

  /** A worker is gone. Its client receives that until its token has expired. */
  remove({ metadata: { name } }: Worker): void {
    const now = this.#clock.now();
    for (const [allocation, end] of this.#lost)
      if (now >= end) {
        this.#lost.delete(allocation);
        this.table.set(allocation, { at: "unknown" });
      }
    const before = this.#byWorker.get(name);
    this.#byWorker.delete(name);
    if (!before) return;
    this.#lost.set(before.allocation, before.expiresAt);
    this.table.set(before.allocation, { at: "lost", worker: name, reason: "it is gone" });
  }
}

/**
 * Takes a list of revocations over. One that cannot be read leaves those before in place: no
 * revocation is forgotten by accident.
 */
export function takeRevocations(table: RoutingTable, text: string | undefined, log: Logger): void {
  try {
    table.revoke(readRevocations(text ?? "{}"));
  } catch (error) {
    if (!(error instanceof RevocationsError)) throw error;
    log.error(
      { error: error.message },
      "the list of revocations cannot be read; the one before stays in use",
    );
  }
}

/**
 * What a gateway knows of the allocations of its pool, from the workers and the list of revocations
 * that it watches. While the API server is away it goes on with what it saw last.
 */
export function workerLookup(pool: PoolName): (context: RunnableContext) => WorkerLookup {
  return ({ cache, clock, log, signal }) => {
    const { namespace } = pool;
    const routes = new WorkerRoutes(clock);
    const { table } = routes;
    const workers = cache.informer(BuildKitWorker, {
      namespace,
      labelSelector: `${poolLabel}=${pool.name}`,
    });
    const { revocations: listName } = poolNames(pool.name);
    const lists = cache.informer(ConfigMap, { namespace, fieldSelector: `metadata.name=${listName}` });
    const stops = [
      workers.subscribe((event) => {
        if (event.type === "deleted") routes.remove(event.object);
        else routes.update(event.object);
      }),
      lists.subscribe((event) => {
        const { data } = event.object;
        takeRevocations(table, event.type === "deleted" ? undefined : data?.[revocationsDataKey], log);
      }),
    ];
    Promise.all([workers.synced, lists.synced]).then(() => table.markFilled(), noop);
    signal.addEventListener(
      "abort",
      () => {
        for (const stop of stops) stop();
        workers.release();
        lists.release();
      },
      { once: true },
    );
    return table;
  };
}

/** A cache that stops before it has filled leaves the gateway unready, which says enough. */
const noop = () => undefined;
