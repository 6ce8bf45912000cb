import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { beforeAll, expect, test } from "vitest";
import { readAll } from "../test-server.fixture.ts";
import type { TransportRequest } from "../transport.ts";
import { settleSockets, startRawServer } from "./raw-server.fixture.ts";
import { networkTransport } from "./transport.ts";
import { startTunnels, trusting } from "./tunnels.fixture.ts";

const authority = createAuthority({ commonName: "ca", validFor: 86_400_000 });
const pair = authority.issue({
  commonName: "server",
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
  validFor: 86_400_000,
});
const tls = { cert: pair.certificate, key: pair.key };
const material = { ca: authority.certificate };

// A proxy is trusted as any server on the internet is.
beforeAll(() => trusting(authority.certificate));

/** The ways to a server: each has connections of its own kind. */
const ways = ["http", "https", "https in a tunnel", "https in a tunnel with TLS"] as const;
type Way = (typeof ways)[number];

/** A transport that goes to a server in one of the ways, and what has to be closed after it. */
async function reaching(way: Way, server: string) {
  const proxy = way.includes("tunnel")
    ? await startTunnels(way.endsWith("TLS") ? tls : undefined)
    : undefined;
  const scheme = way.endsWith("TLS") ? "https" : "http";
  const transport = networkTransport({
    server,
    tls: () => material,
    ...(proxy ? { proxy: new URL(`${scheme}://127.0.0.1:${proxy.port}`) } : {}),
  });
  return {
    transport,
    async [Symbol.asyncDispose]() {
      await transport.close();
      await proxy?.[Symbol.asyncDispose]();
    },
  };
}

const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const refusal = new Error("the lease is lost");

const patch = (guard: () => void, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "PATCH",
  path: "/",
  headers: {},
  body: "{}",
  guard,
  ...more,
});

/** Lets a promise reject unseen until the test looks at it. */
function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "answered",
    (error: unknown) => error,
  );
}

test.each(ways)(
  "a guard over %s is asked once the connection is established; if it refuses then, nothing is sent, and the connection is kept",
  async (way) => {
    const seen: string[] = [];
    await using server = await startRawServer(
      ({ body }, socket) => {
        seen.push(body);
        socket.write(ok);
      },
      way === "http" ? undefined : tls,
    );
    await using reached = await reaching(way, server.url);
    const { transport } = reached;
    const connectionsWhenAsked: number[] = [];
    const guard = () => {
      connectionsWhenAsked.push(server.connections);
      if (connectionsWhenAsked.length === 1) throw refusal;
    };
    await expect(transport.request(patch(guard, { body: "first" }))).rejects.toBe(refusal);
    const { body } = await transport.request(patch(guard, { body: "second" }));
    expect((await readAll(body)).toString()).toBe("ok");
    expect(seen).toEqual(["second"]);
    expect(connectionsWhenAsked, "connected by the time it was asked, and no second connection").toEqual([
      1, 1,
    ]);
    await transport.close();
  },
);

test("a guard that closes during the TLS handshake keeps back all of the request", async () => {
  const held = Promise.withResolvers<Socket>();
  const seen: number[] = [];
  const secure = createTlsServer(tls, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => seen.push(chunk.length));
  });
  const server = createServer((socket) => held.resolve(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const transport = networkTransport({ server: `https://127.0.0.1:${port}`, tls: () => material });
  let isOpen = true;
  const asking = settled(
    transport.request(
      patch(() => {
        if (!isOpen) throw refusal;
      }),
    ),
  );
  const socket = await held.promise;
  isOpen = false;
  secure.emit("connection", socket);
  expect(await asking).toBe(refusal);
  await transport.close();
  await once(socket, "close");
  expect(seen).toEqual([]);
  server.close();
});

test.each(ways)(
  "a long body over %s is refused in the middle: the server never gets the whole request",
  async (way) => {
    const seen: string[] = [];
    await using server = await startRawServer(
      ({ method }) => void seen.push(method),
      way === "http" ? undefined : tls,
    );
    await using reached = await reaching(way, server.url);
    const { transport } = reached;
    const body = "x".repeat(100_000);
    let asked = 0;
    const guard = () => {
      asked++;
      if (asked === 4) throw refusal;
    };
    await expect(transport.request(patch(guard, { body }))).rejects.toBe(refusal);
    await expect.poll(() => server.open.size, { interval: 1 }).toBe(0);
    expect(seen).toEqual([]);
    await transport.close();
  },
);

test.each(ways)("a long body over %s arrives whole, asked for piece by piece", async (way) => {
  let seen = "";
  await using server = await startRawServer(
    ({ body }, socket) => {
      seen = body;
      socket.write(ok);
    },
    way === "http" ? undefined : tls,
  );
  await using reached = await reaching(way, server.url);
  const { transport } = reached;
  const text = Array.from({ length: 20_000 }, (_, index) => `${index}é`).join(",");
  for (const body of [text, Buffer.from(text)]) {
    let asked = 0;
    const request = patch(() => void asked++, { body });
    expect((await readAll((await transport.request(request)).body)).toString()).toBe("ok");
    expect(seen === text).toBe(true);
    expect(asked).toBe(Math.ceil(Buffer.byteLength(text) / (16 * 1024)));
  }
  expect(server.connections).toBe(1);
  await transport.close();
});

test.each(ways)(
  "a write over %s that is aborted before its answer is taken back from the kernel, though all of it was handed over",
  async (way) => {
    const accepted = Promise.withResolvers<Socket>();
    const server = way === "http" ? createServer() : createTlsServer(tls);
    server.on(way === "http" ? "connection" : "secureConnection", (socket: Socket) => {
      socket.pause();
      accepted.resolve(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using reached = await reaching(way, `${way === "http" ? "http" : "https"}://127.0.0.1:${port}`);
    const { transport } = reached;
    // More than the peer's window takes while it does not read, less than the buffers of both ends
    // together.
    const body = Buffer.alloc(1_200_000);
    const pieces = Math.ceil(body.length / (16 * 1024));
    const controller = new AbortController();
    let asked = 0;
    const guard = () => void asked++;
    const asking = settled(transport.request(patch(guard, { body, signal: controller.signal })));
    const socket = await accepted.promise;
    await expect.poll(() => asked, { interval: 1 }).toBeGreaterThanOrEqual(pieces);
    await settleSockets();
    controller.abort(refusal);
    expect(await asking).toBe(refusal);
    await settleSockets();
    let received = 0;
    const ended = Promise.withResolvers<string>();
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? ""));
    socket.on("end", () => ended.resolve("end"));
    socket.resume();
    expect(await ended.promise).toBe("ECONNRESET");
    expect(received).toBeLessThan(body.length);
    server.close();
  },
);
