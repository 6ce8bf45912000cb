import { constants, deflateSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  dataFrame,
  dictionary,
  readHeaders,
  replyFrame,
  SpdyError,
  type SpdyFrame,
  SpdyReader,
} from "./spdy-frames.ts";
import { SpdySession, type SpdyStream } from "./spdy-session.ts";

const word = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function headerBytes(headers: { readonly [name: string]: string }): Buffer {
  const parts = Object.entries(headers).flatMap((pair) =>
    pair.flatMap((part) => [word(Buffer.byteLength(part)), Buffer.from(part)]),
  );
  return Buffer.concat([word(Object.keys(headers).length), ...parts]);
}

/**
 * A stream's beginning. Headers after the first go on in the same compression: here, uncompressed
 * blocks.
 */
function begin(
  stream: number,
  headers: { readonly [name: string]: string },
  order: "first" | "later",
): Buffer {
  const plain = headerBytes(headers);
  const size = Buffer.alloc(4);
  size.writeUInt16LE(plain.byteLength, 0);
  size.writeUInt16LE(0xffff ^ plain.byteLength, 2);
  const block =
    order === "first"
      ? deflateSync(plain, { dictionary, finishFlush: constants.Z_SYNC_FLUSH })
      : Buffer.concat([Buffer.from([0]), size, plain, Buffer.from([0, 0, 0, 0xff, 0xff])]);
  const body = Buffer.concat([word(stream), word(0), Buffer.alloc(2), block]);
  const head = Buffer.from([0x80, 3, 0, 1, 0, 0, 0, 0]);
  head.writeUIntBE(body.byteLength, 5, 3);
  return Buffer.concat([head, body]);
}

function readAll(pieces: readonly Uint8Array[]): SpdyFrame[] {
  const reader = new SpdyReader();
  return pieces.flatMap((piece) => [...reader.read(piece)]);
}

test("whatever bytes come, they are read, or refused as the specification requires", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), (pieces) => {
      try {
        readAll(pieces);
      } catch (error) {
        expect(error).toBeInstanceOf(SpdyError);
      }
    }),
    { numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        readHeaders(Buffer.from(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(SpdyError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("frames come out as they went in, however they are cut on their way", () => {
  const sent = fc.array(fc.tuple(fc.integer({ min: 1, max: 0x7fff_ffff }), fc.uint8Array(), fc.boolean()));
  fc.assert(
    fc.property(sent, fc.nat({ max: 30 }), (frames, size) => {
      const bytes = Buffer.concat(frames.map(([stream, data, fin]) => dataFrame(stream, data, fin)));
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.byteLength; at += size + 1) pieces.push(bytes.subarray(at, at + size + 1));
      expect(readAll(pieces)).toEqual(
        frames.map(([stream, data, fin]) => ({ kind: "data", stream, fin, data: Buffer.from(data) })),
      );
    }),
  );
});

test("an answer's compressed headers are what everybody's zlib reads as none", () => {
  const blocks = (["first", "later"] as const).map((order) => replyFrame(1, order).subarray(12));
  const plain = inflateSync(Buffer.concat(blocks), { dictionary, finishFlush: constants.Z_SYNC_FLUSH });
  expect(plain).toEqual(Buffer.alloc(8));
});

test("a connection carries streams side by side, in both directions", async () => {
  const sent: Buffer[] = [];
  const heard: string[] = [];
  const streams: SpdyStream[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const session = new SpdySession(
    { send: (bytes) => sent.push(bytes), close: () => undefined },
    {
      onStream: (stream) => {
        streams.push(stream);
        const name = stream.headers.get("streamtype") ?? "";
        return {
          onData: (data) => heard.push(`${name}: ${data.toString()}`),
          onEnd: () => {
            heard.push(`${name} ended`);
            if (name === "data") resolve();
          },
        };
      },
      onClose: () => heard.push("closed"),
    },
  );
  session.push(begin(1, { StreamType: "error" }, "first"));
  session.push(begin(3, { streamtype: "data", port: "80" }, "later"));
  session.push(Buffer.concat([dataFrame(3, Buffer.from("hi"), false), dataFrame(1, Buffer.alloc(0), true)]));
  session.push(dataFrame(3, Buffer.from("bye"), true));
  await promise;
  expect(heard).toEqual(["data: hi", "error ended", "data: bye", "data ended"]);
  streams[1]?.send(Buffer.from("answer"));
  streams[1]?.end();
  streams[1]?.send(Buffer.from("too late"));
  expect(readAll(sent.slice(2))).toEqual([
    { kind: "data", stream: 3, fin: false, data: Buffer.from("answer") },
    { kind: "data", stream: 3, fin: true, data: Buffer.alloc(0) },
  ]);
  session.close();
  expect(heard.at(-1)).toBe("closed");
});

test("a connection ends at what cannot be understood, once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let closed = 0;
  const session = new SpdySession(
    { send: () => 0, close: resolve },
    {
      onStream: () => undefined,
      onClose: () => {
        closed++;
      },
    },
  );
  const garbage = begin(1, { a: "b" }, "first");
  garbage.fill(0xff, 20);
  session.push(garbage);
  session.push(begin(3, { a: "b" }, "first"));
  await promise;
  session.ended();
  expect(closed).toBe(1);
});
