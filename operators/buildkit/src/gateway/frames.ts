const HEADER_BYTES = 9;

/** The types of frames that matter here. */
export const frameType = {
  DATA: 0x0,
  HEADERS: 0x1,
  RST_STREAM: 0x3,
  PUSH_PROMISE: 0x5,
  GOAWAY: 0x7,
  CONTINUATION: 0x9,
} as const;

/** The flags of frames that matter here. */
export const frameFlag = { END_STREAM: 0x1, END_HEADERS: 0x4 } as const;

/** What a client sends before its first frame. */
export const prefaceBytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length;

/** Promises nothing of any stream: which of them the worker has dealt with is not known here. */
const LAST_STREAM = 0x7fff_ffff;

/** Called with the header of each frame, before its payload has arrived. */
export type FrameListener = (type: number, flags: number, stream: number) => void;

/**
 * Follows the frames of an HTTP/2 connection in one direction, to know which there were, and when
 * one more may be put between two of them.
 */
export class FrameReader {
  readonly #onFrame: FrameListener;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  /** Of the header that is being received. */
  #headerBytes = 0;
  /** Of the payload that is being received. */
  #leftBytes: number;
  #hasFrames = false;
  /**
   * From a frame that begins a header block to the one that ends it, which nothing may come
   * between.
   */
  #isInHeaderBlock = false;

  /** @param skippedBytes what comes before the first frame */
  constructor(onFrame: FrameListener, skippedBytes = 0) {
    this.#onFrame = onFrame;
    this.#leftBytes = skippedBytes;
  }

  /** Whether everything so far was whole frames and whole header blocks, and at least one. */
  get isBetweenFrames(): boolean {
    return this.#hasFrames && this.#headerBytes === 0 && this.#leftBytes === 0 && !this.#isInHeaderBlock;
  }

  saw(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#leftBytes > 0) {
        const skipped = Math.min(this.#leftBytes, chunk.length - at);
        this.#leftBytes -= skipped;
        at += skipped;
      } else if (this.#headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        this.#begin(chunk, at);
        at += HEADER_BYTES;
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
      this.#begin(this.#header, 0);
    }
    return taken;
  }

  /** Takes a frame's header. */
  #begin(bytes: Buffer, at: number): void {
    this.#leftBytes = bytes.readUIntBE(at, 3);
    this.#hasFrames = true;
    const type = bytes.readUInt8(at + 3);
    const flags = bytes.readUInt8(at + 4);
    if (type === frameType.HEADERS || type === frameType.PUSH_PROMISE || type === frameType.CONTINUATION)
      this.#isInHeaderBlock = (flags & frameFlag.END_HEADERS) === 0;
    this.#onFrame(type, flags, bytes.readUInt32BE(at + 5) & 0x7fff_ffff);
  }
}

/** A GOAWAY frame with words that gRPC clients print when the connection then ends. */
export function goAway(words: string): Buffer {
  const debug = Buffer.from(words);
  const last = Buffer.alloc(8);
  last.writeUInt32BE(LAST_STREAM);
  return frame(frameType.GOAWAY, 0, 0, Buffer.concat([last, debug]));
}

/**
 * A HEADERS frame that ends a stream. Nothing is compressed by what went before or changes what
 * comes after, so it may stand among the frames of another sender.
 */
export function lastHeaders(stream: number, headers: Readonly<Record<string, string>>): Buffer {
  const block = Object.entries(headers).flatMap(([name, value]) => [
    // A literal that is not added to the table, with a name that is a literal too.
    Buffer.of(0),
    ...stringLiteral(name),
    ...stringLiteral(value),
  ]);
  const flags = frameFlag.END_STREAM | frameFlag.END_HEADERS;
  return frame(frameType.HEADERS, flags, stream, Buffer.concat(block));
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/**
 * HPACK's string without Huffman's code: its length, in seven bits and then seven at a time, and
 * its bytes.
 */
function stringLiteral(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  if (bytes.length < 0x7f) return [Buffer.of(bytes.length), bytes];
  const length = [0x7f];
  let left = bytes.length - 0x7f;
  for (; left >= 0x80; left >>>= 7) length.push((left & 0x7f) | 0x80);
  return [Buffer.of(...length, left), bytes];
}
