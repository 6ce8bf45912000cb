import { type AnyKind, type AnyObject, ApiError, metadataOnly } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { createCache } from "./cache.ts";
import type { CacheEvent } from "./contract.ts";
import { CacheMissError, CacheStoppedError, CacheSyncError } from "./errors.ts";
import { ModelServer } from "./model-server.fixture.ts";
import { namespaceSet, namespacesByLabel } from "./namespaces.ts";
import { Gadget, listen, setup, Widget } from "./test-cache.fixture.ts";

test("managedFields are left out unless asked for", async () => {
  for (const keepManagedFields of [false, true]) {
    const { server, cache } = setup({ keepManagedFields });
    server.put("a", "one");
    cache.informer(Widget);
    await cache.waitForSync();
    const object = cache.get(Widget, { namespace: "a", name: "one" });
    expect(object?.metadata.managedFields !== undefined).toBe(keepManagedFields);
  }
});

test("a transform decides what is kept, of what the watch brings and of our own writes", async () => {
  const { server, cache } = setup({
    transforms: (kind) =>
      kind.kind === "Widget" ? (object) => ({ ...object, data: undefined, seen: true }) : undefined,
  });
  server.put("a", "one", { data: "large", spec: 1 });
  cache.informer(Widget);
  await cache.waitForSync();
  cache.wrote(Widget, { ...server.put("a", "two", { data: "large" }) });
  for (const name of ["one", "two"]) {
    const object = cache.get(Widget, { namespace: "a", name });
    expect(object?.seen).toBe(true);
    expect(object?.data).toBeUndefined();
  }
});

test("an object that a transform throws for is kept as it came, and the others are not delayed", async () => {
  const { server, cache, settle, warnings } = setup({
    transforms: () => (object) => {
      (object as { data?: unknown }).data = "small";
      if (object.metadata.name.startsWith("odd")) throw new Error("what is this?");
      return object;
    },
  });
  for (const name of ["odd", "even"]) server.put("a", name, { data: "large" });
  cache.informer(Widget);
  await cache.waitForSync();
  cache.wrote(Widget, server.put("a", "odder", { data: "large" }));
  await settle();
  const data = (name: string) => cache.get(Widget, { namespace: "a", name })?.data;
  expect(["odd", "even", "odder"].map(data)).toEqual(["large", "small", "large"]);
  expect(warnings).toEqual([
    "the transform of Widget threw for a/odd; objects that it throws for are kept as they came",
  ]);
});

test("objects are frozen while developing, and not otherwise", async () => {
  for (const freeze of [true, false]) {
    const { server, cache } = setup({ freeze });
    server.put("a", "one", { spec: { deep: { er: 1 } } });
    cache.informer(Widget);
    await cache.waitForSync();
    const spec = cache.get(Widget, { namespace: "a", name: "one" })?.spec as { deep: object };
    expect(Object.isFrozen(spec.deep)).toBe(freeze);
  }
});

test("what is read again is the same object until others have taken its place", async () => {
  const { server, cache } = setup({ parsedBytes: 1000 });
  for (let index = 0; index < 50; index++) server.put("a", `w${index}`);
  cache.informer(Widget);
  await cache.waitForSync();
  const key = { namespace: "a", name: "w0" };
  const first = cache.get(Widget, key);
  expect(cache.get(Widget, key)).toBe(first);
  cache.list(Widget);
  expect(cache.get(Widget, key)).not.toBe(first);
  expect(cache.get(Widget, key)).toEqual(first);
});

test("a version that was replaced is not kept in parsed form, and can still be read", async () => {
  const { server, cache, settle } = setup();
  server.put("a", "one", { spec: 1 });
  const informer = cache.informer(Widget);
  await cache.waitForSync();
  const events: CacheEvent<AnyObject>[] = [];
  informer.subscribe((event) => events.push(event));
  const [added] = events;
  const first = added?.object;
  expect(added?.object).toBe(first);
  server.put("a", "one", { spec: 2 });
  await settle();
  expect(added?.object).not.toBe(first);
  expect(added?.object).toEqual(first);
  expect(events[1]).toMatchObject({ type: "updated", old: { spec: 1 }, object: { spec: 2 } });
});

test("lists are narrowed by namespace and labels", async () => {
  const { server, cache } = setup();
  server.put("a", "one", {}, { labels: { app: "web", tier: "1" } });
  server.put("b", "two", {}, { labels: { app: "web" } });
  server.put("b", "three", {}, { labels: { app: "db" } });
  cache.informer(Widget);
  await cache.waitForSync();
  const names = (options: object) => cache.list(Widget, options).map((object) => object.metadata.name);
  expect(names({ namespace: "b" })).toEqual(["two", "three"]);
  expect(names({ labelSelector: "app=web" })).toEqual(["one", "two"]);
  expect(names({ namespace: "b", labelSelector: "app in (web)" })).toEqual(["two"]);
  expect(names({ labelSelector: "!tier" })).toEqual(["two", "three"]);
});

test("indexes follow adds, changes and deletes, and a function that throws leaves the object out", async () => {
  const { server, cache, settle, warnings } = setup();
  server.put("a", "one", { spec: { color: "red" } });
  const informer = cache.informer(Widget);
  const colors = (object: AnyObject) => [(object.spec as { color: string }).color];
  informer.addIndex("color", colors);
  await cache.waitForSync();
  informer.addIndex("color", colors);
  informer.addIndex("letter", (object) => object.metadata.name.split(""));
  const found = (color: string) =>
    cache.byIndex(Widget, "color", color).map((object) => object.metadata.name);
  server.put("a", "two", { spec: { color: "red" } });
  server.put("a", "three", {});
  server.put("a", "four", {});
  await settle();
  expect(found("red")).toEqual(["one", "two"]);
  expect(cache.byIndex(Widget, "letter", "w")).toHaveLength(1);
  expect(warnings).toEqual([
    'the index "color" of Widget threw for a/three; objects that it throws for are left out of it',
  ]);
  server.put("a", "one", { spec: { color: "blue" } });
  server.remove("a", "two");
  await settle();
  expect([found("red"), found("blue")]).toEqual([[], ["one"]]);
  expect(() => informer.addIndex("color", () => [])).toThrow('index "color" already');
  expect(() => cache.byIndex(Widget, "size", "1")).toThrow(
    /^Widget has no index "size"; it has .*\. Declare it: .*"indexes".*indexed\(Widget, \{ … \}\)/,
  );
});

test("objects are found by their owners", async () => {
  const { server, cache, settle } = setup();
  const owned = (uid: string) => ({ ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid }] });
  server.put("a", "one", {}, owned("u1"));
  cache.informer(Widget);
  await cache.waitForSync();
  server.put("a", "two", {}, owned("u1"));
  server.put("a", "one", {}, owned("u2"));
  await settle();
  const names = (uid: string) => cache.ownedBy(Widget, uid).map((object) => object.metadata.name);
  expect([names("u1"), names("u2"), names("u3")]).toEqual([["two"], ["one"], []]);
});

test("informers of equal scope are one, and it stops with its last user", async () => {
  const { server, cache, settle, names } = setup();
  const first = cache.informer(Widget);
  const second = cache.informer(Widget, {});
  const { heard } = listen(second);
  await cache.waitForSync();
  expect(server.watches).toBe(1);
  first.release();
  first.release();
  server.put("a", "one");
  await settle();
  expect(names()).toEqual(["one"]);
  expect(heard).toHaveLength(1);
  second.release();
  await settle();
  expect(server.watches).toBe(0);
  expect(() => names()).toThrow(CacheMissError);
});

test("the widest informer answers, and parts are put together where there is none", async () => {
  const { server, cache } = setup();
  server.put("a", "one", {}, { labels: { app: "web" } });
  server.put("b", "two");
  server.put("c", "three");
  cache.informer(Widget, { namespace: "a" });
  cache.informer(Widget, { namespace: "b" });
  cache.informer(Widget, { labelSelector: "app=web" });
  await cache.waitForSync();
  const names = () => cache.list(Widget).map((object) => object.metadata.name);
  expect(names()).toEqual(["one", "two"]);
  cache.informer(Widget);
  await cache.waitForSync();
  expect(names()).toEqual(["one", "two", "three"]);
});

test("reading what no informer holds is refused with the way out", async () => {
  const { cache } = setup();
  expect(() => cache.get(Gadget, { namespace: "a", name: "x" })).toThrow(
    "Gadget (example.com/v1): no informer holds it; declare the kind in a controller",
  );
  cache.informer(Widget, { namespace: "a" });
  expect(() => cache.list(Widget)).toThrow("has not synced yet");
  await cache.waitForSync();
  expect(() => cache.get(Widget, { namespace: "b", name: "x" })).toThrow(
    'no informer holds namespace "b", only a',
  );
});

test("an informer of one object answers for that one, and turns nothing else into not found", async () => {
  const { server, cache, settle } = setup();
  const [own, other] = [
    { namespace: "a", name: "own" },
    { namespace: "a", name: "other" },
  ];
  for (const { namespace, name } of [own, other]) server.put(namespace, name);
  const informer = cache.informer(Widget, { namespace: "a", fieldSelector: "metadata.name=own" });
  await cache.waitForSync();
  expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(["own"]);
  expect(cache.get(Widget, own)?.metadata.name).toBe("own");
  for (const read of [
    () => cache.get(Widget, other),
    () => cache.get(Widget, { ...own, namespace: "b" }),
    () => cache.list(Widget),
    () => cache.list(Widget, { namespace: "a" }),
    () => cache.ownedBy(Widget, "u1"),
  ])
    expect(read).toThrow(CacheMissError);
  expect(() => cache.list(Widget)).toThrow("hold only a part of it (fieldSelector metadata.name=own)");
  server.remove("a", "own");
  await settle();
  expect(cache.get(Widget, own)).toBeUndefined();
});

test("with read-through a read starts an informer, warns once, and says when it can be answered", async () => {
  const { server, warnings, names } = setup({ readThrough: true });
  server.put("a", "one");
  for (let read = 0; read < 2; read++) expect(() => names()).toThrow(CacheMissError);
  try {
    names();
  } catch (error) {
    if (error instanceof CacheMissError) await error.ready;
  }
  expect(names()).toEqual(["one"]);
  expect(warnings).toEqual([expect.stringContaining("starts an informer that holds every Widget")]);
});

test("waiting for the sync ends with an error that names what has not synced and why", async () => {
  const { clock, server, cache } = setup({ syncTimeout: 3000 });
  const denied = () =>
    new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message: "widgets is forbidden" });
  for (let index = 0; index < 20; index++) server.faults.push(denied());
  cache.informer(Widget);
  const waiting = cache.waitForSync().catch((error: unknown) => error);
  await clock.advance(3000);
  const error = await waiting;
  expect(error).toBeInstanceOf(CacheSyncError);
  expect(String(error)).toContain("within 3 s: Widget (example.com/v1) (widgets is forbidden)");
});

test("waiting for the sync can be aborted", async () => {
  const { server, cache } = setup();
  server.streaming = "never ends";
  cache.informer(Widget);
  await expect(cache.waitForSync(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

test("a stopped cache has no watches and answers nothing", async () => {
  const { clock, server, cache, names } = setup();
  cache.informer(Widget);
  await cache.waitForSync();
  await cache.stop();
  expect(server.watches).toBe(0);
  expect(clock.pending).toBe(0);
  expect(() => names()).toThrow(CacheStoppedError);
  expect(() => cache.informer(Widget)).toThrow(CacheStoppedError);
});

test("metadata alone is asked for, and our own writes are cut down to it", async () => {
  const { server, cache } = setup();
  const asked: (string | undefined)[] = [];
  const inner = server.watchLines.bind(server);
  server.watchLines = (kind, options) => {
    asked.push(kind.representation);
    return inner(kind, options);
  };
  const informer = cache.informer(Widget, { metadataOnly: true });
  await cache.waitForSync();
  cache.wrote(Widget, server.put("a", "one", { spec: 1 }));
  const key = { namespace: "a", name: "one" };
  for (const object of [informer.get(key), cache.get(metadataOnly(Widget), key)]) {
    expect(object?.metadata.name).toBe("one");
    expect(object).not.toHaveProperty("spec");
  }
  expect(() => cache.get(Widget, key)).toThrow("hold only a part of it (metadataOnly)");
  expect(asked).toEqual(["PartialObjectMetadata"]);
});

test("namespaces can be chosen, and the choice changed while running", async () => {
  const { server, cache, settle, names } = setup();
  for (const namespace of ["a", "b", "c"]) server.put(namespace, `in-${namespace}`);
  const namespaces = namespaceSet(["a", "b"]);
  const informer = cache.informer(Widget, { namespaces });
  informer.addIndex("name", (object) => [object.metadata.name]);
  const { heard } = listen(informer);
  await cache.waitForSync();
  expect(informer.hasSynced).toBe(true);
  expect(names()).toEqual(["in-a", "in-b"]);
  expect(cache.get(Widget, { namespace: "b", name: "in-b" })).toBeDefined();
  namespaces.set(["b", "c"]);
  await settle();
  expect(names()).toEqual(["in-b", "in-c"]);
  expect(cache.byIndex(Widget, "name", "in-c")).toHaveLength(1);
  expect(() => cache.get(Widget, { namespace: "a", name: "in-a" })).toThrow(
    'no informer holds namespace "a"',
  );
  expect(heard.map((line) => line.split("@")[0])).toEqual([
    "added* in-a",
    "added* in-b",
    "deleted in-a",
    "added* in-c",
  ]);
  expect(server.watches).toBe(2);
  informer.release();
  await settle();
  expect(server.watches).toBe(0);
});

test("a namespace that leaves before it has synced is not waited for", async () => {
  const { clock, server, cache } = setup();
  server.streaming = "never ends";
  const namespaces = namespaceSet(["a", "b"]);
  const informer = cache.informer(Widget, { namespaces });
  await clock.advance(1000);
  namespaces.set([]);
  await informer.synced;
  expect(informer.hasSynced).toBe(true);
});

test("namespaces can be chosen by their labels, which may change", async () => {
  const clock = new ManualClock();
  const widgets = new ModelServer();
  const namespaces = new ModelServer();
  const of = (kind: AnyKind) => (kind.plural === "namespaces" ? namespaces : widgets);
  const cache = createCache({
    clock,
    random: seededRandom(1),
    source: {
      listBytes: (kind, options) => of(kind).listBytes(kind, options),
      watchLines: (kind, options) => of(kind).watchLines(kind, options),
    },
  });
  onTestFinished(() => cache.stop());
  for (const name of ["a", "b"]) widgets.put(name, `in-${name}`);
  namespaces.put("", "a", {}, { labels: { team: "x" } });
  namespaces.put("", "b");
  const chosen = namespacesByLabel(cache, "team=x");
  cache.informer(Widget, { namespaces: chosen });
  await cache.waitForSync();
  const names = () => cache.list(Widget).map((object) => object.metadata.name);
  expect(names()).toEqual(["in-a"]);
  namespaces.put("", "b", {}, { labels: { team: "x" } });
  namespaces.put("", "a");
  await clock.advance(0);
  await clock.advance(0);
  expect(names()).toEqual(["in-b"]);
  chosen.release();
});

test("the figures say what is held and how fresh it is, and observers hear what happens", async () => {
  const heard: string[] = [];
  const { clock, server, cache, settle } = setup({
    observer: {
      listed: (_, seconds, how) => heard.push(`listed in ${seconds} by ${how}`),
      watchRestarted: () => heard.push("restarted"),
      failed: (_, message) => heard.push(`failed: ${message}`),
      changed: (_, type) => heard.push(type),
    },
  });
  server.put("a", "one");
  cache.informer(Widget);
  await cache.waitForSync();
  server.close();
  await settle();
  await clock.advance(30_000);
  const [stats] = cache.stats();
  expect(stats).toMatchObject({ items: 1, pendingWrites: 0, staleSeconds: 30, resourceVersion: "101" });
  expect(stats?.bytes).toBeGreaterThan(100);
  server.cut();
  await settle();
  expect(heard).toEqual(["added", "listed in 0 by stream", "restarted", "failed: the connection was reset"]);
});

test("informers without a scope of their own have the default one", async () => {
  const { server, cache } = setup({ defaultScope: { namespace: "a", labelSelector: "app=web" } });
  server.put("a", "one", {}, { labels: { app: "web" } });
  server.put("a", "two");
  server.put("b", "three", {}, { labels: { app: "web" } });
  const informer = cache.informer(Widget);
  expect(informer.scope).toEqual({ namespace: "a", labelSelector: "app=web" });
  await cache.waitForSync();
  expect(cache.list(Widget, { namespace: "a" }).map((object) => object.metadata.name)).toEqual(["one"]);
  expect(cache.informer({ ...Gadget, scope: "Cluster" }).scope).toEqual({ labelSelector: "app=web" });
});

test("objects are held compressed unless that is turned off", async () => {
  const sizes: number[] = [];
  for (const compress of [true, false]) {
    const { server, cache } = setup({ compress });
    for (let index = 0; index < 100; index++)
      server.put("a", `w${index}`, { text: "the same over and over ".repeat(200) });
    cache.informer(Widget);
    await cache.waitForSync();
    expect(cache.get(Widget, { namespace: "a", name: "w7" })?.text).toContain("over and over");
    sizes.push(cache.reservedBytes);
  }
  const [packed = 0, plain = 0] = sizes;
  expect(packed * 4).toBeLessThan(plain);
});

test("own keys that are special to JavaScript are data like any other", async () => {
  const { server, cache } = setup();
  const evil = JSON.parse('{"__proto__":{"polluted":true},"constructor":"x"}') as Record<string, string>;
  server.put("a", "one", { spec: evil }, { labels: JSON.parse('{"__proto__":"y","app":"web"}') as object });
  cache.informer(Widget).addIndex("label", (object) => Object.keys(object.metadata.labels ?? {}));
  await cache.waitForSync();
  const object = cache.get(Widget, { namespace: "a", name: "one" });
  expect(JSON.stringify(object?.spec)).toBe('{"__proto__":{"polluted":true},"constructor":"x"}');
  expect(cache.byIndex(Widget, "label", "__proto__")).toHaveLength(1);
  expect(cache.list(Widget, { labelSelector: "toString" })).toEqual([]);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
