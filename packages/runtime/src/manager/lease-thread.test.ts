import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import { competeInThread } from "./compete.ts";
import { threadClock } from "./fence.ts";
import { manager } from "./manager.ts";
import { Pulse } from "./stall.ts";

/**
 * A lease server on a thread of its own, so that it answers while this one stands still. Messages
 * switch it off and on.
 */
const serverCode = `
const { parentPort } = require("node:worker_threads");
const { createServer } = require("node:http");
let lease, version = 0, isUp = true, open = 0;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const answer = (code, body) => { response.writeHead(code, { "content-type": "application/json" }); response.end(JSON.stringify(body)); };
  const status = (code, reason) => answer(code, { kind: "Status", status: "Failure", code, reason });
  if (!isUp) return status(500, "InternalError");
  if (request.method === "GET") return lease ? answer(200, lease) : status(404, "NotFound");
  const body = JSON.parse(text);
  if (request.method === "PUT" && body.metadata.resourceVersion !== lease.metadata.resourceVersion) return status(409, "Conflict");
  version += 1;
  lease = { ...body, metadata: { ...body.metadata, resourceVersion: String(version) } };
  answer(200, lease);
});
server.on("connection", (socket) => { open += 1; socket.once("close", () => { open -= 1; }); });
parentPort.on("message", (message) => { isUp = message === "up"; parentPort.postMessage({ holder: lease?.spec.holderIdentity, transitions: lease?.spec.leaseTransitions, open }); });
server.listen(0, "127.0.0.1", () => parentPort.postMessage({ port: server.address().port }));
`;

function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function leaseServer() {
  const worker = new Worker(serverCode, { eval: true });
  const next = <T>() => new Promise<T>((resolve) => worker.once("message", resolve));
  const { port } = await next<{ port: number }>();
  return {
    access: {
      cluster: { server: `http://127.0.0.1:${port}` },
      user: {},
      namespace: "default",
      source: "test",
    },
    turn: async (how: "up" | "down") => {
      const answer = next<{ holder: string | undefined; transitions: number | undefined; open: number }>();
      worker.postMessage(how);
      return await answer;
    },
    close: () => worker.terminate(),
  };
}

const rules = { identity: "me", leaseDurationMs: 900, renewDeadlineMs: 600, retryPeriodMs: 100 };
const lease = { namespace: "default", name: "op" };

test("a main thread that stands still keeps the lease, and one that woke without it refuses its first write", async () => {
  const server = await leaseServer();
  let led = Promise.withResolvers<void>();
  const { promise: lost, resolve: onLost } = Promise.withResolvers<void>();
  const leadership = await competeInThread(
    { rules, lease, log: silentLogger, access: server.access },
    { onLeading: () => led.resolve(), onLost },
  );
  await led.promise;
  expect(leadership.fence.isOpen).toBe(true);

  standStill(1_500);
  expect(leadership.fence.isOpen).toBe(true);

  await server.turn("down");
  standStill(1_000);
  // No message has been handled yet: the fence is still known to be closed.
  expect(leadership.fence.isOpen).toBe(false);
  await lost;

  led = Promise.withResolvers<void>();
  await server.turn("up");
  await led.promise;
  await leadership.release();
  expect(await server.turn("up")).toMatchObject({ holder: "" });
  await server.close();
});

test("a main thread whose pulse stays away leaves the lease to expire, and leads again when it is back", async () => {
  const server = await leaseServer();
  const pulse = new Pulse();
  const beating = setInterval(() => pulse.beat(threadClock.monotonic()), 20);
  let led = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const leadership = await competeInThread(
    { rules, lease, log: silentLogger, access: server.access, pulse: pulse.memory, patienceMs: 50 },
    { onLeading: () => led.resolve(), onLost: lost.resolve },
  );
  await led.promise;
  led = Promise.withResolvers<void>();
  pulse.beat(threadClock.monotonic() - 10_000);
  clearInterval(beating);
  await lost.promise;
  expect(leadership.fence.isOpen).toBe(false);
  const again = setInterval(() => pulse.beat(threadClock.monotonic()), 20);
  await led.promise;
  clearInterval(again);
  // Released, it would have changed hands: from no holder to this one.
  expect(await server.turn("up")).toMatchObject({ holder: "me", transitions: 0 });
  await leadership.release();
  await server.close();
});

test("a leadership that is abandoned has ended its thread, and leaves the lease as it is", async () => {
  const server = await leaseServer();
  const led = Promise.withResolvers<void>();
  let losses = 0;
  const leadership = await competeInThread(
    { rules, lease, log: silentLogger, access: server.access },
    { onLeading: () => led.resolve(), onLost: () => void losses++ },
  );
  await led.promise;
  const { closing } = leadership.fence;
  const abandoned = leadership.abandon();
  expect([leadership.isLeading, leadership.fence.isOpen, closing.aborted, losses]).toEqual([
    false,
    false,
    true,
    1,
  ]);
  await abandoned;
  await expect.poll(async () => (await server.turn("up")).open, { interval: 5 }).toBe(0);
  expect(await server.turn("up")).toMatchObject({ holder: "me" });
  expect(leadership.isLeading).toBe(false);
  await server.close();
});

test("a manager that is handed no client renews on that thread: standing still, it does not lose the lease", async () => {
  const server = await leaseServer();
  const said: string[] = [];
  const log = {
    ...silentLogger,
    info: (_fields: unknown, text = "") => void said.push(text),
    child: () => log,
  };
  const { cluster, user } = server.access;
  const running = manager({
    kubeconfig: {
      source: "test",
      currentContext: "c",
      clusters: new Map([["c", cluster]]),
      users: new Map([["u", user]]),
      contexts: new Map([["c", { cluster: "c", user: "u" }]]),
    },
    // Long enough for a busy machine to give the other thread its turn.
    leaderElection: {
      name: "op",
      namespace: "default",
      leaseDuration: 2_500,
      renewDeadline: 2_000,
      retryPeriod: 200,
    },
    health: false,
    metrics: false,
    log,
  });
  await running.start();
  while (!running.isLeading) await new Promise((resolve) => setImmediate(resolve));
  standStill(3_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(running.isLeading).toBe(true);
  expect(said.filter((text) => text.includes("leader"))).toEqual(["became the leader"]);
  await running.stop();
  expect(await server.turn("up")).toMatchObject({ holder: "" });
  await server.close();
});
