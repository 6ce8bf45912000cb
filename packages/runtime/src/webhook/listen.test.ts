import { once } from "node:events";
import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { createAuthority } from "@windlass/certificates";
import { ManualClock } from "@windlass/clock";
import { afterEach, expect, test } from "vitest";
import { silentLogger } from "../logging/logger.ts";
import type { WebhookAnswer } from "./dispatch.ts";
import { type Listener, listen } from "./listen.ts";

const authority = createAuthority({ commonName: "test", validFor: 3_600_000 });
const pair = authority.issue({
  commonName: "localhost",
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
  validFor: 3_600_000,
});
const ok: WebhookAnswer = { status: 200, headers: { "content-type": "text/plain" }, body: "ok" };
const closeMs = 10_000;

const listeners: { readonly listener: Listener; readonly clock: ManualClock }[] = [];
afterEach(async () => {
  for (const { listener, clock } of listeners.splice(0)) {
    const closed = listener.close();
    await clock.advance(closeMs);
    await closed;
  }
});

async function start(handle: () => Promise<WebhookAnswer> = () => Promise.resolve(ok)) {
  const clock = new ManualClock();
  const limitFor = () => 1_000;
  const options = { port: 0, host: "127.0.0.1", clock, handle, limitFor, closeMs, log: silentLogger };
  const listener = await listen(options);
  listener.use(pair);
  listeners.push({ listener, clock });
  return { listener, clock };
}

/** A connection that is kept, as an API server keeps those to its webhooks. */
class KeptConnection {
  readonly #socket: TLSSocket;
  #received = "";
  readonly ended: Promise<unknown>;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.setEncoding("utf8").on("data", (text: string) => {
      this.#received += text;
    });
    this.ended = once(socket, "end");
    this.ended.catch(() => undefined);
  }

  static async open({ port }: Listener): Promise<KeptConnection> {
    const socket = connect({ port, host: "127.0.0.1", ca: authority.certificate });
    await once(socket, "secureConnect");
    return new KeptConnection(socket);
  }

  send(): void {
    this.#received = "";
    this.#socket.write("POST /any HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
  }

  /** The whole answer to what was sent. @throws Error if the connection ends without one. */
  async answer(): Promise<string> {
    const ended = this.ended.then(() => {
      if (!this.#received.endsWith("ok")) throw new Error("the connection ended without an answer");
    });
    while (!this.#received.endsWith("ok")) await Promise.race([once(this.#socket, "data"), ended]);
    return this.#received;
  }

  async ask(): Promise<string> {
    this.send();
    return await this.answer();
  }
}

test("a connection is kept for longer than an API server keeps one that it does not use", async () => {
  const { listener } = await start();
  const answer = await (await KeptConnection.open(listener)).ask();
  const seconds = Number(/^keep-alive: timeout=(\d+)/im.exec(answer)?.[1]);
  expect(seconds).toBeGreaterThan(90);
});

test("while it drains it serves on old and new connections, and has each closed with its answer", async () => {
  const { listener } = await start();
  const old = await KeptConnection.open(listener);
  expect(await old.ask()).toMatch(/^connection: keep-alive/im);
  listener.drain();
  for (const connection of [old, await KeptConnection.open(listener)]) {
    expect(await connection.ask()).toMatch(/^connection: close/im);
    await connection.ended;
  }
});

test("a request that has arrived on an idle connection when it closes is answered", async () => {
  const { listener } = await start();
  const used = await KeptConnection.open(listener);
  await used.ask();
  const unused = await KeptConnection.open(listener);
  // Both are in the server's socket buffer now, unread.
  used.send();
  unused.send();
  const closed = listener.close();
  expect(await used.answer()).toMatch(/^HTTP\/1.1 200 .*^connection: close/ims);
  expect(await unused.answer()).toMatch(/^HTTP\/1.1 200 .*^connection: close/ims);
  await closed;
});

test("idle connections are closed cleanly, and then nothing listens", async () => {
  const { listener } = await start();
  const connections = [await KeptConnection.open(listener), await KeptConnection.open(listener)];
  await connections[0]?.ask();
  await listener.close();
  for (const { ended } of connections) await ended;
  await expect(KeptConnection.open(listener)).rejects.toThrow("ECONNREFUSED");
});

test("requests under way are waited for, with a limit, as are silent connections", async () => {
  const { promise: never } = Promise.withResolvers<WebhookAnswer>();
  const arrived = Promise.withResolvers<void>();
  const { listener, clock } = await start(() => {
    arrived.resolve();
    return never;
  });
  const silent = connectPlain(listener.port, "127.0.0.1");
  silent.on("error", () => undefined);
  const gone = once(silent, "close");
  const stuck = await KeptConnection.open(listener);
  stuck.send();
  await arrived.promise;
  let isClosed = false;
  const closed = listener.close().then(() => {
    isClosed = true;
  });
  await clock.advance(closeMs - 1);
  expect(isClosed).toBe(false);
  await clock.advance(1);
  await closed;
  await gone;
});
