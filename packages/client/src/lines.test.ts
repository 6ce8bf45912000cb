import * as fc from "fast-check";
import { expect, test } from "vitest";
import { splitLines } from "./lines.ts";

async function* chunked(bytes: Buffer, cuts: readonly number[]) {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (let i = 1; i < at.length; i++) yield new Uint8Array(bytes.subarray(at[i - 1], at[i]));
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunks)) lines.push(line.toString("utf8"));
  return lines;
}

test("lines are the same however the bytes are cut, also within characters", async () => {
  const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\n"));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      expect(await collect(chunked(bytes, cuts))).toEqual(lines);
    }),
  );
});

test("any bytes are cut as splitting them whole would, without empty lines", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(10, 13, 0, 255, 97), { maxLength: 50, size: "max" }),
      fc.array(fc.nat()),
      async (input, cuts) => {
        const bytes = Buffer.from(input);
        const whole = bytes.toString("latin1").split("\n").filter(Boolean);
        const lines: string[] = [];
        for await (const line of splitLines(chunked(bytes, cuts))) lines.push(line.toString("latin1"));
        expect(lines).toEqual(whole);
      },
    ),
  );
});

test("a line of several megabytes that comes in small chunks is one line", async () => {
  const big = "ü".repeat(2_000_000);
  const bytes = Buffer.from(`${big}\nend\n`);
  const cuts = Array.from({ length: 500 }, (_, i) => i * 8_191);
  expect(await collect(chunked(bytes, cuts))).toEqual([big, "end"]);
});

test("a last line without newline is given", async () => {
  expect(await collect(chunked(Buffer.from("a\nb"), [1]))).toEqual(["a", "b"]);
});

test("leaving the iteration ends the source", async () => {
  let ended = false;
  async function* source() {
    try {
      for (;;) yield Buffer.from("line\nline\n");
    } finally {
      ended = true;
    }
  }
  for await (const line of splitLines(source())) {
    expect(line.toString()).toBe("line");
    break;
  }
  expect(ended).toBe(true);
});
