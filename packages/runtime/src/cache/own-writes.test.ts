import type { AnyObject, ResourceKind } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { createCache } from "./cache.ts";
import type { InformerScope } from "./contract.ts";
import { ModelServer } from "./model-server.fixture.ts";

const Widget: ResourceKind = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced",
};
const color = (object: AnyObject) => [String(object.color)];
const owner = (uid: string) => ({ ownerReferences: [{ apiVersion: "v1", kind: "Owner", name: "o", uid }] });

/**
 * A cache whose watch brings nothing until `catchUp` is called: what is read before is our own
 * writes alone.
 */
async function setup(scope: InformerScope = {}) {
  const clock = new ManualClock();
  const server = new ModelServer();
  const cache = createCache({ source: server, clock, random: seededRandom(1) });
  onTestFinished(() => cache.stop());
  server.put("a", "old", { color: "red" }, { labels: { app: "web" }, ...owner("u1") });
  const informer = cache.informer(Widget, scope);
  informer.addIndex("color", color);
  await cache.waitForSync();
  const names = (objects: readonly AnyObject[]) => objects.map((object) => object.metadata.name).sort();
  return {
    server,
    cache,
    catchUp: () => clock.advance(0),
    all: () => names(informer.list()),
    labelled: () => names(cache.list(Widget, { namespace: "a", labelSelector: "app=web" })),
    red: () => names(cache.byIndex(Widget, "color", "red")),
    owned: () => names(cache.ownedBy(Widget, "u1")),
    pending: () => cache.stats()[0]?.pendingWrites,
  };
}

test("a create is in the next get, list, index and owner index, and stays there when the watch brings it", async () => {
  const { server, cache, catchUp, all, labelled, red, owned, pending } = await setup();
  cache.wrote(Widget, server.put("a", "new", { color: "red" }, { labels: { app: "web" }, ...owner("u1") }));
  for (const round of ["before the watch", "after it"]) {
    expect(cache.get(Widget, { namespace: "a", name: "new" })?.metadata.managedFields, round).toBeUndefined();
    for (const read of [all, labelled, red, owned]) expect(read(), round).toEqual(["new", "old"]);
    await catchUp();
  }
  expect(pending()).toBe(0);
});

test("an update replaces the object in all reads, and leaves those that no longer fit", async () => {
  const { server, cache, all, labelled, red, owned, pending } = await setup();
  cache.wrote(Widget, server.put("a", "old", { color: "blue" }, { labels: { app: "db" } }));
  expect(cache.get(Widget, { namespace: "a", name: "old" })?.color).toBe("blue");
  expect([all(), labelled(), red(), owned()]).toEqual([["old"], [], [], []]);
  expect(pending()).toBe(1);
});

test("a delete empties all reads at once", async () => {
  const { server, cache, catchUp, all, labelled, red, owned, pending } = await setup();
  const last = server.remove("a", "old");
  if (last) cache.deleted(Widget, last);
  expect(cache.get(Widget, { namespace: "a", name: "old" })).toBeUndefined();
  for (const read of [all, labelled, red, owned]) expect(read()).toEqual([]);
  await catchUp();
  expect(all()).toEqual([]);
  expect(pending()).toBe(0);
});

test("a delete that finalizers or a grace period hold up is an update", async () => {
  const { server, cache } = await setup();
  const dying = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  cache.deleted(Widget, server.put("a", "old", {}, { ...dying, finalizers: ["example.com/x"] }));
  expect(cache.get(Widget, { namespace: "a", name: "old" })?.metadata.deletionTimestamp).toBeDefined();
  cache.deleted(Widget, server.put("a", "graced", {}, { ...dying, deletionGracePeriodSeconds: 30 }));
  expect(cache.get(Widget, { namespace: "a", name: "graced" })).toBeDefined();
});

test("a write by others after ours is shown as soon as the watch brings it", async () => {
  const { server, cache, catchUp } = await setup();
  cache.wrote(Widget, server.put("a", "old", { color: "ours" }));
  server.put("a", "old", { color: "theirs" });
  expect(cache.get(Widget, { namespace: "a", name: "old" })?.color).toBe("ours");
  await catchUp();
  expect(cache.get(Widget, { namespace: "a", name: "old" })?.color).toBe("theirs");
});

test("handlers get our own writes from the watch, once", async () => {
  const { server, cache, catchUp } = await setup();
  const heard: string[] = [];
  const informer = cache.informer(Widget);
  informer.subscribe((event) => heard.push(`${event.type} ${event.object.metadata.name}`));
  cache.wrote(Widget, server.put("a", "new"));
  expect(heard).toEqual(["added old"]);
  await catchUp();
  expect(heard).toEqual(["added old", "added new"]);
});

test("a write that takes an object out of the selection hides it, and one that brings it in shows it", async () => {
  const { server, cache, all, catchUp } = await setup({ labelSelector: "app=web" });
  cache.wrote(Widget, server.put("a", "old", {}, { labels: { app: "db" } }));
  expect(all()).toEqual([]);
  cache.wrote(Widget, server.put("a", "elsewhere", {}, { labels: { app: "db" } }));
  cache.wrote(Widget, server.put("a", "new", {}, { labels: { app: "web" } }));
  expect(all()).toEqual(["new"]);
  await catchUp();
  expect(all()).toEqual(["new"]);
});

test("field selectors and namespaces narrow our own writes too", async () => {
  const { server, cache, all } = await setup({
    namespace: "a",
    fieldSelector: "status.phase!=Done,metadata.name!=skip",
  });
  cache.wrote(Widget, server.put("a", "running", { status: { phase: "Running" } }));
  cache.wrote(Widget, server.put("a", "done", { status: { phase: "Done" } }));
  cache.wrote(Widget, server.put("a", "skip"));
  cache.wrote(Widget, server.put("b", "far"));
  expect(all()).toEqual(["old", "running"]);
});

test("what the caller wrote stays the caller's: it is not frozen", async () => {
  const { server, cache } = await setup();
  const answer = server.put("a", "new", { spec: { open: true } });
  cache.wrote(Widget, answer);
  expect(Object.isFrozen(answer)).toBe(false);
  expect(Object.isFrozen(cache.get(Widget, { namespace: "a", name: "new" }))).toBe(true);
});

test("the barrier opens when the watch has caught up", async () => {
  const { server, cache, catchUp } = await setup();
  await cache.barrier(Widget);
  cache.wrote(Widget, server.put("a", "new"));
  let isOpen = false;
  const opened = cache.barrier(Widget).then(() => {
    isOpen = true;
  });
  await Promise.resolve();
  expect(isOpen).toBe(false);
  await catchUp();
  await opened;
  await expect(cache.barrier(Widget, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

test("the cache ignores a write to a kind that is not cached", async () => {
  const { cache } = await setup();
  const Other = { ...Widget, plural: "others" };
  cache.wrote(Other, { metadata: { name: "x", resourceVersion: "5" } });
  cache.deleted(Other, { metadata: { name: "x", resourceVersion: "5" } });
  await cache.barrier(Other);
});
