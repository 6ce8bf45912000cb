import { TransportError } from "./errors.ts";

const NEWLINE = 0x0a;

/** More than a hundred times what a server stores in one object: a longer "line" is no watch event. */
const LONGEST_LINE = 256 * 1024 * 1024;

/**
 * Cuts a byte stream at its newlines. Works on bytes, so characters may lie across chunks, and copies only lines that
 * do. Empty lines are left out; a last line without newline is given.
 *
 * Chunks need be valid only until the next one is asked for, and so may share their memory; a line is valid until the next line is asked for.
 */
export function splitLines(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const ready: Buffer[] = [];
  let at = 0;
  let pieces: Buffer[] = [];
  let held = 0;
  let ended = false;

  const finishLine = (end: Buffer): Buffer => {
    if (held === 0) return end;
    pieces.push(end);
    const line = Buffer.concat(pieces, held + end.length);
    pieces = [];
    held = 0;
    return line;
  };

  const take = (chunk: Uint8Array) => {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = finishLine(bytes.subarray(start, end));
      if (line.length > 0) ready.push(line);
      start = end + 1;
    }
    if (start === bytes.length) return;
    pieces.push(Buffer.from(bytes.subarray(start)));
    held += bytes.length - start;
    if (held > LONGEST_LINE)
      throw new TransportError(
        "RESPONSE_MALFORMED",
        `a line of over ${LONGEST_LINE} bytes is no watch event`,
      );
  };

  const refill = async (): Promise<IteratorResult<Buffer>> => {
    while (at === ready.length) {
      ready.length = 0;
      at = 0;
      if (ended) return { done: true, value: undefined };
      const step = await source.next();
      if (!step.done) {
        take(step.value);
        continue;
      }
      ended = true;
      if (held > 0) ready.push(finishLine(Buffer.alloc(0)));
    }
    return { done: false, value: ready[at++] as Buffer };
  };

  return {
    next() {
      const value = ready[at];
      if (!value) return refill();
      at += 1;
      return Promise.resolve({ done: false, value });
    },
    async return() {
      ended = true;
      ready.length = 0;
      at = 0;
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
