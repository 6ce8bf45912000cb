import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { Readable } from "node:stream";
import { findAccess, type Interceptor, isNotFound, openTransport } from "@windlass/client";
import { Pod, Service } from "@windlass/runtime/kinds";
import { startCluster } from "@windlass/testing";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../free-port.ts";
import { farEndProgram } from "./far-end.ts";
import { type Frame, framesIn } from "./frames.ts";
import { nearEnd } from "./near-end.ts";
import { openTunnel } from "./tunnel.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** The program that would run in a pod, in a process of its own. */
async function startFarEnd(ports: {
  readonly calls: number;
  readonly control: number;
}): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--eval", farEndProgram(ports)], {
    env: { PATH: process.env.PATH, TOKEN: "secret" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  stops.push(() => child.kill("SIGKILL"));
  const listens = () => fetch(`http://127.0.0.1:${ports.control}/down`).then(({ status }) => status);
  await expect.poll(() => listens().catch(() => 0), { timeout: 10_000 }).toBe(403);
  return child;
}

/** Answers what it is sent in capitals, and ends when its client does. */
async function startServer(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("data", (bytes) => socket.write(bytes.toString("utf8").toUpperCase()));
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => server.close());
  return server;
}

function startNearEnd(control: number, server: Server, through: Interceptor = (next) => next): string[] {
  const end = new AbortController();
  const states: string[] = [];
  const transport = openTransport(
    {
      cluster: { server: `http://127.0.0.1:${control}` },
      user: {},
      namespace: "default",
      source: "test",
    },
    { attempts: 1 },
  );
  const running = nearEnd({
    transport: through(transport),
    path: "",
    token: "secret",
    port: (server.address() as AddressInfo).port,
    signal: end.signal,
    onState: (words) => states.push(words),
  });
  stops.push(async () => {
    end.abort();
    await running;
    await transport.close();
  });
  return states;
}

/** The answer of the server at a port to a text. */
async function ask(port: number, text: string, host = "127.0.0.1"): Promise<string> {
  const socket = connect(port, host);
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    answer += piece;
    if (answer.length >= text.length) socket.end();
  });
  socket.write(text);
  await once(socket, "close");
  return answer;
}

const patience = { timeout: 20_000 };

test("connections to the pod end on this machine, many at a time, also after the pod was replaced", async () => {
  const ports = { calls: await freePort(), control: await freePort() };
  const first = await startFarEnd(ports);
  const server = await startServer();
  const states = startNearEnd(ports.control, server);
  await expect.poll(() => ask(ports.calls, "hello"), patience).toBe("HELLO");
  const texts = Array.from({ length: 20 }, (_, index) => `${index} ${"long ".repeat(20_000)}`);
  const answers = await Promise.all(texts.map((text) => ask(ports.calls, text)));
  expect(answers).toEqual(texts.map((text) => text.toUpperCase()));

  first.kill("SIGKILL");
  await once(first, "exit");
  await expect.poll(() => states.join(), patience).toContain("calls are not led here");
  await startFarEnd(ports);
  await expect.poll(() => ask(ports.calls, "again").catch(() => ""), patience).toBe("AGAIN");
  expect(states.at(-1)).toBe("calls are forwarded here again");
}, 60_000);

test("a connection of which something was lost on the way ends at once, on both ends", async () => {
  const ports = { calls: await freePort(), control: await freePort() };
  await startFarEnd(ports);
  const server = await startServer();
  const ends: Promise<unknown>[] = [];
  server.on("connection", (socket) => ends.push(once(socket, "close")));
  let left = 1;
  // What an API server says that does not reach the kubelet for a moment.
  startNearEnd(ports.control, server, (next) => ({
    close: () => next.close(),
    request: async (request) => {
      if (!/up\?id=\d+$/.test(request.path) || left-- !== 0) return await next.request(request);
      return { status: 503, headers: {}, body: Readable.from([Buffer.from("no route to the node")]) };
    },
  }));
  await expect.poll(() => ask(ports.calls, "hello"), patience).toBe("HELLO");
  const began = performance.now();
  expect(await ask(ports.calls, "lost")).toBe("");
  expect(performance.now() - began).toBeLessThan(5_000);
  await Promise.all(ends);
  expect(await ask(ports.calls, "and on")).toBe("AND ON");
}, 60_000);

test("a pod that is lost is made again, and what is waited for is told", async () => {
  await using cluster = await startCluster({ flavour: "embedded", embedded: { processes: true } });
  const server = await startServer();
  const namespace = await cluster.createNamespace();
  const transport = openTransport(await findAccess({ env: { KUBECONFIG: await cluster.kubeconfig() } }), {
    attempts: 1,
  });
  stops.push(() => transport.close());
  const said: string[] = [];
  const key = { namespace, name: "windlass-dev-test" };
  const tunnel = await openTunnel({
    client: cluster.client,
    transport,
    ...key,
    image: "node:24-slim",
    port: (server.address() as AddressInfo).port,
    say: (words) => said.push(words),
    signal: new AbortController().signal,
  });
  expect(said[0]).toBe(`pod ${namespace}/windlass-dev-test starts, of node:24-slim`);
  const call = async (text: string) => {
    const { status } = await cluster.client.get(Pod, key);
    return await ask(8443, text, status?.podIP).catch(() => "");
  };
  await expect.poll(() => call("hello"), patience).toBe("HELLO");
  await cluster.client.delete(Pod, key, { gracePeriodSeconds: 0 });
  await expect.poll(() => said.at(-1), patience).toBe("calls are forwarded here again");
  await expect.poll(() => call("again"), patience).toBe("AGAIN");
  await tunnel[Symbol.asyncDispose]();
  await expect(cluster.client.get(Pod, key)).rejects.toSatisfy(isNotFound);
  await expect(cluster.client.get(Service, key)).rejects.toSatisfy(isNotFound);
}, 60_000);

test("the wait for a pod whose image cannot be had is told, can be ended, and leaves nothing behind", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const namespace = await cluster.createNamespace();
  const transport = openTransport(await findAccess({ env: { KUBECONFIG: await cluster.kubeconfig() } }));
  stops.push(() => transport.close());
  const said: string[] = [];
  const stop = new AbortController();
  const key = { namespace, name: "windlass-dev-test" };
  cluster.controlPlane?.node.missingImages("gone:*");
  const opening = openTunnel({
    client: cluster.client,
    transport,
    ...key,
    image: "gone:1",
    port: 1,
    say: (words) => said.push(words),
    signal: stop.signal,
  });
  await expect.poll(() => said.at(-1), patience).toMatch(/waiting for it: (?:ErrImagePull|ImagePullBackOff)/);
  stop.abort(new Error("interrupted"));
  await expect(opening).rejects.toThrow(/abort/);
  await expect(cluster.client.get(Pod, key)).rejects.toSatisfy(isNotFound);
}, 60_000);

test("while nobody is there to answer, a connection is ended at once", async () => {
  const ports = { calls: await freePort(), control: await freePort() };
  await startFarEnd(ports);
  const socket = connect(ports.calls, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "close");
});

test("frames are the same however the stream is cut", async () => {
  const frame = fc.record({ id: fc.nat(0xffff), bytes: fc.uint8Array({ maxLength: 40 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(frame, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 30 })),
      async (frames, cuts) => {
        const stream = Buffer.concat(
          frames.map(({ id, bytes }) => {
            const head = Buffer.alloc(8);
            head.writeUInt32BE(id, 0);
            head.writeUInt32BE(bytes.length, 4);
            return Buffer.concat([head, bytes]);
          }),
        );
        const read: Frame[] = await Array.fromAsync(framesIn(pieces(stream, cuts)));
        expect(read.map(({ id, bytes }) => ({ id, bytes: new Uint8Array(bytes) }))).toEqual(frames);
      },
    ),
  );
});

async function* pieces(stream: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const cut of cuts) {
    yield stream.subarray(at, at + cut);
    at += cut;
  }
  yield stream.subarray(at);
}
