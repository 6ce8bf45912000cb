import { compareResourceVersions, isGone, metadataOnly, type WatchEvent } from "@windlass/client";
import { defineResource } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const Note = defineResource({ group: "watch.windlass.dev", version: "v1", kind: "Note", spec: z.object({}) });

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await startCluster();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

type ObservedEvent = [type: string, name: string];

/** Reads a watch until it has brought so many events, and leaves it. */
async function take(
  events: AsyncIterable<WatchEvent<{ metadata: { name: string } }>>,
  count: number,
): Promise<ObservedEvent[]> {
  const seen: ObservedEvent[] = [];
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
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "a-old", labels: { mine: "yes" } } });
  const events = cluster.client.watch(ConfigMap, {
    namespace,
    labelSelector: "mine=yes",
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: true,
  });
  const seen = take(events, 3);
  // Created while the stream may be at any point: it comes after the mark, or before it as part of
  // the state.
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "b-new", labels: { mine: "yes" } } });
  const result = await seen;
  expect(result[0]).toEqual(["ADDED", "a-old"]);
  expect(result).toContainEqual(["END", ""]);
  expect(result).toContainEqual(["ADDED", "b-new"]);
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

test("a watch that ends is resumed from its last version, and nothing is missed or repeated", async () => {
  const namespace = await cluster.createNamespace();
  const { metadata } = await cluster.client.list(ConfigMap, { namespace });
  const seen: ObservedEvent[] = [];
  let version = metadata.resourceVersion ?? "";
  for (const name of ["a", "b", "c"]) {
    await cluster.client.create(ConfigMap, { metadata: { namespace, name, labels: { mine: "yes" } } });
    await cluster.client.delete(ConfigMap, { namespace, name });
    const options = { namespace, labelSelector: "mine=yes", resourceVersion: version };
    let left = 2;
    for await (const { type, object } of cluster.client.watch(ConfigMap, options)) {
      const { name: seenName = "", resourceVersion = "" } = (object as { metadata: Record<string, string> })
        .metadata;
      expect(compareResourceVersions(resourceVersion, version)).toBeGreaterThan(0);
      seen.push([type, seenName]);
      version = resourceVersion;
      if (--left === 0) break;
    }
  }
  expect(seen).toEqual(
    ["a", "b", "c"].flatMap((name) => [
      ["ADDED", name],
      ["DELETED", name],
    ]),
  );
});

test("a watch without a version brings what there is first, and one that asks for a second ends after it", async () => {
  const namespace = await cluster.createNamespace();
  await cluster.client.create(ConfigMap, { metadata: { namespace, name: "there", labels: { mine: "yes" } } });
  const seen: ObservedEvent[] = [];
  const options = { namespace, labelSelector: "mine=yes", timeoutSeconds: 1 };
  for await (const { type, object } of cluster.client.watch(ConfigMap, options))
    seen.push([type, (object as { metadata: { name: string } }).metadata.name]);
  expect(seen).toEqual([["ADDED", "there"]]);
});

test("a watch from a compacted version gets 410, and a list works again", async () => {
  const namespace = await cluster.createNamespace();
  // A real server remembers of a custom kind what happened since it was installed, which is never
  // the first version.
  await cluster.install(Note);
  cluster.controlPlane?.compact();
  const firstOf = () =>
    cluster.client
      .watch(Note, { namespace, resourceVersion: "1" })
      .next()
      .then(
        ({ value }) => (value as WatchEvent<unknown>).object,
        (error: unknown) => error,
      );
  // A real server that is busy says first that it is not ready to serve the kind.
  await expect.poll(async () => isGone(await firstOf()), { timeout: 10_000 }).toBe(true);
  const { metadata } = await cluster.client.list(Note, { namespace });
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(1);
});

test("a watch of metadata brings metadata alone", async () => {
  const namespace = await cluster.createNamespace();
  await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "big", labels: { mine: "yes" } },
    data: { big: "value" },
  });
  for await (const event of cluster.client.watch(metadataOnly(ConfigMap), {
    namespace,
    labelSelector: "mine=yes",
  })) {
    expect(event).toMatchObject({
      type: "ADDED",
      object: { kind: "PartialObjectMetadata", metadata: { name: "big" } },
    });
    expect(event.object).not.toHaveProperty("data");
    break;
  }
});

test("bookmarks move on the version of a watch that sees nothing of its own", async () => {
  const namespace = await cluster.createNamespace();
  const options = { namespace, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" as const };
  for await (const event of cluster.client.watch(ConfigMap, {
    ...options,
    labelSelector: "nobody=has-this",
    allowWatchBookmarks: true,
  })) {
    expect(event.type).toBe("BOOKMARK");
    expect(event.object).toMatchObject({ kind: "ConfigMap", apiVersion: "v1" });
    break;
  }
});
