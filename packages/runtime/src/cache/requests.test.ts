import { type AnyKind, ApiError, type ListOptions, type WatchOptions } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, onTestFinished, test } from "vitest";
import { createCache } from "./cache.ts";
import { ModelServer } from "./model-server.fixture.ts";
import { patienceMs } from "./reflector.ts";
import { listen, setup, Widget } from "./test-cache.fixture.ts";

/** A model server that keeps the options of what it was asked. */
class RecordingServer extends ModelServer {
  readonly lists: ListOptions[] = [];
  readonly opened: WatchOptions[] = [];

  override listBytes(kind: AnyKind, options: ListOptions = {}): AsyncGenerator<Uint8Array> {
    this.lists.push(options);
    return super.listBytes(kind, options);
  }

  override watchLines(kind: AnyKind, options: WatchOptions = {}): AsyncGenerator<Buffer> {
    this.opened.push(options);
    return super.watchLines(kind, options);
  }
}

function recording() {
  const clock = new ManualClock();
  const server = new RecordingServer();
  const cache = createCache({ source: server, clock, random: seededRandom(1) });
  onTestFinished(() => cache.stop());
  return { clock, server, cache };
}

test("selectors are the server's to apply, and informers of different ones are not shared", async () => {
  const { server, cache } = recording();
  const scopes = [
    {},
    { fieldSelector: "metadata.name=one" },
    { fieldSelector: "metadata.name=two" },
    { labelSelector: "app=web" },
    { namespace: "a" },
  ];
  for (const scope of [...scopes, ...scopes]) cache.informer(Widget, scope);
  await cache.waitForSync();
  const asked = server.opened.map(({ namespace, labelSelector, fieldSelector }) => ({
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }));
  expect(asked).toEqual(scopes);
});

test("a list or stream after a failure asks for nothing older than what is held", async () => {
  const { clock, server, cache } = recording();
  server.streaming = "refuses";
  server.put("a", "one");
  cache.informer(Widget);
  await cache.waitForSync();
  await clock.advance(0);
  expect(server.lists[0]).not.toHaveProperty("resourceVersion");
  server.fail({ code: 500, reason: "InternalError" });
  await clock.advance(5_000);
  expect(server.lists.at(-1)).toMatchObject({
    resourceVersion: "101",
    resourceVersionMatch: "NotOlderThan",
  });
});

test("a page of a list that does not end is abandoned", async () => {
  const endless = Buffer.allocUnsafeSlow(64 * 1024 * 1024);
  let isLeft = false;
  class EndlessServer extends ModelServer {
    override async *listBytes(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield endless;
      } finally {
        isLeft = true;
      }
    }
  }
  const clock = new ManualClock();
  const source = new EndlessServer();
  source.streaming = "refuses";
  const cache = createCache({ source, clock, random: seededRandom(1), pageSize: 100 });
  onTestFinished(() => cache.stop());
  const informer = cache.informer(Widget);
  await clock.advance(0);
  await expect.poll(() => isLeft).toBe(true);
  expect(informer.status).toMatchObject({
    at: "waiting",
    message: expect.stringMatching(/^a page of 100 objects is larger than the 1073741824 bytes/),
  });
});

test("a watch that outlives the time it was asked for is reopened, however much it says", async () => {
  const { clock, server, cache } = recording();
  cache.informer(Widget);
  await cache.waitForSync();
  const { timeoutSeconds = 0 } = server.opened[0] ?? {};
  expect(timeoutSeconds).toBeGreaterThanOrEqual(300);
  expect(timeoutSeconds).toBeLessThanOrEqual(600);
  for (let passed = 0; passed < timeoutSeconds * 1000 + 60_000; passed += patienceMs.watching / 2) {
    server.bookmark();
    await clock.advance(patienceMs.watching / 2);
  }
  expect(server.opened).toHaveLength(2);
});

test("watches are asked for five to ten minutes, not all for the same", async () => {
  const { server, cache } = recording();
  for (const namespace of ["a", "b", "c", "d"]) cache.informer(Widget, { namespace });
  await cache.waitForSync();
  const asked = server.opened.map(({ timeoutSeconds = 0 }) => timeoutSeconds);
  expect(new Set(asked).size).toBe(4);
  for (const seconds of asked) {
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThanOrEqual(600);
  }
});

test("the first lists are waited for for two minutes", async () => {
  const { clock, server, cache } = recording();
  server.streaming = "refuses";
  const denied = { kind: "Status" as const, code: 403, reason: "Forbidden", message: "no" };
  for (let count = 0; count < 500; count++) server.faults.push(new ApiError(denied));
  cache.informer(Widget);
  let outcome = "waiting";
  void cache.waitForSync().catch((error: Error) => {
    outcome = error.name;
  });
  await clock.advance(119_999);
  expect(outcome).toBe("waiting");
  await clock.advance(1);
  expect(outcome).toBe("CacheSyncError");
});

test("an older state of an object that is sent once more changes nothing and is not told", async () => {
  const { server, cache, settle } = setup();
  server.put("a", "one", { size: 1 });
  const { heard } = listen(cache.informer(Widget));
  await cache.waitForSync();
  const stale = server.objects.get("a/one");
  server.put("a", "one", { size: 2 });
  await settle();
  server.replay("MODIFIED", stale);
  await settle();
  expect(cache.get(Widget, { namespace: "a", name: "one" })?.size).toBe(2);
  expect(heard).toEqual(["added* one@101", "updated one@102"]);
});

test("a write of ours that the watch never brings goes with a bookmark, or with a list", async () => {
  const { server, cache, settle } = setup();
  cache.informer(Widget);
  await cache.waitForSync();
  const pending = () => cache.stats()[0]?.pendingWrites;
  /** Made and gone before the watch looked, as far as the watch is concerned. */
  const unseen = (name: string) => {
    server.tick();
    cache.wrote(Widget, {
      metadata: { namespace: "a", name, uid: `uid-of-${name}`, resourceVersion: server.revision },
    });
  };
  unseen("one");
  expect(pending()).toBe(1);
  server.bookmark();
  await settle();
  expect(pending()).toBe(0);
  unseen("two");
  server.compact();
  server.fail({ code: 410, reason: "Expired" });
  await settle();
  expect(server.requests.filter((request) => request === "stream")).toHaveLength(2);
  expect(pending()).toBe(0);
});

test("a server that asks to wait is not asked before", async () => {
  const { clock, server, cache } = setup();
  server.streaming = "refuses";
  const busy = { kind: "Status" as const, code: 429, reason: "TooManyRequests", message: "later" };
  server.faults.push(new ApiError({ ...busy, details: { retryAfterSeconds: 20 } }));
  cache.informer(Widget);
  await clock.advance(19_999);
  expect(server.requests).toHaveLength(1);
  await clock.advance(20_001);
  expect(server.requests.length).toBeGreaterThan(1);
});
