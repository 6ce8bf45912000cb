import { Client, type Transport } from "@windlass/client";
import { type CacheEvent, createCache, defineResource, namespaceSet } from "@windlass/runtime";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";

/** On a busy machine even what happens at once takes its time. */
const soon = { timeout: 10_000 };

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

/** A cache that goes with the test, and the paths of the requests that it makes. */
function openCache(options: { readonly pageSize?: number; readonly streams?: boolean } = {}) {
  const requests: string[] = [];
  const inner = cluster.transport();
  const transport: Transport = {
    request: (request) => {
      requests.push(request.path);
      // As a server does that is older than watch-lists.
      if (options.streams === false && request.path.includes("sendInitialEvents=true"))
        return Promise.resolve(refusal);
      return inner.request(request);
    },
    close: () => inner.close(),
  };
  const client = new Client({ transport, fieldManager: "cache-test", onWarning: () => undefined });
  const { pageSize } = options;
  const cache = createCache({ source: client, ...(pageSize === undefined ? {} : { pageSize }) });
  onTestFinished(() => cache.stop());
  return { cache, client, requests };
}

const refusal = {
  status: 422,
  headers: { "content-type": "application/json" },
  body: (async function* () {
    yield Buffer.from(
      JSON.stringify({
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        reason: "Invalid",
        code: 422,
        message:
          "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
      }),
    );
  })(),
};

const make = (name: string, labels: Record<string, string> = {}, inside = namespace) =>
  cluster.client.create(ConfigMap, { metadata: { namespace: inside, name, labels }, data: { x: "1" } });

const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name).toSorted();

test("an informer streams what there is, then follows it, with one request", async () => {
  await make("s-1", { test: "stream" });
  const { cache, requests } = openCache();
  const informer = cache.informer(ConfigMap, { namespace, labelSelector: "test=stream" });
  const events: CacheEvent<object>["type"][] = [];
  informer.subscribe(({ type }) => events.push(type));
  await informer.synced;
  expect(namesOf(informer.list())).toEqual(["s-1"]);
  await make("s-2", { test: "stream" });
  await cluster.client.patch(
    ConfigMap,
    { namespace, name: "s-2" },
    { type: "merge", patch: { data: { x: "2" } } },
  );
  await cluster.client.delete(ConfigMap, { namespace, name: "s-1" });
  await expect.poll(() => events, soon).toEqual(["added", "added", "updated", "deleted"]);
  expect(cache.get(ConfigMap, { namespace, name: "s-2" })?.data).toEqual({ x: "2" });
  expect(requests).toHaveLength(1);
});

test("where the server does not stream, the list comes in pages that are one state, and is followed", async () => {
  for (let i = 0; i < 5; i++) await make(`p-${i}`, { test: "pages" });
  const { cache, requests } = openCache({ streams: false, pageSize: 2 });
  const informer = cache.informer(ConfigMap, { namespace, labelSelector: "test=pages" });
  await informer.synced;
  expect(namesOf(informer.list())).toEqual(["p-0", "p-1", "p-2", "p-3", "p-4"]);
  expect(requests.filter((path) => path.includes("limit=2")).length).toBeGreaterThanOrEqual(1);
  await make("p-9", { test: "pages" });
  await expect.poll(() => namesOf(informer.list()).at(-1), soon).toBe("p-9");
});

test("metadata alone is held where that is all that was asked for", async () => {
  await make("m-1", { test: "metadata" });
  const { cache } = openCache();
  const informer = cache.informer(ConfigMap, {
    namespace,
    labelSelector: "test=metadata",
    metadataOnly: true,
  });
  const seen: object[] = [];
  informer.subscribe(({ object }) => seen.push(object));
  await informer.synced;
  expect(seen).toMatchObject([{ metadata: { name: "m-1", labels: { test: "metadata" } } }]);
  expect(seen[0]).not.toHaveProperty("data");
});

test("namespaces come and go while the informer runs, and take their objects along", async () => {
  const [one, two] = [await cluster.createNamespace(), await cluster.createNamespace()];
  await make("n-1", { test: "namespaces" }, one);
  await make("n-2", { test: "namespaces" }, two);
  const { cache } = openCache();
  const chosen = namespaceSet([one]);
  const informer = cache.informer(ConfigMap, { namespaces: chosen, labelSelector: "test=namespaces" });
  const events: string[] = [];
  informer.subscribe(({ type, object }) => events.push(`${type} ${object.metadata.name}`));
  await informer.synced;
  expect(events).toEqual(["added n-1"]);
  chosen.set([two]);
  await expect.poll(() => events.toSorted(), soon).toEqual(["added n-1", "added n-2", "deleted n-1"]);
});

test("one's own write is there for the next read, before the watch has brought it", async () => {
  const { cache, client } = openCache();
  await cache.informer(ConfigMap, { namespace }).synced;
  const written = await client.create(ConfigMap, { metadata: { namespace, name: "own" }, data: { x: "1" } });
  cache.wrote(ConfigMap, written);
  expect(cache.get(ConfigMap, { namespace, name: "own" })?.data).toEqual({ x: "1" });
  await cache.barrier(ConfigMap);
  expect(cache.get(ConfigMap, { namespace, name: "own" })?.data).toEqual({ x: "1" });
  await client.delete(ConfigMap, { namespace, name: "own" });
  cache.deleted(ConfigMap, written);
  expect(cache.get(ConfigMap, { namespace, name: "own" })).toBeUndefined();
});

test("objects are found by index and by owner", async () => {
  const { metadata } = await make("owner");
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid ?? "" };
  await cluster.client.create(Secret, {
    metadata: { namespace, name: "owned", ownerReferences: [owner], labels: { color: "red" } },
  });
  const { cache } = openCache();
  const secrets = cache.informer(Secret, { namespace });
  secrets.addIndex("color", ({ metadata: { labels } }) => (labels?.color ? [labels.color] : []));
  await secrets.synced;
  expect(namesOf(cache.ownedBy(Secret, owner.uid))).toEqual(["owned"]);
  expect(namesOf(cache.byIndex(Secret, "color", "red"))).toEqual(["owned"]);
  expect(cache.byIndex(Secret, "color", "blue")).toEqual([]);
});

test("a kind that is not installed counts as empty, and is followed once it is", {
  timeout: 60_000,
}, async () => {
  const Late = defineResource({
    group: "cache.windlass.dev",
    version: "v1",
    kind: "Late",
    spec: z.object({ x: z.string().optional() }),
  });
  const { cache } = openCache();
  const informer = cache.informer(Late, { namespace });
  await informer.synced;
  expect(cache.list(Late, { namespace })).toEqual([]);
  expect(informer.status).toMatchObject({ at: "missing" });
  await cluster.install(Late);
  await cluster.client.create(Late, { metadata: { namespace, name: "at-last" }, spec: {} });
  await expect
    .poll(() => namesOf(cache.list(Late, { namespace })), { timeout: 45_000, interval: 100 })
    .toEqual(["at-last"]);
});

test("a history that is forgotten costs a new list, and loses nothing", async () => {
  const { cache, requests } = openCache();
  const informer = cache.informer(ConfigMap, { namespace, labelSelector: "test=forgotten" });
  await informer.synced;
  await make("f-1", { test: "forgotten" });
  await expect.poll(() => namesOf(informer.list()), soon).toEqual(["f-1"]);
  // Only the embedded server can be made to forget and to hang up at will; elsewhere nothing
  // happens, and nothing may be lost either.
  const { controlPlane } = cluster;
  controlPlane?.compact();
  controlPlane?.faults.dropWatches({ resources: ["configmaps"] });
  await make("f-2", { test: "forgotten" });
  await expect.poll(() => namesOf(informer.list()), soon).toEqual(["f-1", "f-2"]);
  expect(requests.length).toBeGreaterThanOrEqual(controlPlane ? 2 : 1);
});
