import { type BodyListener, ChunkReader } from "./chunks.ts";
import type { BodyLength } from "./request-head.ts";

/** Reads a body of any length. */
export class BodyReader {
  readonly #listener: BodyListener;
  /** Bytes that are still to come; of a body that ends with its connection, Infinity. */
  #left: number;
  readonly #chunks: ChunkReader | undefined;

  constructor(length: BodyLength, listener: BodyListener) {
    this.#listener = listener;
    this.#chunks = length === "chunked" ? new ChunkReader(listener) : undefined;
    this.#left = typeof length === "number" ? length : Number.POSITIVE_INFINITY;
  }

  get isDone(): boolean {
    return this.#chunks ? this.#chunks.isDone : this.#left === 0;
  }

  /**
   * @returns where it stopped: `end`, or before that if the body is complete.
   * @throws MalformedMessageError
   */
  take(bytes: Buffer, start: number, end: number): number {
    if (this.#chunks) return this.#chunks.take(bytes, start, end);
    const to = Math.min(end, start + this.#left);
    this.#left -= to - start;
    if (to > start) this.#listener.data(bytes, start, to);
    if (this.#left === 0) this.#listener.end("");
    return to;
  }

  /** The connection ended. @returns whether that was where the body ends too. */
  close(): boolean {
    if (this.isDone) return true;
    if (this.#chunks || this.#left !== Number.POSITIVE_INFINITY) return false;
    this.#left = 0;
    this.#listener.end("");
    return true;
  }
}
