import { TransportError } from "./errors.ts";
import { type Cutter, cutStream, Remainder } from "./pieces.ts";

/** The bytes of a frame's length. */
const LENGTH = 4;

/**
 * More than a hundred times what a server stores in one object: a longer frame is no watch event.
 */
const LONGEST_FRAME = 256 * 1024 * 1024;

/**
 * Cuts a byte stream into frames, each of which has its length before it: how a watch is sent as
 * protobuf. Copies only frames that lie across chunks. Ends with a `TransportError` if the stream
 * ends within a frame.
 *
 * A frame may share memory with the chunk it came in: copy what is to be kept for long.
 */
export function splitFrames(chunks: AsyncIterable<Uint8Array>): AsyncIterableIterator<Buffer> {
  return cutStream(chunks, new FrameCutter());
}

class FrameCutter implements Cutter {
  /** The beginning of a frame, its length before it. */
  readonly #begun = new Remainder();
  /** How long that frame will be with its length, once that is known. */
  #whole = 0;

  take(chunk: Buffer, found: Buffer[]): void {
    let start = 0;
    if (this.#begun.length > 0) start = this.#continue(chunk, found);
    while (this.#begun.length === 0) {
      const whole = chunk.length - start < LENGTH ? LENGTH : LENGTH + lengthAt(chunk, start);
      if (chunk.length - start < whole) break;
      found.push(chunk.subarray(start + LENGTH, start + whole));
      start += whole;
    }
    if (start < chunk.length) this.#begun.add(chunk.subarray(start));
  }

  end(): void {
    if (this.#begun.length > 0)
      throw new TransportError("CONNECTION_RESET", "the watch ended in the middle of an event");
  }

  /** Goes on with the frame that was begun. @returns where in the chunk it ends. */
  #continue(chunk: Buffer, found: Buffer[]): number {
    let start = 0;
    if (this.#whole === 0) {
      const missing = Math.max(0, LENGTH - this.#begun.length);
      const head = this.#begun.complete(chunk.subarray(0, missing));
      this.#begun.add(head);
      start = Math.min(missing, chunk.length);
      if (this.#begun.length < LENGTH) return start;
      this.#whole = LENGTH + lengthAt(head, 0);
    }
    const missing = this.#whole - this.#begun.length;
    if (chunk.length - start < missing) {
      this.#begun.add(chunk.subarray(start));
      return chunk.length;
    }
    const frame = this.#begun.complete(chunk.subarray(start, start + missing));
    this.#whole = 0;
    found.push(frame.subarray(LENGTH));
    return start + missing;
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > LONGEST_FRAME)
    throw new TransportError("RESPONSE_MALFORMED", `a frame of ${length} bytes is no watch event`);
  return length;
}
