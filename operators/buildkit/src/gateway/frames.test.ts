import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FrameBoundary, goAway } from "./frames.ts";

function frame(length: number): Buffer {
  const bytes = Buffer.alloc(9 + length, 0xff);
  bytes.writeUIntBE(length, 0, 3);
  return bytes;
}

test("the place between two frames is found, however the bytes are cut", () => {
  const lengths = fc.array(fc.oneof(fc.constant(0), fc.nat(30), fc.constant(70_000)), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(lengths, fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1 }), (sizes, cuts) => {
      const bytes = Buffer.concat(sizes.map(frame));
      const ends = new Set<number>();
      let end = 0;
      for (const size of sizes) {
        end += 9 + size;
        ends.add(end);
      }
      const boundary = new FrameBoundary();
      expect(boundary.isBetweenFrames).toBe(false);
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const next = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? 1));
        boundary.saw(bytes.subarray(at, next));
        at = next;
        expect(boundary.isBetweenFrames).toBe(ends.has(at));
      }
    }),
    { numRuns: 200 },
  );
});

test("a GOAWAY is one frame, about the whole connection, with its words", () => {
  const bytes = goAway("revoked");
  const boundary = new FrameBoundary();
  boundary.saw(bytes);
  expect(boundary.isBetweenFrames).toBe(true);
  expect([bytes.readUInt8(3), bytes.readUInt32BE(5), bytes.readUInt32BE(13)]).toEqual([7, 0, 0]);
  expect(bytes.subarray(17).toString()).toBe("revoked");
});
