import { once } from "node:events";
import { request } from "node:https";
import { ManualClock } from "@windlass/clock";
import fc from "fast-check";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { administrator } from "../authority.ts";
import { ControlPlane, type ControlPlaneOptions } from "../control-plane.ts";
import type { JsonObject } from "../json.ts";
import type { Sink } from "./request.ts";

const path = "/api/v1/namespaces/default/configmaps";

beforeAll(() => ControlPlane.preload());

async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const plane = await ControlPlane.start({ controllers: "none", ...options });
  onTestFinished(() => plane.close());
  return plane;
}

function put(plane: ControlPlane, name: string, text: string): void {
  plane.store.put("configmaps", `default/${name}`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", uid: name },
    data: { text },
  });
}

/** A client that reads what it is sent when the test lets it. */
class SlowClient implements Sink {
  readonly chunks: Uint8Array[] = [];
  /** The most that ever waited for it. */
  most = 0;
  isEnded = false;
  #waiting = 0;
  readonly #listeners: (() => void)[] = [];

  write(chunk: Uint8Array): number {
    this.chunks.push(chunk);
    this.#waiting += chunk.byteLength;
    this.most = Math.max(this.most, this.#waiting);
    return this.#waiting;
  }

  drained(listener: () => void): void {
    this.#listeners.push(listener);
  }

  end(): void {
    this.isEnded = true;
  }

  /** @returns whether a watcher waited for that */
  take(): boolean {
    this.#waiting = 0;
    const listeners = this.#listeners.splice(0);
    for (const listener of listeners) listener();
    return listeners.length > 0;
  }

  /** The events, as `TYPE name version`. */
  events(): string[] {
    const lines = Buffer.concat(this.chunks).toString().split("\n");
    return lines
      .filter((line) => line !== "")
      .map((line) => {
        const { type, object } = JSON.parse(line.replace(/x{100,}/g, "")) as {
          type: string;
          object: Watched;
        };
        const { metadata } = object.rows?.[0]?.object ?? object;
        const mark = metadata?.annotations?.["k8s.io/initial-events-end"] ? "end" : (metadata?.name ?? "");
        return `${type} ${mark} ${metadata?.resourceVersion ?? ""}`;
      });
  }
}

interface Watched {
  readonly metadata?: {
    readonly name?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Record<string, string>;
  };
  readonly rows?: readonly { readonly object: Watched }[];
}

async function open(plane: ControlPlane, query: string, client: Sink, accept = "application/json") {
  const { body } = await plane.handle({
    method: "GET",
    url: `${path}?watch=true&${query}`,
    headers: { accept },
    body: undefined,
    peer: administrator,
    signal: new AbortController().signal,
  });
  if (typeof body !== "function") throw new Error("not a stream");
  onTestFinished(body(client));
}

const watchList = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const megabyte = "x".repeat(1_000_000);

test.for(["resourceVersion=0", watchList])(
  "a state of any size is streamed as fast as the client takes it: %s",
  async (query) => {
    const plane = await start();
    const names = Array.from({ length: 70 }, (_, index) => `cm-${String(index).padStart(3, "0")}`);
    for (const name of names) put(plane, name, megabyte);
    const client = new SlowClient();
    await open(plane, query, client);
    put(plane, "later", "1");
    while (client.take());
    const events = client.events().map((event) => event.replace(/ \d+$/, ""));
    const end = query === watchList ? ["BOOKMARK end"] : [];
    expect(events).toEqual([...names.map((name) => `ADDED ${name}`), ...end, "ADDED later"]);
    expect(client.most).toBeLessThan(3_000_000);
    expect(client.isEnded).toBe(false);
  },
);

test("the same over a socket, to a client that stops reading for a while", { timeout: 30_000 }, async () => {
  const plane = await start();
  const count = 70;
  for (let index = 0; index < count; index++) put(plane, `cm-${index}`, megabyte);
  const url = new URL(`${await plane.listen()}${path}?watch=true&${watchList}`);
  const client = plane.authority.issue({
    commonName: administrator.name,
    organizations: ["system:masters"],
    usages: ["client"],
    validFor: 60_000,
  });
  const outgoing = request(url, {
    ca: plane.authority.certificate,
    cert: client.certificate,
    key: client.key,
  });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [AsyncIterable<Buffer>];
  let lines = 0;
  let last = Buffer.alloc(0);
  for await (const chunk of incoming) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
    last = Buffer.concat([last.subarray(-400), chunk]);
    if (lines === count / 2) await plane.connect().request({ method: "GET", path: "/version", headers: {} });
    if (lines > count) break;
  }
  expect(last.toString()).toContain('"k8s.io/initial-events-end":"true"');
});

test("a client that takes nothing costs no more than its place, and is left behind when that is forgotten", async () => {
  const plane = await start({ historyLimit: 100 });
  const client = new SlowClient();
  await open(plane, `resourceVersion=${plane.store.revision}`, client);
  for (let index = 0; index < 50; index++) put(plane, "a", `${megabyte}${index}`);
  expect(client.most).toBeLessThan(3_000_000);
  for (let index = 0; index < 200; index++) put(plane, "b", String(index));
  expect(client.isEnded).toBe(false);
  client.take();
  expect(client.isEnded).toBe(true);
});

type Step =
  | { readonly do: "put" | "delete"; readonly key: string; readonly size: number }
  | { readonly do: "take" | "turn" };

const steps = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constantFrom("put" as const, "put" as const, "delete" as const),
      key: fc.constantFrom("a", "b", "c"),
      size: fc.constantFrom(10, 400_000, 1_100_000),
    }),
    fc.record({ do: fc.constantFrom("take" as const, "turn" as const) }),
  ),
  { maxLength: 30, size: "max" },
);

const table = "application/json;as=Table;g=meta.k8s.io;v=v1";
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("however slowly a client reads, it sees every change once and in order", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom("application/json", table),
      fc.constantFrom("resourceVersion=0", watchList),
      async (list: readonly Step[], accept, query) => {
        await using plane = await ControlPlane.start({ controllers: "none" });
        put(plane, "a", "x".repeat(1_100_000));
        put(plane, "b", "x".repeat(1_100_000));
        const expected: string[] = plane.store
          .list("configmaps", { prefix: "default/" })
          .entries.map(({ key, revision }) => `ADDED ${key.slice(8)} ${revision}`);
        if (query === watchList) expected.push(`BOOKMARK end ${plane.store.revision}`);
        plane.store.subscribe("configmaps", ({ type, key, revision }) =>
          expected.push(`${type} ${key.slice(8)} ${revision}`),
        );
        const client = new SlowClient();
        await open(plane, query, client, accept);
        for (const step of list) {
          if (step.do === "put") put(plane, step.key, "x".repeat(step.size));
          else if (step.do === "delete") plane.store.delete("configmaps", `default/${step.key}`);
          else if (step.do === "take") client.take();
          else await turn();
        }
        for (let quiet = 0; quiet < 5; ) {
          await turn();
          quiet = client.take() ? 0 : quiet + 1;
        }
        expect(client.events()).toEqual(expected);
      },
    ),
    { numRuns: 40 },
  );
});

test("a watch in a quiet plane has a bookmark each minute, so that no client takes it for dead", async () => {
  const clock = new ManualClock();
  const plane = await start({ clock });
  // The Service default/kubernetes comes right after the start.
  await clock.advance(1_000);
  const client = new SlowClient();
  await open(plane, "allowWatchBookmarks=true&resourceVersion=0", client);
  const { revision } = plane.store;
  await clock.advance(300_000);
  expect(client.events().filter((event) => event.startsWith("BOOKMARK"))).toEqual(
    Array.from({ length: 5 }, () => `BOOKMARK  ${revision}`),
  );
});

test("a client that has not taken what it was sent is sent no bookmark that is ahead of it", async () => {
  const clock = new ManualClock();
  const plane = await start({ clock });
  const client = new SlowClient();
  for (const name of ["a", "b", "c"]) put(plane, name, "x".repeat(1_400_000));
  await open(plane, "allowWatchBookmarks=true&resourceVersion=0", client);
  await clock.advance(120_000);
  expect(client.events().map((event) => event.split(" ")[0])).toEqual(["ADDED"]);
  while (client.take());
  await clock.advance(60_000);
  expect(client.events().map((event) => event.split(" ")[0])).toEqual([
    "ADDED",
    "ADDED",
    "ADDED",
    "BOOKMARK",
  ]);
});

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Things, in some versions of which the first is stored. */
function definition(versions: readonly { readonly name: string; readonly served: boolean }[]): JsonObject {
  return {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: versions.map((version, index) => ({
        ...version,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      })),
    },
  };
}

function sender(plane: ControlPlane) {
  const transport = plane.connect();
  return async (method: string, at: string, body?: JsonObject, type = "application/json") => {
    const headers = { "content-type": type };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await transport.request({ method, path: at, headers, ...sent });
    await Array.fromAsync(answer.body);
    return answer.status;
  };
}

async function watchFrom(plane: ControlPlane, collection: string): Promise<SlowClient> {
  const client = new SlowClient();
  const { body } = await plane.handle({
    method: "GET",
    url: `${collection}?watch=true&resourceVersion=0`,
    headers: {},
    body: undefined,
    peer: administrator,
    signal: new AbortController().signal,
  });
  if (typeof body !== "function") throw new Error("not a stream");
  body(client);
  return client;
}

test("a watch of a kind that goes ends when its last objects have been sent, also to a slow client", async () => {
  const plane = await start();
  const send = sender(plane);
  expect(await send("POST", definitions, definition([{ name: "v1", served: true }]))).toBe(201);
  const things = "/apis/example.com/v1/namespaces/default/things";
  await expect.poll(() => send("GET", things)).toBe(200);
  const thing = { apiVersion: "example.com/v1", kind: "Thing", text: `${megabyte}` };
  for (const name of ["a", "b", "c"])
    expect(await send("POST", things, { ...thing, metadata: { name } })).toBe(201);
  const client = await watchFrom(plane, things);
  expect(await send("DELETE", `${definitions}/things.example.com`)).toBe(200);
  await expect.poll(() => send("GET", things)).toBe(404);
  expect(client.isEnded).toBe(false);
  while (client.take());
  expect(client.events().map((event) => event.replace(/ \d+$/, ""))).toEqual(
    ["ADDED", "DELETED"].flatMap((type) => ["a", "b", "c"].map((name) => `${type} ${name}`)),
  );
  expect(client.isEnded).toBe(true);
});

test.each<[string, { readonly name: string; readonly served: boolean }[]]>([
  [
    "switched off",
    [
      { name: "v1", served: true },
      { name: "v2", served: false },
    ],
  ],
  ["removed", [{ name: "v1", served: true }]],
])("a watch of a version that is %s ends, and those of others go on", async (_how, versions) => {
  const plane = await start();
  const send = sender(plane);
  const both = [
    { name: "v1", served: true },
    { name: "v2", served: true },
  ];
  expect(await send("POST", definitions, definition(both))).toBe(201);
  const things = (version: string) => `/apis/example.com/${version}/namespaces/default/things`;
  await expect.poll(() => send("GET", things("v2"))).toBe(200);
  const [first, second] = [await watchFrom(plane, things("v1")), await watchFrom(plane, things("v2"))];
  const { spec } = definition(versions);
  const merge = "application/merge-patch+json";
  expect(await send("PATCH", `${definitions}/things.example.com`, { spec: spec ?? null }, merge)).toBe(200);
  await expect.poll(() => second.isEnded).toBe(true);
  const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "late" } };
  expect(await send("POST", things("v1"), thing)).toBe(201);
  expect(first.events().map((event) => event.replace(/ \d+$/, ""))).toEqual(["ADDED late"]);
  expect(first.isEnded).toBe(false);
  expect(second.events()).toEqual([]);
});
