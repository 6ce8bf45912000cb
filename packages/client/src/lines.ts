import { TransportError } from "./errors.ts";
import { type Cutter, cutStream, Remainder } from "./pieces.ts";

const NEWLINE = 0x0a;

/**
 * More than a hundred times what a server stores in one object: a longer "line" is no watch event.
 */
const LONGEST_LINE = 256 * 1024 * 1024;

const nothing = Buffer.alloc(0);

/**
 * Cuts a byte stream at its newlines. Works on bytes, so characters may lie across chunks, and
 * copies only lines that do. Empty lines are left out; a last line without newline is given.
 *
 * A line may share memory with the chunk it came in: copy what is to be kept for long.
 */
export function splitLines(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Buffer> {
  return cutStream(chunks, new LineCutter());
}

class LineCutter implements Cutter {
  readonly #begun = new Remainder();

  take(chunk: Buffer, found: Buffer[]): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#begun.complete(chunk.subarray(start, end));
      if (line.length > 0) found.push(line);
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#begun.add(chunk.subarray(start));
    if (this.#begun.length > LONGEST_LINE)
      throw new TransportError(
        "RESPONSE_MALFORMED",
        `a line of over ${LONGEST_LINE} bytes is no watch event`,
      );
  }

  end(found: Buffer[]): void {
    if (this.#begun.length > 0) found.push(this.#begun.complete(nothing));
  }
}
