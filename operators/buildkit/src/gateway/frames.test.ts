import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameReader, frameFlag, frameType, goAway, lastHeaders } from "./frames.ts";

const { DATA, HEADERS, CONTINUATION, GOAWAY } = frameType;

function frame(type: number, flags: number, stream: number, length: number): Buffer {
  const bytes = Buffer.alloc(9 + length, 0xff);
  bytes.writeUIntBE(length, 0, 3);
  bytes.writeUInt8(type, 3);
  bytes.writeUInt8(flags, 4);
  // With the reserved bit set, which means nothing.
  bytes.writeUInt32BE(0x8000_0000 + stream, 5);
  return bytes;
}

test("frames, and the places between them, are found, however the bytes are cut", () => {
  const header = fc.record({
    type: fc.constantFrom(DATA, HEADERS, CONTINUATION, GOAWAY, 0xff),
    flags: fc.constantFrom(0, frameFlag.END_STREAM, frameFlag.END_HEADERS, 0xff),
    stream: fc.nat(0x7fff_ffff),
    length: fc.oneof(fc.constant(0), fc.nat(30), fc.constant(70_000)),
  });
  const cutting = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1 });
  fc.assert(
    fc.property(
      fc.array(header, { minLength: 1, maxLength: 8 }),
      cutting,
      fc.nat(30),
      (frames, cuts, skipped) => {
        const bytes = Buffer.concat([
          Buffer.alloc(skipped, 0xff),
          ...frames.map(({ type, flags, stream, length }) => frame(type, flags, stream, length)),
        ]);
        const places = new Set<number>();
        let end = skipped;
        let isInBlock = false;
        for (const { type, flags, length } of frames) {
          end += 9 + length;
          if (type === HEADERS || type === CONTINUATION) isInBlock = (flags & frameFlag.END_HEADERS) === 0;
          if (!isInBlock) places.add(end);
        }
        const seen: number[][] = [];
        const reader = new FrameReader((...one) => void seen.push(one), skipped);
        expect(reader.isBetweenFrames).toBe(false);
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const next = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? 1));
          reader.saw(bytes.subarray(at, next));
          at = next;
          expect(reader.isBetweenFrames).toBe(places.has(at));
        }
        expect(seen).toEqual(frames.map(({ type, flags, stream }) => [type, flags, stream]));
      },
    ),
    { numRuns: 200 },
  );
});

test("a GOAWAY is one frame, about the whole connection, with its words", () => {
  const bytes = goAway("revoked");
  const seen: number[][] = [];
  const reader = new FrameReader((...one) => void seen.push(one));
  reader.saw(bytes);
  expect(reader.isBetweenFrames).toBe(true);
  expect(seen).toEqual([[GOAWAY, 0, 0]]);
  expect([bytes.readUInt32BE(9), bytes.readUInt32BE(13)]).toEqual([0x7fff_ffff, 0]);
  expect(bytes.subarray(17).toString()).toBe("revoked");
});

test.each([
  [0, [0]],
  [126, [126]],
  // The examples of RFC 7541 have a prefix of five bits; these are of the seven bits that a
  // string's length has.
  [127, [127, 0]],
  [254, [127, 127]],
  [255, [127, 128, 1]],
  [1_337, [127, 186, 9]],
  [16_300, [127, 173, 126]],
])("last headers are one frame that ends a stream, with a value of %i bytes", (length, prefix) => {
  const bytes = lastHeaders(5, { a: "x".repeat(length) });
  const seen: number[][] = [];
  const reader = new FrameReader((...one) => void seen.push(one));
  reader.saw(bytes);
  expect(reader.isBetweenFrames).toBe(true);
  expect(seen).toEqual([[HEADERS, frameFlag.END_STREAM | frameFlag.END_HEADERS, 5]]);
  expect([...bytes.subarray(9, 12 + prefix.length)]).toEqual([0, 1, 0x61, ...prefix]);
  expect(bytes.length).toBe(12 + prefix.length + length);
});
