import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { ManualClock } from "@windlass/clock";
import { expect, test, vi } from "vitest";
import { bodyOf, readAll, sendJson, startServer } from "../test-server.fixture.ts";
import { settleSockets } from "./raw-server.fixture.ts";
import { endlessServer, get, startRaw, text } from "./transport.fixture.ts";
import { networkTransport } from "./transport.ts";

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
