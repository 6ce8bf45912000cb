import { manager } from "@windlass/runtime";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TargetTable } from "../resolver/target-table.ts";
import { haveFollowed, podsIn, resolversIn } from "./cluster-view.ts";
import { ElastiService } from "./elasti-service.ts";
import type { EndpointSliceObject } from "./objects.ts";
import { endpointsIn, TargetFeed } from "./target-feed.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(ElastiService);
  namespace = await cluster.createNamespace("elasti");
});
afterAll(() => cluster.close());

async function create(name: string, service: string, listenPort: number): Promise<void> {
  const { client } = cluster;
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const key = { namespace, name };
  await client.create(ElastiService, { metadata: key, spec: { scaleTargetRef, service } });
  const ports = [{ name: "http", port: 80, listenPort }];
  const patch = { status: { phase: "Asleep", step: 7, ports } };
  await client.subresource(ElastiService, key, "status").patch({ type: "merge", patch });
}

/** Follows the cluster. @returns the table, and how much was in it when it counted as filled. */
async function follow(): Promise<{ readonly table: TargetTable; readonly filledWith: number }> {
  const table = new TargetTable();
  const { promise, resolve } = Promise.withResolvers<number>();
  await cluster.run("elasti-resolver", (options) =>
    manager(options).add({
      name: "feed",
      stage: "everywhere",
      start: async (context) => {
        const feed = new TargetFeed(table);
        await feed.start(context);
        resolve([...table.all()].length);
        return () => feed.stop();
      },
    }),
  );
  return { table, filledWith: await promise };
}

test("of several that name a Service the first counts, whatever happens to the others", async () => {
  await create("a", "web", 20_000);
  await create("b", "other", 20_002);
  const { table } = await follow();
  const portOf = () => table.find(`${namespace}/web`)?.ports[0]?.listenPort;
  expect(portOf()).toBe(20_000);
  // Its status is about the Service that it had before.
  const patch = { spec: { service: "web" } };
  await cluster.client.patch(ElastiService, { namespace, name: "b" }, { type: "merge", patch });
  await expect.poll(() => table.find(`${namespace}/other`)).toBeUndefined();
  expect(portOf()).toBe(20_000);
  await cluster.client.delete(ElastiService, { namespace, name: "b" });
  await create("c", "last", 20_003);
  await expect.poll(() => table.find(`${namespace}/last`)).toBeDefined();
  expect(portOf()).toBe(20_000);
  await cluster.client.delete(ElastiService, { namespace, name: "a" });
  await expect.poll(portOf).toBeUndefined();
});

test("a table counts as filled once all that there are have been set", async () => {
  const many = 300;
  for (let index = 0; index < many; index++) await create(`m${index}`, `m${index}`, 21_000 + index);
  const { filledWith } = await follow();
  expect(filledWith).toBeGreaterThanOrEqual(many);
});

test("an EndpointSlice without endpoints, whose lists the API server writes as null, lists none", () => {
  const empty = JSON.parse(
    `{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"namespace": "shop", "name": "web-1"},
      "addressType": "IPv4", "endpoints": null, "ports": null}`,
  ) as EndpointSliceObject;
  expect(endpointsIn([empty]).size).toBe(0);
  expect(podsIn([empty])).toEqual([]);
  expect(resolversIn([empty])).toEqual([]);
  expect(haveFollowed([empty], "web", false)).toBe(true);
});

test("an edit of a probe response is live within a second", async () => {
  await create("edited", "edited", 20_500);
  const { table } = await follow();
  const response = { status: 200, body: "ok" } as const;
  const probeResponse = [{ path: { type: "Exact", value: "/live" }, response } as const];
  const began = performance.now();
  const key = { namespace, name: "edited" };
  await cluster.client.patch(ElastiService, key, { type: "merge", patch: { spec: { probeResponse } } });
  await expect.poll(() => table.find(`${namespace}/edited`)?.probeResponses, { interval: 5 }).toHaveLength(1);
  expect(performance.now() - began).toBeLessThan(1_000);
});
