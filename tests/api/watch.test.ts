import type { WatchEvent } from "@windlass/client";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

type Seen = [type: string, name: string];

/** Reads a watch until it has brought so many events, and leaves it. */
async function take(
  events: AsyncIterable<WatchEvent<{ metadata: { name: string } }>>,
  count: number,
): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const event of events) {
    if (event.type === "ERROR") throw new Error(JSON.stringify(event.object));
    if (event.type !== "BOOKMARK") seen.push([event.type, event.object.metadata.name]);
    else if ("annotations" in event.object.metadata) seen.push(["END", ""]);
    if (seen.length === count) break;
  }
  return seen;
}

test("a watch from a list's version brings every change after it, in order", async () => {
  const namespace = await cluster.createNamespace();
  const { metadata } = await cluster.client.list(ConfigMap, { namespace });
  const seen = take(
    cluster.client.watch(ConfigMap, {
      namespace,
      resourceVersion: metadata.resourceVersion ?? "",
      fieldSelector: "metadata.name!=kube-root-ca.crt",
    }),
    3,
  );
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "a" } });
  await cluster.client.patch(
    ConfigMap,
    { namespace, name: "a" },
    { type: "merge", patch: { data: { x: "1" } } },
  );
  await cluster.client.delete(ConfigMap, { namespace, name: "a" });
  expect(await seen).toEqual([
    ["ADDED", "a"],
    ["MODIFIED", "a"],
    ["DELETED", "a"],
  ]);
});

test("a watch-list streams what there is, says that this was all, and goes on", async () => {
  const namespace = await cluster.createNamespace();
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "old", labels: { mine: "yes" } } });
  const events = cluster.client.watch(ConfigMap, {
    namespace,
    labelSelector: "mine=yes",
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: true,
  });
  const seen = take(events, 3);
  // Created while the stream may be at any point: it comes after the mark, or before it as part of the state.
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "new", labels: { mine: "yes" } } });
  const result = await seen;
  expect(result[0]).toEqual(["ADDED", "old"]);
  expect(result).toContainEqual(["END", ""]);
  expect(result).toContainEqual(["ADDED", "new"]);
});

test("an object that stops matching leaves the watcher's sight, and comes back as new", async () => {
  const namespace = await cluster.createNamespace();
  const { metadata } = await cluster.client.list(ConfigMap, { namespace });
  const seen = take(
    cluster.client.watch(ConfigMap, {
      namespace,
      labelSelector: "tier=a",
      resourceVersion: metadata.resourceVersion ?? "",
    }),
    3,
  );
  const key = { namespace, name: "mover" };
  await cluster.client.create(ConfigMap, { metadata: { ...key, labels: { tier: "a" } } });
  await cluster.client.patch(ConfigMap, key, {
    type: "merge",
    patch: { metadata: { labels: { tier: "b" } } },
  });
  await cluster.client.patch(ConfigMap, key, {
    type: "merge",
    patch: { metadata: { labels: { tier: "a" } } },
  });
  expect(await seen).toEqual([
    ["ADDED", "mover"],
    ["DELETED", "mover"],
    ["ADDED", "mover"],
  ]);
});
