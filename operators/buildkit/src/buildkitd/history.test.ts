import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { countActiveBuilds, HistoryError, messagesIn, pruneCache } from "./history.ts";

let server: Http2Server | undefined;
afterEach(() => server?.close());

/** A daemon that answers as the test sets. */
async function daemon(
  answer: (stream: ServerHttp2Stream, request: Buffer) => void,
  method = "ListenBuildHistory",
): Promise<TLSSocket> {
  server = createServer();
  server.on("stream", (stream, headers) => {
    expect(headers[":path"]).toBe(`/moby.buildkit.v1.Control/${method}`);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => answer(stream, Buffer.concat(chunks)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // What is asked over is a stream; that it is encrypted is its maker's business.
  return connect(port, "127.0.0.1") as unknown as TLSSocket;
}

const message = (length: number) => {
  const frame = Buffer.alloc(5 + length);
  frame.writeUInt32BE(length, 1);
  return frame;
};

const answer =
  (messages: readonly Buffer[], status = "0") =>
  (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": status }));
    for (const one of messages) stream.write(one);
    stream.end();
  };

test("builds under way are counted by the messages of the answer", async () => {
  const none = await daemon(answer([]));
  expect(await countActiveBuilds(none, new AbortController().signal)).toBe(0);
  server?.close();
  const two = await daemon((stream, request) => {
    // ActiveOnly and EarlyExit, in four bytes.
    expect(request.toString("hex")).toBe("000000000408011801");
    answer([message(70_000), message(3)])(stream);
  });
  expect(await countActiveBuilds(two, new AbortController().signal)).toBe(2);
  expect(two.destroyed).toBe(true);
});

test("a cache is emptied, internal records too; a daemon that refuses is an error", async () => {
  const socket = await daemon((stream, request) => {
    // all, in two bytes.
    expect(request.toString("hex")).toBe("00000000021001");
    answer([message(120), message(90), message(80)])(stream);
  }, "Prune");
  expect(await pruneCache(socket, new AbortController().signal)).toBe(3);
  server?.close();
  const refusing = await daemon(answer([], "2"), "Prune");
  await expect(pruneCache(refusing, new AbortController().signal)).rejects.toThrow(HistoryError);
});

test("a daemon that refuses is an error, not a daemon without builds", async () => {
  const socket = await daemon(answer([], "12"));
  await expect(countActiveBuilds(socket, new AbortController().signal)).rejects.toThrow(HistoryError);
});

test("a daemon that hangs up in the middle is an error", async () => {
  const socket = await daemon((stream) => stream.session?.destroy());
  await expect(countActiveBuilds(socket, new AbortController().signal)).rejects.toThrow(HistoryError);
});

test("a caller can stop waiting", async () => {
  const socket = await daemon(() => undefined);
  const giveUp = new AbortController();
  const asked = countActiveBuilds(socket, giveUp.signal);
  giveUp.abort(new Error("enough"));
  await expect(asked).rejects.toThrow("enough");
  expect(socket.destroyed).toBe(true);
});

test("frames that arrive in pieces are counted once", () => {
  expect(messagesIn(Buffer.concat([message(10), message(0), message(300)]))).toBe(3);
  expect(messagesIn(Buffer.alloc(0))).toBe(0);
});
