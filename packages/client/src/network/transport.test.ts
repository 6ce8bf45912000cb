import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { constants, gzipSync } from "node:zlib";
import { ManualClock } from "@windlass/clock";
import { ConfigMap } from "@windlass/kinds/builtin";
import { expect, test, vi } from "vitest";
import { Client } from "../client.ts";
import { bodyOf, readAll, sendJson, startServer } from "../test-server.fixture.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import { settleSockets } from "./raw-server.fixture.ts";
import { networkTransport } from "./transport.ts";

const get = (path: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "GET",
  path,
  headers: {},
  ...more,
});

async function text(transport: Transport, request: TransportRequest): Promise<string> {
  const response = await transport.request(request);
  return (await readAll(response.body)).toString("utf8");
}

test("requests one after another use one connection, DELETE with a body among them", async () => {
  await using server = await startServer(async (request, response) => {
    sendJson(response, 200, { method: request.method, body: await bodyOf(request) });
  });
  const transport = networkTransport({ server: server.url });
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
    for (let i = 0; i < 10; i++) {
      const body = method === "GET" ? {} : { body: "{ü}" };
      const answer = await text(transport, { method, path: "/", headers: {}, ...body });
      expect(JSON.parse(answer)).toEqual({ method, body: method === "GET" ? "" : "{ü}" });
    }
  }
  expect(server.connections).toBe(1);
  await transport.close();
});

test("requests at the same time use as many connections as there are requests, and keep them", async () => {
  await using server = await startServer((_, response) => sendJson(response, 200, {}));
  const transport = networkTransport({ server: server.url });
  const burst = () => Promise.all(Array.from({ length: 8 }, () => text(transport, get("/"))));
  await burst();
  const opened = server.connections;
  expect(opened).toBeLessThanOrEqual(8);
  await burst();
  await burst();
  expect(server.connections).toBeLessThanOrEqual(8);
  await transport.close();
});

test("closing ends idle connections and leaves a request under way alone", async () => {
  const finish = Promise.withResolvers<void>();
  await using server = await startServer(async (request, response) => {
    if (request.url === "/slow") {
      response.write("begun ");
      await finish.promise;
    }
    response.end("done");
  });
  const transport = networkTransport({ server: server.url });
  const slow = await transport.request(get("/slow"));
  await text(transport, get("/"));
  expect(server.open.size).toBe(2);
  const closed = Promise.race([...server.open].map((socket) => once(socket, "close")));
  await transport.close();
  await closed;
  finish.resolve();
  expect((await readAll(slow.body)).toString()).toBe("begun done");
});

test("a path in the server's URL goes before the request's", async () => {
  await using server = await startServer((request, response) => response.end(request.url));
  const transport = networkTransport({ server: `${server.url}/k8s/clusters/c-1/` });
  expect(await text(transport, get("/api/v1/pods?limit=1"))).toBe("/k8s/clusters/c-1/api/v1/pods?limit=1");
  await transport.close();
});

test("gzip of several members is read whole, wherever the bytes are cut", async () => {
  const members = Buffer.concat(["first ", "sécond ", "third"].map((part) => gzipSync(part)));
  let size = 1;
  await using server = await startServer(async (request, response) => {
    expect(request.headers["accept-encoding"]).toBe("gzip");
    response.writeHead(200, { "content-encoding": "gzip" });
    for (let at = 0; at < members.length; at += size) {
      response.write(members.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const transport = networkTransport({ server: server.url });
  for (size of [1, 2, 7, 23, gzipSync("first ").length, 1_000]) {
    expect(await text(transport, get("/"))).toBe("first sécond third");
  }
  expect(server.connections).toBe(1);
  await transport.close();
});

test("each flushed gzip member is given before the next is sent", async () => {
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using server = await startServer(async (_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    response.write(gzipSync("one\n"));
    await steps[0]?.promise;
    response.write(gzipSync("two\n"));
    await steps[1]?.promise;
    response.end();
  });
  const transport = networkTransport({ server: server.url });
  const { body } = await transport.request(get("/"));
  const seen: string[] = [];
  for await (const chunk of body) {
    seen.push(Buffer.from(chunk).toString());
    steps[seen.length - 1]?.resolve();
  }
  expect(seen).toEqual(["one\n", "two\n"]);
  await transport.close();
});

test("compression is not asked for when it is switched off", async () => {
  await using server = await startServer((request, response) =>
    response.end(String(request.headers["accept-encoding"])),
  );
  const transport = networkTransport({ server: server.url, compression: "none" });
  expect(await text(transport, get("/"))).toBe("undefined");
  await transport.close();
});

test.each([
  ["204 No Content", ""],
  ["304 Not Modified", ""],
  ["200 OK", "content-length: 0\r\n"],
  ["200 OK", "transfer-encoding: chunked\r\n"],
])("%s that says gzip, and has no body, has an empty one (%j)", async (status, more) => {
  const end = more.includes("chunked") ? "0\r\n\r\n" : "";
  await using raw = await startRaw((socket) => {
    socket.on("data", () =>
      socket.write(`HTTP/1.1 ${status}\r\ncontent-encoding: gzip\r\n${more}\r\n${end}`),
    );
  });
  for (let i = 0; i < 2; i++) expect(await text(raw.transport, get("/"))).toBe("");
});

test("a body in a coding that was not requested is an invalid response", async () => {
  await using server = await startServer((_, response) =>
    response.writeHead(200, { "content-encoding": "br" }).end("whatever"),
  );
  const transport = networkTransport({ server: server.url });
  await expect(text(transport, get("/"))).rejects.toMatchObject({
    code: "RESPONSE_MALFORMED",
    message: expect.stringContaining('content-encoding "br"'),
  });
  await transport.close();
});

test("a body that comes slowly, but comes, is read to its end", async () => {
  const clock = new ManualClock();
  const parts = Array.from({ length: 10 }, () => Promise.withResolvers<void>());
  await using server = await startServer(async (_, response) => {
    response.writeHead(200, { "content-length": 10 }).flushHeaders();
    for (const part of parts) {
      await part.promise;
      response.write("x");
    }
    response.end();
  });
  const transport = networkTransport({ server: server.url, clock });
  const { body } = await transport.request(get("/"));
  const reading = readAll(body);
  for (const part of parts) {
    await clock.advance(59_000);
    part.resolve();
    await settleSockets();
  }
  expect((await reading).toString()).toBe("x".repeat(10));
  expect(clock.pending).toBe(0);
  await transport.close();
});

test("damaged gzip is an answer that is not valid", async () => {
  await using server = await startServer((_, response) =>
    response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip at all"),
  );
  const transport = networkTransport({ server: server.url });
  await expect(text(transport, get("/"))).rejects.toMatchObject({ code: "RESPONSE_MALFORMED" });
  await transport.close();
});

/**
 * A stream that never ends by itself, and a promise that resolves when its connection is closed.
 */
async function endlessServer() {
  const gone = Promise.withResolvers<void>();
  const server = await startServer((_, response) => {
    response.once("close", () => gone.resolve());
    response.writeHead(200);
    response.write("{}\n");
  });
  return { server, gone: gone.promise };
}

test("leaving the body early ends the request", async () => {
  const { server, gone } = await endlessServer();
  await using _ = server;
  const transport = networkTransport({ server: server.url });
  const { body } = await transport.request(get("/"));
  for await (const chunk of body) {
    expect(chunk.length).toBe(3);
    break;
  }
  await gone;
});

test("an abort while reading ends the request with the signal's reason", async () => {
  const { server, gone } = await endlessServer();
  await using _ = server;
  const controller = new AbortController();
  const transport = networkTransport({ server: server.url });
  const { body } = await transport.request(get("/", { signal: controller.signal }));
  const reason = new Error("not wanted any more");
  const reading = readAll(body);
  controller.abort(reason);
  await expect(reading).rejects.toBe(reason);
  await gone;
});

test("an abort while waiting for the answer rejects with the signal's reason", async () => {
  const arrived = Promise.withResolvers<void>();
  await using server = await startServer(() => arrived.resolve());
  const controller = new AbortController();
  const transport = networkTransport({ server: server.url });
  const asking = transport.request(get("/", { signal: controller.signal }));
  await arrived.promise;
  controller.abort("just so");
  await expect(asking).rejects.toBe("just so");
});

test.each(["identity", "gzip"])(
  "an abort between answer and reading (%s) is thrown to the reader",
  async (encoding) => {
    await using server = await startServer((_, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.write(encoding === "gzip" ? gzipSync("{}") : "{}");
    });
    const controller = new AbortController();
    const transport = networkTransport({ server: server.url });
    const { body } = await transport.request(get("/", { signal: controller.signal }));
    const reason = new Error("too late");
    controller.abort(reason);
    await new Promise((resolve) => setImmediate(resolve));
    await expect(readAll(body)).rejects.toBe(reason);
  },
);

test.each(["identity", "gzip"])(
  "a connection lost between answer and reading (%s) is thrown to the reader",
  async (encoding) => {
    await using server = await startServer((_, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.write(encoding === "gzip" ? gzipSync("{}") : "{}");
    });
    const transport = networkTransport({ server: server.url });
    const { body } = await transport.request(get("/"));
    for (const socket of server.open) socket.resetAndDestroy();
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
    await expect(readAll(body)).rejects.toMatchObject({ code: "CONNECTION_RESET" });
  },
);

test("a peer that takes the connection but never answers the TLS greeting is reported as such", async () => {
  const clock = new ManualClock();
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const transport = networkTransport({ server: `https://127.0.0.1:${port}`, clock });
  const rejected = expect(transport.request(get("/"))).rejects.toMatchObject({
    code: "TIMEOUT_CONNECT",
    mayHaveBeenSent: false,
  });
  const socket = await accepted.promise;
  await clock.advance(10_000);
  await rejected;
  socket.destroy();
  server.close();
});

test("a signal used for many requests keeps no trace of them", async () => {
  await using server = await startServer((_, response) => response.end("x"));
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  const transport = networkTransport({ server: server.url });
  for (let i = 0; i < 5; i++) await text(transport, get("/", { signal }));
  expect(listeners).toBe(0);
  await transport.close();
});

test("requests that share a signal share one listener, and all end when it is aborted", async () => {
  await using server = await startServer((request, response) => {
    if (request.url === "/answered") response.end("x");
  });
  const controller = new AbortController();
  const add = vi.spyOn(controller.signal, "addEventListener");
  const transport = networkTransport({ server: server.url });
  const asked = ["/a", "/answered", "/b"].map((path) =>
    text(transport, get(path, { signal: controller.signal })),
  );
  await expect(asked[1]).resolves.toBe("x");
  expect(add).toHaveBeenCalledTimes(1);
  controller.abort("enough");
  await expect(Promise.allSettled(asked)).resolves.toEqual([
    { status: "rejected", reason: "enough" },
    { status: "fulfilled", value: "x" },
    { status: "rejected", reason: "enough" },
  ]);
  await transport.close();
});

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

/** A server of raw bytes: what to do with each connection is up to the test. */
async function startRaw(onConnection: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    transport: networkTransport({ server: `http://127.0.0.1:${port}` }),
    async [Symbol.asyncDispose]() {
      server.close();
      await this.transport.close();
    },
  };
}

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
