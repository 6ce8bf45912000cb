import { type AnyKind, ApiError } from "@windlass/client";
import { seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { createCache } from "./cache.ts";
import { CacheMissError } from "./errors.ts";
import type { ModelServer } from "./model-server.fixture.ts";
import { listen, setup, Widget } from "./test-cache.fixture.ts";

test("objects that are there are read after the sync, and changes as they come", async () => {
  const { server, cache, settle, names } = setup();
  server.put("a", "one", { spec: { size: 1 } });
  const informer = cache.informer(Widget);
  const { heard } = listen(informer);
  await cache.waitForSync();
  expect(informer.hasSynced).toBe(true);
  expect(cache.get(Widget, { namespace: "a", name: "one" })).toMatchObject({
    kind: "Widget",
    spec: { size: 1 },
  });
  server.put("b", "two");
  server.put("a", "one", { spec: { size: 2 } });
  server.remove("b", "two");
  await settle();
  expect(names()).toEqual(["one"]);
  expect(cache.get(Widget, { namespace: "a", name: "one" })?.spec).toEqual({ size: 2 });
  expect(heard).toEqual(["added* one@101", "added two@102", "updated one@103", "deleted two@104"]);
});

test("an update has the object before and after, and a delete its last state", async () => {
  const { server, cache, settle } = setup();
  server.put("a", "one", { spec: 1 });
  const informer = cache.informer(Widget);
  const seen: unknown[] = [];
  informer.subscribe((event) => {
    if (event.type === "updated") seen.push([event.old.spec, event.object.spec]);
    if (event.type === "deleted") seen.push([event.object.spec, event.object.metadata.resourceVersion]);
  });
  await cache.waitForSync();
  server.put("a", "one", { spec: 2 });
  server.remove("a", "one");
  await settle();
  expect(seen).toEqual([
    [1, 2],
    [2, "103"],
  ]);
});

test("a late handler first receives what is in the cache, and one that throws does not affect others", async () => {
  const { server, cache, settle, warnings } = setup();
  server.put("a", "one");
  const informer = cache.informer(Widget);
  await cache.waitForSync();
  informer.subscribe(() => {
    throw new Error("no");
  });
  const { heard, stop } = listen(informer);
  server.put("a", "two");
  await settle();
  stop();
  server.put("a", "three");
  await settle();
  expect(heard).toEqual(["added* one@101", "added two@102"]);
  expect(warnings.some((text) => text.includes("handler"))).toBe(true);
});

test("a server that cannot stream is listed in pages", async () => {
  const { server, cache, names, settle } = setup({ pageSize: 2 });
  server.streaming = "refuses";
  for (const name of ["1", "2", "3", "4", "5"]) server.put("a", name);
  cache.informer(Widget);
  await cache.waitForSync();
  expect(names()).toEqual(["1", "2", "3", "4", "5"]);
  expect(cache.get(Widget, { namespace: "a", name: "1" })).toMatchObject({
    apiVersion: "example.com/v1",
    kind: "Widget",
  });
  await settle();
  expect(server.requests).toEqual(["stream", "list", "page", "page", "watch 105"]);
});

test("a server that takes the stream but never completes it is listed after ten seconds", async () => {
  const { clock, server, cache, names } = setup();
  server.streaming = "never ends";
  server.put("a", "one");
  const informer = cache.informer(Widget);
  await clock.advance(9_999);
  expect(informer.hasSynced).toBe(false);
  await clock.advance(1);
  expect(names()).toEqual(["one"]);
});

test("a closed watch resumes where it was, without a list and without reporting anything twice", async () => {
  const { server, cache, settle, names } = setup();
  server.put("a", "one");
  const { heard } = listen(cache.informer(Widget));
  await cache.waitForSync();
  server.close();
  server.put("a", "two");
  await settle();
  server.repeat();
  await settle();
  expect(names()).toEqual(["one", "two"]);
  expect(heard).toEqual(["added* one@101", "added two@102"]);
  expect(server.requests).toEqual(["stream", "watch 101"]);
});

test("a bookmark moves on the version from which it resumes", async () => {
  const { server, cache, settle } = setup();
  cache.informer(Widget);
  await cache.waitForSync();
  server.tick();
  server.bookmark();
  await settle();
  server.compact();
  server.close();
  await settle();
  expect(server.requests).toEqual(["stream", "watch 101"]);
});

test.each([
  [
    "the resumed watch gets 410 for its version",
    (server: ModelServer) => {
      server.close();
      server.put("a", "new");
      server.remove("a", "old");
      server.compact();
    },
  ],
  [
    "the stream ends with 410 Expired",
    (server: ModelServer) => {
      server.fail({ code: 410, reason: "Expired" });
      server.put("a", "new");
      server.remove("a", "old");
    },
  ],
  [
    "the stream ends with Gone",
    (server: ModelServer) => {
      server.fail({ code: 410, reason: "Gone" });
      server.put("a", "new");
      server.remove("a", "old");
    },
  ],
  [
    "the watch request itself is answered with 410",
    (server: ModelServer) => {
      server.faults.push(new ApiError({ kind: "Status", code: 410, reason: "Expired", message: "too old" }));
      server.close();
      server.put("a", "new");
      server.remove("a", "old");
    },
  ],
])("when %s, a fresh list is swapped in with the deletes that were missed", async (_, happens) => {
  const { server, cache, settle, names } = setup();
  server.put("a", "old");
  server.put("a", "same");
  const { heard } = listen(cache.informer(Widget));
  await cache.waitForSync();
  happens(server);
  await settle();
  await settle();
  expect(server.requests.filter((request) => request === "stream")).toHaveLength(2);
  expect(new Set(names())).toEqual(new Set(["same", "new"]));
  expect(heard.slice(2).map((line) => line.split("@")[0])).toEqual(
    expect.arrayContaining(["deleted old", "added new"]),
  );
  expect(heard.filter((line) => line.includes("same"))).toHaveLength(1);
});

test("a server that went back in time is found out, and what is held is not trusted as what it has now", async () => {
  const { clock, server, cache } = setup();
  server.put("a", "one", { text: "first" });
  const backup = Number(server.revision);
  server.put("a", "one", { text: "lost" });
  server.put("a", "two");
  const { heard } = listen(cache.informer(Widget));
  await cache.waitForSync();
  server.pullCable();
  cache.wrote(Widget, server.put("a", "three", { text: "ours, and lost" }));
  server.restore(backup);
  // The same object in the same version as the one that was lost, and another.
  server.put("a", "one", { text: "other" });
  await clock.advance(400_000);
  expect(cache.list(Widget).map(({ metadata, text }) => `${metadata.name} ${String(text)}`)).toEqual([
    "one other",
  ]);
  expect(heard).toEqual(["added* one@102", "added* two@103", "deleted two@103", "updated one@102"]);
  server.put("a", "three", { text: "theirs" });
  await clock.advance(0);
  expect(cache.get(Widget, { namespace: "a", name: "three" })?.text).toBe("theirs");
});

test("an object recreated under the same name while the watch was down is a delete and an add", async () => {
  const { clock, server, cache } = setup();
  server.put("a", "one");
  const { heard } = listen(cache.informer(Widget));
  await cache.waitForSync();
  server.cut();
  server.remove("a", "one");
  server.put("a", "one");
  server.compact();
  await clock.advance(10_000);
  expect(heard).toEqual(["added* one@101", "deleted one@101", "added one@103"]);
});

test("a peer that has gone silent is noticed within two minutes", async () => {
  const { clock, server, cache, names } = setup();
  server.put("a", "one");
  cache.informer(Widget);
  await cache.waitForSync();
  server.pullCable();
  server.put("a", "two");
  await clock.advance(119_999);
  expect(names()).toEqual(["one"]);
  await clock.advance(1);
  expect(names()).toEqual(["one", "two"]);
});

test("refused connections are tried again, and the status says what is wrong", async () => {
  const { clock, server, cache, warnings } = setup();
  const down = () =>
    new ApiError({ kind: "Status", code: 503, reason: "ServiceUnavailable", message: "starting up" });
  server.faults.push(down(), down());
  const informer = cache.informer(Widget);
  await clock.advance(0);
  expect(informer.status).toEqual({ at: "waiting", message: "starting up" });
  await clock.advance(10_000);
  expect(informer.status.at).toBe("watching");
  expect(warnings).toEqual(["cannot list Widget (example.com/v1); trying again"]);
});

test("a kind that is not installed counts as empty, is said once, and attaches when it appears and lets go when it leaves", async () => {
  const { clock, server, cache, warnings, names } = setup();
  server.isInstalled = false;
  const informer = cache.informer(Widget);
  const { heard } = listen(informer);
  await cache.waitForSync();
  expect(informer.status).toEqual({ at: "missing", message: "the kind is not installed on the server" });
  expect(names()).toEqual([]);
  await clock.advance(300_000);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(
    /Widget \(example.com\/v1\) is not installed.*install its CustomResourceDefinition/,
  );
  server.isInstalled = true;
  server.put("a", "one");
  await clock.advance(60_000);
  expect(names()).toEqual(["one"]);
  expect(informer.status.at).toBe("watching");
  server.isInstalled = false;
  server.close();
  await clock.advance(1000);
  expect(names()).toEqual([]);
  expect(heard.map((line) => line.split("@")[0])).toEqual(["added one", "deleted one"]);
});

test("a line that is no watch event ends the watch, and it starts again", async () => {
  const { clock, server, cache, names } = setup();
  let lines = 0;
  const source = {
    listBytes: server.listBytes.bind(server),
    watchLines: async function* (kind: AnyKind, options: Parameters<ModelServer["watchLines"]>[1]) {
      for await (const line of server.watchLines(kind, options))
        yield ++lines === 2 ? Buffer.from('{"type":"ADD') : line;
    },
  };
  const other = createCache({ source, clock, random: seededRandom(1) });
  onTestFinished(() => other.stop());
  server.put("a", "one");
  server.put("a", "two");
  other.informer(Widget);
  await clock.advance(5000);
  expect(other.list(Widget)).toHaveLength(2);
  expect(() => names()).toThrow(CacheMissError);
  expect(cache.stats()).toEqual([]);
});
