import { ApiError, type ProtobufReader, type ResourceKind } from "@windlass/client";
import { loadMessages, messageOf, readMessage } from "@windlass/client/protobuf";
import { ManualClock, seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { type CacheOptions, createCache } from "./cache.ts";
import type { ListWatcher } from "./list-watcher.ts";
import { MalformedObjectError } from "./received.ts";
import { readLabels, scanMessage } from "./scan-message.ts";
import { listen } from "./test-cache.fixture.ts";

const ConfigMap: ResourceKind = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  scope: "Namespaced",
};

await loadMessages();

// A little of the other direction: enough to send what a server sends.

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function field(number: number, content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

const entry = (number: number, key: string, value: string) =>
  field(number, Buffer.concat([field(1, key), field(2, value)]));

interface Sent {
  readonly name: string;
  readonly namespace?: string;
  readonly version?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly managed?: readonly string[];
  readonly data?: string;
  /** A field that ConfigMaps do not have. */
  readonly unknown?: boolean;
}

function message(sent: Sent): Buffer {
  const metadata = Buffer.concat([
    field(1, sent.name),
    ...(sent.namespace === "" ? [] : [field(3, sent.namespace ?? "default")]),
    field(5, `uid-of-${sent.name}`),
    field(6, String(sent.version ?? 10)),
    ...Object.entries(sent.labels ?? {}).map(([key, value]) => entry(11, key, value)),
    ...(sent.owner === undefined
      ? []
      : [field(13, Buffer.concat([field(1, "Deployment"), field(4, sent.owner)]))]),
    ...(sent.managed ?? []).map((manager) => field(17, field(1, manager))),
  ]);
  return Buffer.concat([
    field(1, metadata),
    ...(sent.data === undefined ? [] : [entry(2, "key", sent.data)]),
    ...(sent.unknown ? [field(99, "new")] : []),
  ]);
}

const magic = Buffer.from("k8s\0", "latin1");
const envelope = (kind: string, body: Buffer) =>
  Buffer.concat([magic, field(1, Buffer.concat([field(1, "v1"), field(2, kind)])), field(2, body)]);
const frame = (type: string, kind: string, body: Buffer) =>
  Buffer.concat([field(1, type), field(2, field(1, envelope(kind, body)))]);
const initialEnd = frame(
  "BOOKMARK",
  "ConfigMap",
  field(1, Buffer.concat([field(6, "20"), entry(12, "k8s.io/initial-events-end", "true")])),
);

/** A server of the given frames, which stay open after the last, and of one object as JSON. */
function setup(
  frames: readonly Buffer[],
  options: Partial<CacheOptions> & {
    minor?: number;
    refuses?: boolean;
    jsonVersion?: string;
    cut?: Error;
  } = {},
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const endless = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => {
      if (signal?.aborted) reject(signal.reason as Error);
      signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  const protobuf: ProtobufReader = {
    async *list() {
      asked.push("protobuf list");
      yield Buffer.alloc(0);
    },
    async *watch(_, { signal } = {}) {
      asked.push("protobuf watch");
      if (options.refuses)
        throw new ApiError({ kind: "Status", code: 406, reason: "NotAcceptable", message: "only json" });
      yield* frames;
      if (options.cut) throw options.cut;
      await endless(signal);
    },
    serverVersion: () => Promise.resolve({ major: 1, minor: options.minor ?? 35 }),
  };
  const source: ListWatcher = {
    protobuf,
    async *listBytes() {
      asked.push("json list");
      yield Buffer.from('{"metadata":{"resourceVersion":"30"},"items":[]}');
    },
    async *watchLines(_, { signal } = {}) {
      asked.push("json watch");
      const resourceVersion = options.jsonVersion ?? "25";
      const metadata = { name: "one", namespace: "default", uid: "uid-of-one", resourceVersion };
      yield Buffer.from(JSON.stringify({ type: "ADDED", object: { metadata, future: "seen" } }));
      const annotations = { "k8s.io/initial-events-end": "true" };
      yield Buffer.from(
        JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "30", annotations } } }),
      );
      await endless(signal);
    },
  };
  const cache = createCache({ source, clock, random: seededRandom(1), ...options });
  onTestFinished(() => cache.stop());
  return { cache, clock, asked };
}

test("objects that come as protobuf are read as their JSON would be, by key, label and owner", async () => {
  const { cache, asked } = setup([
    frame("ADDED", "ConfigMap", message({ name: "one", labels: { app: "ä", __proto__: "x" }, data: "1" })),
    frame(
      "ADDED",
      "ConfigMap",
      message({ name: "two", namespace: "other", owner: "uid-1", labels: { app: "b" } }),
    ),
    initialEnd,
  ]);
  cache.informer(ConfigMap);
  await cache.waitForSync();
  expect(asked).toEqual(["protobuf watch"]);
  expect(cache.get(ConfigMap, { namespace: "default", name: "one" })).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "one",
      namespace: "default",
      uid: "uid-of-one",
      resourceVersion: "10",
      labels: { app: "ä" },
    },
    data: { key: "1" },
  });
  const names = (objects: readonly { metadata: { name: string } }[]) =>
    objects.map(({ metadata }) => metadata.name);
  expect(names(cache.list(ConfigMap, { labelSelector: "app=b" }))).toEqual(["two"]);
  expect(names(cache.list(ConfigMap, { namespace: "other" }))).toEqual(["two"]);
  expect(names(cache.ownedBy(ConfigMap, "uid-1"))).toEqual(["two"]);
});

test("changes that come as protobuf are delivered", async () => {
  const { cache, clock } = setup([
    frame("ADDED", "ConfigMap", message({ name: "one" })),
    initialEnd,
    frame("MODIFIED", "ConfigMap", message({ name: "one", version: 21, data: "2" })),
    frame("DELETED", "ConfigMap", message({ name: "one", version: 22 })),
  ]);
  const { heard } = listen(cache.informer(ConfigMap));
  await cache.waitForSync();
  await clock.advance(0);
  expect(heard).toEqual(["added* one@10", "updated one@21", "deleted one@22"]);
});

test("managedFields are left out, unless they are to be kept", async () => {
  const sent = message({ name: "one", managed: ["kubectl", "x".repeat(300)], data: "d".repeat(100) });
  for (const keepManagedFields of [false, true]) {
    const { cache } = setup([frame("ADDED", "ConfigMap", sent), initialEnd], { keepManagedFields });
    cache.informer(ConfigMap);
    await cache.waitForSync();
    const object = cache.get(ConfigMap, { namespace: "default", name: "one" });
    expect(object).toMatchObject({ data: { key: "d".repeat(100) } });
    const managers = object?.metadata.managedFields?.map(({ manager }) => manager);
    expect(managers).toEqual(keepManagedFields ? ["kubectl", "x".repeat(300)] : undefined);
  }
});

test("a transform sees what came as protobuf, and what it makes of it is kept", async () => {
  const { cache } = setup([frame("ADDED", "ConfigMap", message({ name: "one", data: "long" })), initialEnd], {
    transforms: () => (object) => ({ ...object, data: { key: "short" } }),
  });
  cache.informer(ConfigMap);
  await cache.waitForSync();
  expect(cache.get(ConfigMap, { namespace: "default", name: "one" })).toMatchObject({
    data: { key: "short" },
  });
});

test("a server that has no protobuf for a kind is asked for JSON", async () => {
  const { cache, asked } = setup([], { refuses: true });
  cache.informer(ConfigMap);
  await cache.waitForSync();
  expect(asked).toEqual(["protobuf watch", "json watch"]);
});

test("a server that is newer than the messages known here is asked for JSON, but for metadata", async () => {
  const { cache, asked } = setup([initialEnd], { minor: 99 });
  cache.informer(ConfigMap);
  await cache.waitForSync();
  expect(asked).toEqual(["json watch"]);
  cache.informer(ConfigMap, { metadataOnly: true });
  await cache.waitForSync();
  expect(asked).toEqual(["json watch", "protobuf watch"]);
});

test("kinds that are not Kubernetes' own are asked for as JSON", async () => {
  const { cache, asked } = setup([]);
  cache.informer({ ...ConfigMap, group: "example.com" });
  await cache.waitForSync();
  expect(asked).toEqual(["json watch"]);
});

test.each([
  ["whose objects have not changed", "10"],
  ["whose objects have changed meanwhile", "25"],
])(
  "a field that is not known leads to JSON %s, and so into the cache and to subscribers",
  async (_, version) => {
    const sent = [frame("ADDED", "ConfigMap", message({ name: "one", unknown: true })), initialEnd];
    const { cache, clock, asked } = setup(sent, { jsonVersion: version });
    const informer = cache.informer(ConfigMap);
    const heard: string[] = [];
    informer.subscribe(({ type, object }) => heard.push(`${type} ${"future" in object}`));
    await cache.waitForSync();
    expect(cache.get(ConfigMap, { namespace: "default", name: "one" })).not.toHaveProperty("future");
    await clock.advance(0);
    expect(asked).toEqual(["protobuf watch", "json watch"]);
    expect(cache.get(ConfigMap, { namespace: "default", name: "one" })).toMatchObject({ future: "seen" });
    expect(heard).toEqual(["added false", "updated true"]);
  },
);

test("a field that is not known leads to JSON also when it is read while the server is out of reach", async () => {
  const cut = new Error("the connection was cut");
  const sent = [frame("ADDED", "ConfigMap", message({ name: "one", unknown: true })), initialEnd];
  const { cache, clock, asked } = setup(sent, { jsonVersion: "10", cut });
  cache.informer(ConfigMap);
  await cache.waitForSync();
  await clock.advance(0);
  cache.get(ConfigMap, { namespace: "default", name: "one" });
  await clock.advance(5_000);
  expect(asked).toEqual(["protobuf watch", "json watch"]);
  expect(cache.get(ConfigMap, { namespace: "default", name: "one" })).toMatchObject({ future: "seen" });
});

test("an error that comes as protobuf is understood", async () => {
  const status = Buffer.concat([
    field(2, "Failure"),
    field(3, "too old"),
    field(4, "Expired"),
    Buffer.from([0x30, 0x9a, 0x03]),
  ]);
  const { cache, asked, clock } = setup([initialEnd, frame("ERROR", "Status", status)]);
  cache.informer(ConfigMap);
  await cache.waitForSync();
  await clock.advance(0);
  // Expired: everything is asked for again, at once.
  expect(asked.slice(0, 2)).toEqual(["protobuf watch", "protobuf watch"]);
});

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });

test("what a scan finds, and what is left without managedFields, is what the whole message says", () => {
  const sent = fc.record({
    name: word,
    namespace: fc.oneof(fc.constant(""), word),
    version: fc.nat(),
    labels: fc.dictionary(word, word, { maxKeys: 4 }),
    owner: word,
    managed: fc.array(fc.string({ maxLength: 200 }), { maxLength: 4 }),
    data: fc.string({ maxLength: 300 }),
  });
  const type = messageOf(ConfigMap);
  if (!type) throw new Error("ConfigMaps have no message");
  fc.assert(
    fc.property(sent, (object) => {
      const bytes = Buffer.concat([Buffer.from("before"), message(object), Buffer.from("after")]);
      const [start, end] = [6, bytes.length - 5];
      const read = readMessage(type, bytes, start, end) as unknown as {
        metadata: { name: string; namespace?: string; uid: string; labels?: object };
      };
      const scan = scanMessage(bytes, start, end);
      expect({ ...scan, owners: scan.owners }).toMatchObject({
        name: read.metadata.name,
        namespace: read.metadata.namespace ?? "",
        uid: read.metadata.uid,
        resourceVersion: String(object.version),
        owners: [object.owner],
      });
      expect(readLabels(bytes.subarray(start, end))).toEqual(read.metadata.labels ?? {});
    }),
  );
});

function readOrRefuse(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedObjectError);
  }
}

test("damaged events never end an informer", async () => {
  const whole = frame(
    "ADDED",
    "ConfigMap",
    message({ name: "one", labels: { a: "b" }, managed: ["m"], data: "x" }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.nat(255),
      fc.nat(whole.length),
      async (at, byte, length) => {
        const damaged = Buffer.from(whole.subarray(0, length));
        if (at < damaged.length) damaged[at] = byte;
        const { cache, clock } = setup([damaged, initialEnd]);
        const informer = cache.informer(ConfigMap);
        await clock.advance(0);
        if (informer.hasSynced) readOrRefuse(() => cache.list(ConfigMap, { labelSelector: "a=b" }));
        else expect(cache.stats()[0]?.status.at).toBe("waiting");
        await cache.stop();
      },
    ),
    { numRuns: 300 },
  );
});
