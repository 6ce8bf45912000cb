const HEADER_BYTES = 9;
const GOAWAY = 0x7;
/** Promises nothing of any stream: which of them the worker has dealt with is not known here. */
const LAST_STREAM = 0x7fff_ffff;

/** Follows the frames of an HTTP/2 connection in one direction, to know when one more may be put between two of them. */
export class FrameBoundary {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  /** Of the header that is being received. */
  #headerBytes = 0;
  /** Of the payload that is being received. */
  #leftBytes = 0;
  #hasFrames = false;

  /** Whether everything so far was whole frames, and at least one. */
  get isBetweenFrames(): boolean {
    return this.#hasFrames && this.#headerBytes === 0 && this.#leftBytes === 0;
  }

  saw(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#leftBytes > 0) {
        const skipped = Math.min(this.#leftBytes, chunk.length - at);
        this.#leftBytes -= skipped;
        at += skipped;
      } else if (this.#headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        this.#leftBytes = payloadBytes(chunk, at);
        at += HEADER_BYTES;
        this.#hasFrames = true;
      } else {
        at += this.#collectHeader(chunk, at);
      }
    }
  }

  /** Takes what a chunk has of a header that is cut in two. @returns how many bytes. */
  #collectHeader(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, at);
    this.#headerBytes += taken;
    if (this.#headerBytes === HEADER_BYTES) {
      this.#headerBytes = 0;
      this.#leftBytes = payloadBytes(this.#header, 0);
      this.#hasFrames = true;
    }
    return taken;
  }
}

/** A GOAWAY frame with words that gRPC clients print when the connection then ends. */
export function goAway(words: string): Buffer {
  const debug = Buffer.from(words);
  const frame = Buffer.alloc(HEADER_BYTES + 8 + debug.length);
  frame.writeUIntBE(8 + debug.length, 0, 3);
  frame.writeUInt8(GOAWAY, 3);
  frame.writeUInt32BE(LAST_STREAM, HEADER_BYTES);
  frame.set(debug, HEADER_BYTES + 8);
  return frame;
}

function payloadBytes(chunk: Buffer, at: number): number {
  return ((chunk[at] ?? 0) << 16) | ((chunk[at + 1] ?? 0) << 8) | (chunk[at + 2] ?? 0);
}
