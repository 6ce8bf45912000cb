import { Client, type Transport } from "@windlass/client";
import { type Manager, manager, silentLogger } from "@windlass/runtime";
import type { TestCluster } from "@windlass/testing";
import { WebApp, webapp } from "../src/index.ts";
import { images } from "./world.ts";

/** An operator in this process, without webhooks, whose writes are counted. */
export interface CountedOperator {
  readonly manager: Manager;
  /** Writes so far, except to its Lease. */
  readonly writes: number;
  /** How many reconciles have ended, well or not. */
  readonly reconciles: number;
}

/** Starts an operator on a cluster. It leads at once. */
export async function startCounted(cluster: TestCluster): Promise<CountedOperator> {
  const inner = cluster.transport();
  let writes = 0;
  const transport: Transport = {
    request: (request) => {
      if (request.method !== "GET" && !request.path.includes("/leases")) writes += 1;
      return inner.request(request);
    },
    close: () => inner.close(),
  };
  const operator = manager({
    client: new Client({ transport, fieldManager: "webapp-operator" }),
    health: false,
    metrics: false,
    log: silentLogger,
  }).add(webapp);
  await operator.start();
  return {
    manager: operator,
    get writes() {
      return writes;
    },
    get reconciles() {
      const lines = operator.registry.render().matchAll(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    },
  };
}

/** Creates so many WebApps, a few at a time, and resolves once every one of them is Ready. */
export async function manyReady(
  cluster: TestCluster,
  namespace: string,
  count: number,
  prefix = "app",
): Promise<void> {
  const { client } = cluster;
  const signal = AbortSignal.timeout(600_000);
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const waiting = new Set(names);
  const { metadata } = await client.list(WebApp, { namespace });
  const queue = names.values();
  const creators = Array.from({ length: 16 }, async () => {
    for (const name of queue)
      await client.create(WebApp, { metadata: { namespace, name }, spec: { image: images.runs } });
  });
  const resourceVersion = metadata.resourceVersion ?? "0";
  for await (const event of client.watch(WebApp, { namespace, resourceVersion, signal })) {
    if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
    if (event.object.status?.phase === "Ready") waiting.delete(event.object.metadata.name);
    if (waiting.size === 0) break;
  }
  await Promise.all(creators);
}
