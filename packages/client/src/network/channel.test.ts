import { connect, type OnReadOpts, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { Channel, type ChannelOwner } from "./channel.ts";
import { settleSockets, startRawServer } from "./raw-server.fixture.ts";

/** An owner that has no room for more than what came first. */
function owner(): ChannelOwner & { readonly ended: Promise<void>; bytes: number; end(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    bytes: 0,
    ended: promise,
    ready: () => undefined,
    head: () => undefined,
    body(_bytes, start, end) {
      this.bytes += end - start;
      return false;
    },
    end: resolve,
    refused: () => undefined,
    failed: () => undefined,
  };
}

test("what a request that is over wants of its connection does nothing to the one that has it now", async () => {
  const paths: string[] = [];
  await using server = await startRawServer(({ path }, socket) => {
    paths.push(path);
    const length = path === "/short" ? 0 : 1024 * 1024;
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${"x".repeat(length)}`);
  });
  const isReady = Promise.withResolvers<void>();
  const channel = new Channel(
    (dialing) => {
      const socket = connect({ host: "127.0.0.1", port: server.port, ...dialing.readInPlace() });
      socket.once("connect", () => {
        dialing.ready(socket);
        isReady.resolve();
      });
      return socket;
    },
    { onIdle: () => undefined, onGone: () => undefined },
  );
  await isReady.promise;
  const send = (by: ChannelOwner, path: string) =>
    channel.send(by, { head: `GET ${path} HTTP/1.1\r\n\r\n`, body: undefined, guard: undefined });

  const before = owner();
  channel.take(before);
  expect(() => channel.take(owner())).toThrow("one request at a time");
  send(before, "/short");
  await before.ended;

  const now = owner();
  channel.take(now);
  send(before, "/never");
  send(now, "/long");
  await expect.poll(() => now.bytes, { interval: 2 }).toBeGreaterThan(0);
  const { bytes } = now;
  channel.resume(before);
  channel.drop(before);
  await settleSockets();
  expect(now.bytes).toBe(bytes);
  channel.resume(now);
  await expect.poll(() => now.bytes, { interval: 2 }).toBeGreaterThan(bytes);
  channel.drop(now);
  expect(paths).toEqual(["/short", "/long"]);
});

test("a connection on which a request was answered between two of its pieces is not used again", async () => {
  const pieces: number[] = [];
  const written = new Duplex({
    read: () => undefined,
    // Taken at once, and reported in the next turn, as by the kernel.
    write(chunk: Buffer, _encoding, done) {
      pieces.push(chunk.length);
      done();
    },
  });
  const socket = Object.assign(written, {
    ref: () => undefined,
    unref: () => undefined,
  }) as unknown as Socket;
  let onread: OnReadOpts | undefined;
  let ready: (() => void) | undefined;
  const told: string[] = [];
  const channel = new Channel(
    (dialing) => {
      ({ onread } = dialing.readInPlace());
      ready = () => dialing.ready(socket);
      return socket;
    },
    { onIdle: () => told.push("idle"), onGone: () => told.push("gone") },
  );
  ready?.();
  const one = owner();
  channel.take(one);
  channel.send(one, { head: "PATCH / HTTP/1.1\r\n\r\n", body: "x".repeat(100_000), guard: () => undefined });
  const answer = Buffer.from("HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n");
  onread?.callback(answer.copy(onread.buffer as Buffer), onread.buffer as Buffer);
  await one.ended;
  await settleSockets();
  expect(told).toEqual(["gone"]);
  expect(pieces).toHaveLength(1);
});
