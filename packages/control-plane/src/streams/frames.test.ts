import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameError, FrameReader, frame, mostBytes, opcodes, type Received } from "./frames.ts";

/** A frame as clients send them. */
function masked(opcode: number, data: Uint8Array, fin = true): Buffer {
  const bytes = frame(opcode, data);
  const head = bytes.subarray(0, bytes.byteLength - data.byteLength);
  head[0] = (fin ? 0x80 : 0) | opcode;
  head[1] = (head[1] ?? 0) | 0x80;
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, Buffer.from(data).map((byte, index) => byte ^ (mask[index & 3] ?? 0))]);
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

const readAll = (pieces: readonly Uint8Array[]): Received[] => {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => [...reader.read(piece)]);
};

test("messages come out as they went in, however they are cut on their way and into frames", () => {
  const message = fc.record({
    text: fc.boolean(),
    parts: fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 4 }),
    ping: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.nat({ max: 400 })), (messages, sizes) => {
      const bytes = messages.flatMap(({ text, parts, ping }) =>
        parts.flatMap((part, index) => [
          // Control frames may come in the middle of a message.
          ...(ping ? [masked(opcodes.ping, Buffer.from("?"))] : []),
          masked(
            index > 0 ? opcodes.continuation : text ? opcodes.text : opcodes.binary,
            part,
            index === parts.length - 1,
          ),
        ]),
      );
      const received = readAll(cut(Buffer.concat(bytes), sizes)).filter(({ kind }) => kind !== "ping");
      expect(received).toEqual(
        messages.map(({ text, parts }) => ({ kind: text ? "text" : "binary", data: Buffer.concat(parts) })),
      );
    }),
  );
});

test("whatever bytes come, they are read, or refused as the specification requires", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), (pieces) => {
      try {
        readAll(pieces);
      } catch (error) {
        expect(error).toBeInstanceOf(FrameError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("what the book forbids is refused with its code", () => {
  const code = (bytes: Buffer) => {
    try {
      readAll([bytes]);
    } catch (error) {
      return (error as FrameError).code;
    }
    return undefined;
  };
  expect(code(frame(opcodes.text, Buffer.from("not masked")))).toBe(1002);
  expect(code(masked(opcodes.continuation, Buffer.from("never began")))).toBe(1002);
  expect(code(masked(opcodes.ping, Buffer.alloc(126)))).toBe(1002);
  expect(code(masked(opcodes.ping, Buffer.alloc(1), false))).toBe(1002);
  expect(code(masked(3, Buffer.alloc(1)))).toBe(1002);
  expect(code(masked(opcodes.close, Buffer.alloc(1)))).toBe(1002);
  const twice = Buffer.concat([
    masked(opcodes.text, Buffer.alloc(1), false),
    masked(opcodes.text, Buffer.alloc(1)),
  ]);
  expect(code(twice)).toBe(1002);
  const long = masked(opcodes.binary, Buffer.alloc(70_000));
  long.writeBigUInt64BE(BigInt(mostBytes) + 1n, 2);
  expect(code(long)).toBe(1009);
});

test("a close says why", () => {
  const data = Buffer.concat([Buffer.from([3, 232]), Buffer.from("bye")]);
  expect(readAll([masked(opcodes.close, data)])).toEqual([{ kind: "close", code: 1000, reason: "bye" }]);
  expect(readAll([masked(opcodes.close, Buffer.alloc(0))])).toEqual([
    { kind: "close", code: 1005, reason: "" },
  ]);
});
