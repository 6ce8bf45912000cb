import { readFields, SpecialNames } from "./fields.ts";
import { HeadReader } from "./head-reader.ts";
import { MalformedMessageError } from "./malformed.ts";
import { CR, kinds, LF, VALUE } from "./syntax.ts";

/** Gets a body's parts, in order. */
export interface BodyListener {
  /** Bytes of the content. */
  data(bytes: Buffer, start: number, end: number): void;
  /** The body is complete. @param trailers lines that came after the last chunk; mostly none. */
  end(trailers: string): void;
}

const SEMICOLON = 0x3b;
/** Sizes beyond this are not counted exactly by a number. */
const MOST_SIZE_DIGITS = 13;
/**
 * Extensions have no use here. More of them than this is a client that wants us to read for
 * ever.
 */
const MOST_EXTENSION_BYTES = 256;
const MOST_TRAILER_BYTES = 8 * 1024;

/** Fields that say how a message is read, or for whom it is, and so may not come after it. */
const forbiddenTrailers = new SpecialNames([
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "host",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

type Place = "size" | "extension" | "size-end" | "data" | "data-cr" | "data-lf" | "trailers" | "done";

/**
 * Reads a chunked body, wherever its bytes are cut. Sizes are hexadecimal digits alone, and lines
 * end with CRLF: a blank, a sign or a lone LF is read differently by different servers. Extensions
 * are dropped.
 */
export class ChunkReader {
  readonly #listener: BodyListener;
  #place: Place = "size";
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  /** Reads the trailers, once there are any. */
  #trailers: HeadReader | undefined;
  #trailerBytes = 0;

  constructor(listener: BodyListener) {
    this.#listener = listener;
  }

  get isDone(): boolean {
    return this.#place === "done";
  }

  /**
   * @returns where it stopped: `end`, or before that if the body is complete.
   * @throws MalformedMessageError
   */
  take(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && this.#place !== "done") {
      if (this.#place === "data") {
        const to = Math.min(end, at + this.#size);
        this.#size -= to - at;
        if (this.#size === 0) this.#place = "data-cr";
        this.#listener.data(bytes, at, to);
        at = to;
      } else if (this.#place === "trailers") at = this.#takeTrailers(bytes, at, end);
      else this.#takeByte(bytes[at++] as number);
    }
    return at;
  }

  #takeByte(byte: number): void {
    switch (this.#place) {
      case "size":
        this.#takeSizeByte(byte);
        break;
      case "extension":
        if (byte === CR) this.#place = "size-end";
        else if (++this.#extensionBytes > MOST_EXTENSION_BYTES || ((kinds[byte] as number) & VALUE) === 0)
          throw new MalformedMessageError("chunk", "malformed chunk extension");
        break;
      case "size-end":
        this.#expect(byte, LF);
        this.#digits = 0;
        this.#extensionBytes = 0;
        this.#place = this.#size === 0 ? "trailers" : "data";
        break;
      case "data-cr":
        this.#expect(byte, CR);
        this.#place = "data-lf";
        break;
      case "data-lf":
        this.#expect(byte, LF);
        this.#place = "size";
        break;
    }
  }

  #takeSizeByte(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > MOST_SIZE_DIGITS)
        throw new MalformedMessageError("chunk", "chunk size out of range");
      this.#size = this.#size * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new MalformedMessageError("chunk", "malformed chunk size");
    if (byte === CR) this.#place = "size-end";
    else if (byte === SEMICOLON) this.#place = "extension";
    else throw new MalformedMessageError("chunk", "malformed chunk size");
  }

  #expect(byte: number, expected: number): void {
    if (byte !== expected) throw new MalformedMessageError("chunk", "chunk longer than its size");
  }

  /** The lines after the last chunk, up to an empty one, which is mostly the first. */
  #takeTrailers(bytes: Buffer, start: number, end: number): number {
    if (!this.#trailers) {
      // Given a first line, the reader stops at the empty one, also if no trailer comes.
      this.#trailers = new HeadReader();
      this.#trailers.take(firstLine, 0, firstLine.length);
    }
    const stop = Math.min(end, start + MOST_TRAILER_BYTES - this.#trailerBytes + 1);
    const found = this.#trailers.take(bytes, start, stop);
    if (found < 0) {
      this.#trailerBytes += stop - start;
      if (this.#trailerBytes > MOST_TRAILER_BYTES)
        throw new MalformedMessageError("too-large", "trailers too long", 431);
      return stop;
    }
    this.#place = "done";
    this.#listener.end(checkedTrailers(this.#trailers.text));
    return found;
  }
}

const firstLine = Buffer.from("trailers\r\n");

function checkedTrailers(text: string): string {
  return readFields(text, firstLine.length, forbiddenTrailers, (name) => {
    throw new MalformedMessageError("trailer", `${name} in the trailers`);
  });
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
