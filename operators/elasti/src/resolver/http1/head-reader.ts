import { MalformedMessageError } from "./malformed.ts";
import { CR, LF } from "./syntax.ts";

/** How long a head may be: about the longest that common servers take. */
export const MOST_HEAD_BYTES = 64 * 1024;

const SMALLEST_ROOM = 1024;
const LINE_END_BYTES = 2;

/**
 * Collects the head of a message: its lines up to the empty one, wherever the bytes are cut. A head
 * that comes in one piece is not copied, and every byte is looked at once, however small the pieces
 * are.
 */
export class HeadReader {
  /** What there is of a head that did not come in one piece. */
  #held: Buffer | undefined;
  #heldLength = 0;
  /** The length of the line that is being read, and how many have been read. */
  #lineLength = 0;
  #lines = 0;
  #lastByte = 0;
  /**
   * Bytes of an empty line before the first one. It is skipped, as RFC 9112 asks for: some clients
   * send one after a body.
   */
  #skipped = 0;
  #text = "";

  /** Whether a part of a head has come. */
  get isBegun(): boolean {
    return this.#lineLength > 0 || this.#lines > 0;
  }

  /** The lines of the head that `take` found, each with its CRLF, without the empty one. */
  get text(): string {
    return this.#text;
  }

  /**
   * Takes bytes up to the end of the head.
   *
   * @returns where the head ends in `bytes`, or -1 if it goes on after them.
   * @throws MalformedMessageError for a line that ends without CR, and for a head that is too long.
   */
  take(bytes: Buffer, start: number, end: number): number {
    const most = Math.min(end, start + MOST_HEAD_BYTES - this.#heldLength);
    let lineLength = this.#lineLength;
    let lastByte = this.#lastByte;
    for (let at = start; at < most; at++) {
      const byte = bytes[at] as number;
      if (byte !== LF) {
        lineLength += 1;
        lastByte = byte;
        continue;
      }
      if (lastByte !== CR) throw new MalformedMessageError("line-ending", "line ends without CR");
      if (lineLength > 1) this.#lines += 1;
      else if (this.#lines > 0) return this.#finish(bytes, start, at + 1);
      else if (this.#skipped === 0) this.#skipped = LINE_END_BYTES;
      else throw new MalformedMessageError("start-line", "empty lines before the first one");
      lineLength = 0;
      lastByte = byte;
    }
    if (most < end) throw new MalformedMessageError("too-large", "head too long", 431);
    this.#lineLength = lineLength;
    this.#lastByte = lastByte;
    this.#hold(bytes, start, end);
    return -1;
  }

  #finish(bytes: Buffer, start: number, end: number): number {
    if (this.#held) {
      this.#hold(bytes, start, end);
      this.#text = this.#held.toString("latin1", this.#skipped, this.#heldLength - LINE_END_BYTES);
    } else this.#text = bytes.toString("latin1", start + this.#skipped, end - LINE_END_BYTES);
    this.#held = undefined;
    this.#heldLength = 0;
    this.#lineLength = 0;
    this.#lines = 0;
    this.#lastByte = 0;
    this.#skipped = 0;
    return end;
  }

  #hold(bytes: Buffer, start: number, end: number): void {
    const length = this.#heldLength + end - start;
    if (!this.#held || this.#held.length < length) {
      const roomier = Buffer.allocUnsafeSlow(Math.max(SMALLEST_ROOM, length * 2));
      this.#held?.copy(roomier, 0, 0, this.#heldLength);
      this.#held = roomier;
    }
    bytes.copy(this.#held, this.#heldLength, start, end);
    this.#heldLength = length;
  }
}
