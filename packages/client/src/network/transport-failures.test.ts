import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { constants, gzipSync } from "node:zlib";
import { ManualClock } from "@windlass/clock";
import { ConfigMap } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { Client } from "../client.ts";
import { readAll, startServer } from "../test-server.fixture.ts";
import { settleSockets } from "./raw-server.fixture.ts";
import { endlessServer, get, startRaw, text } from "./transport.fixture.ts";
import { networkTransport } from "./transport.ts";

test("a silent stream counts as dead after its idle timeout", async () => {
  const clock = new ManualClock();
  const { server, gone } = await endlessServer();
  await using _ = server;
  const transport = networkTransport({ server: server.url, clock });
  const { body } = await transport.request(get("/api/v1/pods?watch=1", { idleTimeout: 30_000 }));
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  await clock.advance(300_000);
  const rejected = expect(chunks.next()).rejects.toMatchObject({
    code: "TIMEOUT_IDLE",
    message: `GET ${server.url}/api/v1/pods: nothing came for 30000 ms; the peer counts as dead`,
  });
  await clock.advance(29_999);
  expect(clock.pending).toBe(1);
  await clock.advance(1);
  await rejected;
  await gone;
  expect(clock.pending).toBe(0);
});

/** A server that sends one byte of a JSON text each time it is told to. */
async function drippingServer(status = 200) {
  const { promise: begun, resolve } = Promise.withResolvers<() => void>();
  const server = await startServer((_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    resolve(() => void response.write(" "));
    response.write(" ");
  });
  return { server, begun };
}

test.for([
  ["get", (client: Client) => client.get(ConfigMap, { namespace: "a", name: "x" })],
  [
    "update",
    (client: Client) =>
      client.update(ConfigMap, { metadata: { namespace: "a", name: "x", resourceVersion: "1" } }),
  ],
  ["delete", (client: Client) => client.delete(ConfigMap, { namespace: "a", name: "x" })],
  ["list", (client: Client) => client.list(ConfigMap)],
  ["text", (client: Client) => client.text({ path: "/healthz" })],
] as const)(
  "the answer to a %s that trickles is given up after five minutes, though it is never silent",
  async ([, ask]) => {
    const clock = new ManualClock();
    const { server, begun } = await drippingServer();
    await using _ = server;
    const client = new Client({ transport: networkTransport({ server: server.url, clock }) });
    let end: unknown;
    const asked = ask(client).catch((error: unknown) => {
      end = error;
    });
    const drip = await begun;
    for (let passed = 59; passed < 300; passed += 59) {
      await settleSockets(2);
      await clock.advance(59_000);
      drip();
      await settleSockets();
      expect(end, `after ${passed} s`).toBeUndefined();
    }
    await clock.advance(5_000);
    await asked;
    expect(end).toMatchObject({ code: "TIMEOUT_BODY", mayHaveBeenSent: true });
    expect((end as Error).message).toContain("the answer was not complete within 300000 ms");
    expect(clock.pending).toBe(0);
    await client.close();
  },
);

test("a refusal that falls silent is given up, also where the stream that was asked for may be silent", async () => {
  const clock = new ManualClock();
  const { server, begun } = await drippingServer(410);
  await using _ = server;
  const client = new Client({ transport: networkTransport({ server: server.url, clock }) });
  const asked = expect(
    client.raw({ path: "/log", idleTimeout: Number.POSITIVE_INFINITY }),
  ).rejects.toMatchObject({
    code: "TIMEOUT_IDLE",
  });
  await begun;
  await settleSockets();
  await clock.advance(60_000);
  await asked;
  await client.close();
});

test("no answer within the headers timeout is reported as such, and a watch that has begun is not bound by it", async () => {
  const clock = new ManualClock();
  const arrived = Promise.withResolvers<void>();
  await using server = await startServer((request, response) => {
    if (request.url === "/mute") return arrived.resolve();
    response.writeHead(200).write("begun");
  });
  const transport = networkTransport({ server: server.url, clock, headersTimeout: 1_000 });
  const mute = transport.request(get("/mute"));
  const rejected = expect(mute).rejects.toMatchObject({ code: "TIMEOUT_HEADERS", mayHaveBeenSent: true });
  await arrived.promise;
  await clock.advance(1_000);
  await rejected;
  const { body } = await transport.request(get("/watch", { idleTimeout: Number.POSITIVE_INFINITY }));
  await clock.advance(3_600_000);
  for await (const chunk of body) {
    expect(Buffer.from(chunk).toString()).toBe("begun");
    break;
  }
});

test("a refused connection names the server, and is known not to have been sent", async () => {
  const server = await startServer(() => undefined);
  await server[Symbol.asyncDispose]();
  const transport = networkTransport({ server: server.url });
  await expect(transport.request(get("/api?x=1"))).rejects.toMatchObject({
    code: "CONNECTION_REFUSED",
    mayHaveBeenSent: false,
    message: `GET ${server.url}/api: connection refused: nothing listens there; is the API server up, and its address right?`,
  });
});

test("an unknown host is reported as such", async () => {
  const transport = networkTransport({ server: "http://no-such-host.invalid" });
  await expect(transport.request(get("/"))).rejects.toMatchObject({
    code: "HOST_NOT_FOUND",
    mayHaveBeenSent: false,
  });
});

test("a connection cut in the middle of the answer is an error, not an end", async () => {
  await using server = await startServer((request, response) => {
    response.writeHead(200).write("half", () => request.socket.destroy());
  });
  const transport = networkTransport({ server: server.url });
  await expect(text(transport, get("/"))).rejects.toMatchObject({
    code: "CONNECTION_RESET",
    mayHaveBeenSent: true,
  });
});

test("a peer that does not speak HTTP is reported as such", async () => {
  const server = createServer((socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const transport = networkTransport({ server: `http://127.0.0.1:${port}` });
  await expect(transport.request(get("/"))).rejects.toMatchObject({ code: "RESPONSE_MALFORMED" });
  server.close();
});

test.each(["identity", "gzip"])(
  "a body (%s) that the caller does not read is not buffered without end",
  async (coding) => {
    const plain = Buffer.alloc(64 * 1024 * 1024);
    const sent = coding === "gzip" ? gzipSync(plain, { level: constants.Z_NO_COMPRESSION }) : plain;
    const taken = new Map<string, number>();
    await using server = await startServer(async ({ url = "" }, response) => {
      response.setHeader("content-encoding", coding);
      for (let at = 0; at < sent.length; at += 1024 * 1024) {
        if (!response.write(sent.subarray(at, at + 1024 * 1024))) await once(response, "drain");
        taken.set(url, at);
      }
      response.end();
    });
    const transport = networkTransport({ server: server.url });
    const unread = await transport.request(get("/unread"));
    // While one of the same size is read to its end, this one could have been taken in as well.
    const read = await transport.request(get("/read"));
    expect((await readAll(read.body)).length).toBe(plain.length);
    expect(taken.get("/unread")).toBeLessThan(sent.length / 2);
    expect((await readAll(unread.body)).length).toBe(plain.length);
    await transport.close();
  },
);

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

test("a connection on which an unsolicited response came is not used again", async () => {
  let connections = 0;
  await using raw = await startRaw((socket) => {
    connections++;
    socket.on("data", () =>
      socket.write(connections === 1 ? `${ok}HTTP/1.1 408 Request Timeout\r\n\r\n` : ok),
    );
  });
  expect(await text(raw.transport, get("/"))).toBe("ok");
  expect(await text(raw.transport, get("/"))).toBe("ok");
  expect(connections).toBe(2);
});

test("a connection that the server closed while it was idle is not used again", async () => {
  const closed: Promise<unknown>[] = [];
  await using raw = await startRaw((socket) => {
    socket.on("data", () => socket.write(ok));
    closed.push(once(socket, "close"));
    if (closed.length === 1) socket.once("data", () => setImmediate(() => socket.end()));
  });
  expect(await text(raw.transport, get("/"))).toBe("ok");
  await closed[0];
  expect(await text(raw.transport, get("/"))).toBe("ok");
  expect(closed).toHaveLength(2);
});

test("an answer to a request that was not read to its end is given, and its connection is left", async () => {
  let connections = 0;
  await using raw = await startRaw((socket) => {
    connections++;
    socket.once("data", () => {
      socket.pause();
      socket.write(ok);
    });
  });
  const body = Buffer.alloc(64 * 1024 * 1024);
  expect(await text(raw.transport, { method: "POST", path: "/", headers: {}, body })).toBe("ok");
  expect(await text(raw.transport, get("/"))).toBe("ok");
  expect(connections).toBe(2);
});

test("a server is reached by a name that has several addresses", async () => {
  await using server = await startServer((_, response) => response.end("hello"));
  const transport = networkTransport({ server: `http://localhost:${server.port}` });
  expect(await text(transport, get("/"))).toBe("hello");
  await transport.close();
});

test("borrowed chunks are whole while they are read, however slowly that is", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index}:${"x".repeat(index % 97)}\n`).join("");
  await using server = await startServer((_, response) => {
    response.write(lines);
    response.end();
  });
  const transport = networkTransport({ server: server.url });
  const { body } = await transport.request(get("/", { borrowsChunks: true }));
  let seen = "";
  for await (const chunk of body) {
    const before = Buffer.from(chunk).toString();
    await new Promise((resolve) => setImmediate(resolve));
    expect(Buffer.from(chunk).toString()).toBe(before);
    seen += before;
  }
  expect(seen.length).toBe(lines.length);
  expect(seen === lines).toBe(true);
  await transport.close();
});

test("a reader that waits for bytes gets the end when the body is cancelled meanwhile", async () => {
  await using server = await startRaw((socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n");
    });
  });
  const { body } = await server.transport.request(get("/"));
  const reader = body[Symbol.asyncIterator]();
  await reader.next();
  const waiting = reader.next();
  await reader.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
});
