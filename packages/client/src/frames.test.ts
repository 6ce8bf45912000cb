import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitFrames } from "./frames.ts";

async function* chunked(bytes: Buffer, cuts: readonly number[]) {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  // One piece of memory for all, as a connection uses it.
  const memory = new Uint8Array(bytes.length);
  for (let i = 1; i < at.length; i++) {
    const part = bytes.subarray(at[i - 1], at[i]);
    memory.fill(0);
    memory.set(part);
    yield memory.subarray(0, part.length);
  }
}

function framed(bodies: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    bodies.flatMap((body) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      return [length, body];
    }),
  );
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const frames: string[] = [];
  for await (const frame of splitFrames(chunks)) frames.push(frame.toString("hex"));
  return frames;
}

test("frames are the same however the bytes are cut, empty ones too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 })), fc.array(fc.nat()), async (bodies, cuts) => {
      const expected = bodies.map((body) => Buffer.from(body).toString("hex"));
      expect(await collect(chunked(framed(bodies), cuts))).toEqual(expected);
    }),
  );
});

test("a stream that ends within a frame is an error, not an end", async () => {
  const bytes = framed([Buffer.from("whole"), Buffer.from("half")]);
  for (const missing of [1, 4, 6, 7])
    await expect(collect(chunked(bytes.subarray(0, bytes.length - missing), []))).rejects.toMatchObject({
      code: "CONNECTION_RESET",
    });
});

test("a length out of range is refused before any memory is allocated for it", async () => {
  await expect(collect(chunked(Buffer.from([0xff, 0xff, 0xff, 0xff, 0]), []))).rejects.toMatchObject({
    code: "RESPONSE_MALFORMED",
  });
  await expect(collect(chunked(Buffer.from([0xff, 0xff, 0xff, 0xff, 0]), [2]))).rejects.toMatchObject({
    code: "RESPONSE_MALFORMED",
  });
});
