import { ManualClock, seededRandom } from "@windlass/clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlane } from "../control-plane.ts";
import type { InProcessResponse } from "../in-process.ts";
import type { JsonObject } from "../json.ts";

let plane: ControlPlane;
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  plane = await ControlPlane.start({ clock, random: seededRandom(1), controllers: "none" });
  await send("POST", maps, { metadata: { name: "x" }, data: { a: "1" } });
});
afterEach(() => plane.close());

const maps = "/api/v1/namespaces/default/configmaps";

function open(method: string, path: string, body?: object, signal?: AbortSignal): Promise<InProcessResponse> {
  return plane.connect().request({
    method,
    path,
    headers: { "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(signal ? { signal } : {}),
  });
}

async function send(method: string, path: string, body?: object) {
  const { status, headers, body: stream } = await open(method, path, body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return { status, headers, body: JSON.parse(Buffer.concat(chunks).toString()) as JsonObject };
}

const put = (a: string) => send("PUT", `${maps}/x`, { metadata: { name: "x" }, data: { a } });

test("an error strikes the requests it is for, as often as it says", async () => {
  const fault = plane.faults.add({
    verbs: ["get"],
    kinds: ["ConfigMap"],
    times: 2,
    error: { code: 429, retryAfterSeconds: 7 },
  });
  for (const _ of [1, 2]) {
    const { status, headers, body } = await send("GET", `${maps}/x`);
    expect(status).toBe(429);
    expect(headers["retry-after"]).toBe("7");
    expect(body).toMatchObject({ reason: "TooManyRequests", details: { retryAfterSeconds: 7 } });
  }
  expect((await send("GET", `${maps}/x`)).status).toBe(200);
  expect(fault.hits).toBe(2);
});

test.each([
  ["another verb", { verbs: ["list" as const] }],
  ["another resource", { resources: ["secrets"] }],
  ["a subresource", { resources: ["configmaps/status"] }],
  ["another kind", { kinds: ["Secret"] }],
  ["another namespace", { namespace: "kube-system" }],
  ["another name", { name: "y" }],
  ["another user", { user: "jane" }],
])("a fault for %s leaves a request alone", async (_what, target) => {
  plane.faults.add({ ...target, error: { code: 500 } });
  expect((await send("GET", `${maps}/x`)).status).toBe(200);
});

test("a fault that was removed strikes no more", async () => {
  const fault = plane.faults.add({ error: { code: 503 } });
  expect((await send("GET", maps)).status).toBe(503);
  fault.remove();
  expect((await send("GET", maps)).status).toBe(200);
});

test("how often an unlikely fault strikes is the same in every run", async () => {
  const run = async () => {
    await using other = await ControlPlane.start({ clock, random: seededRandom(9), controllers: "none" });
    other.faults.add({ probability: 0.5, error: { code: 500 } });
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) {
      const { status } = await other.connect().request({ method: "GET", path: maps, headers: {} });
      statuses.push(status);
    }
    return statuses;
  };
  const first = await run();
  expect(new Set(first)).toEqual(new Set([200, 500]));
  expect(await run()).toEqual(first);
});

test("a delay lasts by the clock, and the write happens after it", async () => {
  plane.faults.add({ verbs: ["update"], delay: 5_000 });
  let done = false;
  const writing = put("2").then((answer) => {
    done = true;
    return answer;
  });
  await clock.advance(4_999);
  expect(done).toBe(false);
  expect((await send("GET", `${maps}/x`)).body).toMatchObject({ data: { a: "1" } });
  await clock.advance(1);
  expect((await writing).body).toMatchObject({ data: { a: "2" } });
});

test("a conflict is the one that a client would get", async () => {
  plane.faults.add({ verbs: ["update"], times: 1, conflict: true });
  const { status, body } = await put("2");
  expect(status).toBe(409);
  expect(body.message).toBe(
    'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again',
  );
  expect((await put("2")).status).toBe(200);
});

test("a stale server shows what was there when it fell behind", async () => {
  const before = (await send("GET", `${maps}/x`)).body;
  const fault = plane.faults.add({ verbs: ["get", "list"], stale: true });
  await put("2");
  await send("POST", maps, { metadata: { name: "new" } });
  expect((await send("GET", `${maps}/x`)).body).toEqual(before);
  expect((await send("GET", `${maps}/new`)).status).toBe(404);
  const { items } = (await send("GET", maps)).body as { items: JsonObject[] };
  expect(items).toHaveLength(1);
  fault.remove();
  expect((await send("GET", `${maps}/x`)).body).toMatchObject({ data: { a: "2" } });
});

test("a server that is so many writes behind catches up with what came before", async () => {
  plane.faults.add({ verbs: ["get"], stale: { behind: 1 } });
  await put("2");
  expect((await send("GET", `${maps}/x`)).body).toMatchObject({ data: { a: "1" } });
  await put("3");
  expect((await send("GET", `${maps}/x`)).body).toMatchObject({ data: { a: "2" } });
});

test("a half-open server answers nothing until the client gives up", async () => {
  plane.faults.add({ verbs: ["get"], halfOpen: true });
  const patience = new AbortController();
  let settled = false;
  const asking = open("GET", `${maps}/x`, undefined, patience.signal).finally(() => {
    settled = true;
  });
  asking.catch(() => undefined);
  await clock.advance(3_600_000);
  expect(settled).toBe(false);
  patience.abort();
  await expect(asking).rejects.toThrow("aborted");
});

test("watches that are open break off, and can be opened again", async () => {
  const { body } = await open("GET", `${maps}?watch=1&resourceVersion=0`);
  expect(plane.faults.openWatches).toBe(1);
  expect(plane.faults.dropWatches({ kinds: ["Secret"] })).toBe(0);
  plane.faults.add({ kinds: ["ConfigMap"], dropWatches: true });
  const events: string[] = [];
  for await (const chunk of body) events.push(Buffer.from(chunk).toString());
  expect(events).toHaveLength(1);
  expect(plane.faults.openWatches).toBe(0);
  await open("GET", `${maps}?watch=1`);
  expect(plane.faults.openWatches).toBe(1);
});

test("watches can be made to break off after a while", async () => {
  plane.faults.add({ verbs: ["watch"], dropWatches: { after: 1_000 } });
  await open("GET", `${maps}?watch=1`);
  await clock.advance(999);
  expect(plane.faults.openWatches).toBe(1);
  await clock.advance(1);
  expect(plane.faults.openWatches).toBe(0);
});

test("after a compaction a watch from before gets 410", async () => {
  const { body: list } = await send("GET", maps);
  await put("2");
  plane.faults.compact();
  await put("3");
  const { resourceVersion } = list.metadata as { resourceVersion: string };
  const { body } = await open("GET", `${maps}?watch=1&resourceVersion=${resourceVersion}`);
  const events: string[] = [];
  for await (const chunk of body) events.push(Buffer.from(chunk).toString());
  expect(JSON.parse(events[0] as string)).toMatchObject({
    type: "ERROR",
    object: { code: 410, reason: "Expired" },
  });
});

test.each([
  [{}, /does nothing/],
  [{ conflict: true as const, probability: 2 }, /between 0 and 1/],
  [{ conflict: true as const, times: 0 }, /above 0/],
])("an invalid fault is refused: %j", (fault, message) => {
  expect(() => plane.faults.add(fault)).toThrow(message);
});
