import type { ServerResponse } from "node:http";
import type { Sink } from "./request.ts";

/**
 * After this many clients the event loop gets a turn, so that requests are served which may add
 * events for those still waiting.
 */
const mostAtOnce = 128;
/** A client's pending data is sent at once when it reaches this size. */
const mostHeld = 64 * 1024;

/**
 * Batches writes to streaming clients, a few clients at a time.
 *
 * A write to a socket costs more than everything else about an event. So each client gets one write
 * for all events that are pending when its turn comes: with a thousand watchers that is several
 * events in a write, and a write request does not wait until the last watcher is served.
 */
export class Outbox {
  #waiting: Stream[] = [];
  #isFlushing = false;
  readonly #framer = new Framer();

  /**
   * A sink for an answer whose head was sent. Data goes out within the same turn of the event loop
   * if no other client is waiting.
   */
  open(outgoing: ServerResponse): Sink {
    const stream = new Stream(outgoing, this.#framer);
    return {
      write: (chunk) => {
        if (stream.push(chunk) && !stream.isWaiting) this.#add(stream);
        return stream.unsent;
      },
      drained: (listener) => stream.drained(listener),
      end: () => {
        stream.flush();
        outgoing.end();
      },
    };
  }

  #add(stream: Stream): void {
    stream.isWaiting = true;
    this.#waiting.push(stream);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    const turn = this.#waiting.slice(0, mostAtOnce);
    this.#waiting = this.#waiting.slice(mostAtOnce);
    for (const stream of turn) {
      stream.isWaiting = false;
      stream.flush();
    }
    this.#isFlushing = this.#waiting.length > 0;
    if (this.#isFlushing) setImmediate(() => this.#flush());
  }
}

class Stream {
  isWaiting = false;
  readonly #outgoing: ServerResponse;
  readonly #framer: Framer;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(outgoing: ServerResponse, framer: Framer) {
    this.#outgoing = outgoing;
    this.#framer = framer;
  }

  /** Bytes that were not yet sent to the client. */
  get unsent(): number {
    return this.#heldBytes + (this.#outgoing.socket?.writableLength ?? this.#outgoing.writableLength);
  }

  /** @returns whether there is something to flush later */
  push(chunk: Uint8Array): boolean {
    this.#held.push(chunk);
    this.#heldBytes += chunk.byteLength;
    if (this.#heldBytes > mostHeld) this.flush();
    return this.#held.length > 0;
  }

  drained(listener: () => void): void {
    this.flush();
    const { socket } = this.#outgoing;
    const target = socket ?? this.#outgoing;
    if (target.writableNeedDrain) target.once("drain", listener);
    else setImmediate(listener);
  }

  flush(): void {
    const chunks = this.#held;
    if (chunks.length === 0 || this.#outgoing.destroyed) return;
    this.#held = [];
    this.#heldBytes = 0;
    const { socket } = this.#outgoing;
    // Bypasses Node's chunked encoding, which makes three writes of one. A pipelined answer has no
    // socket yet.
    if (socket && this.#outgoing.chunkedEncoding) socket.write(this.#framer.frame(chunks));
    else for (const chunk of chunks) this.#outgoing.write(chunk);
  }
}

/**
 * Frames chunks of a chunked answer. Watchers are sent the same bytes one after the other: these
 * are framed once.
 */
class Framer {
  #chunk: Uint8Array | undefined;
  #framed = new Uint8Array();

  frame(chunks: readonly Uint8Array[]): Uint8Array {
    const [first] = chunks;
    if (chunks.length === 1 && this.#chunk === first) return this.#framed;
    const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    const bytes = Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), ...chunks, Buffer.from("\r\n")]);
    if (chunks.length === 1) {
      this.#chunk = first;
      this.#framed = bytes;
    }
    return bytes;
  }
}
