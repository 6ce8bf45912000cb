import type { Duplex } from "node:stream";

/** What a flow needs, and what it calls. */
export interface FlowOptions {
  /** From how many waiting bytes on the source is no longer read from. */
  readonly bufferBytes: number;
  /** Called with each chunk before it is passed on; absent if no tenant inspects the bytes. */
  readonly onChunk: ((chunk: Buffer) => void) | undefined;
  /** The source has ended. What is returned is the last that the sink is sent. */
  readonly onEnd: () => Uint8Array | undefined;
  /** The sink has taken all of it, the end included. */
  readonly onFlush: () => void;
}

/** One direction of a relay: from a source to a sink, no faster than the sink takes it. */
export class Flow {
  /** Passed on so far. */
  bytes = 0;
  readonly #source: Duplex;
  readonly #sink: Duplex;
  readonly #options: FlowOptions;

  constructor(source: Duplex, sink: Duplex, options: FlowOptions) {
    this.#source = source;
    this.#sink = sink;
    this.#options = options;
  }

  start(): void {
    this.#source.on("data", this.#pass);
    this.#sink.on("drain", this.#resume);
    this.#sink.on("finish", this.#options.onFlush);
    if (this.#source.readableEnded) this.#end();
    else this.#source.once("end", this.#end);
    this.#resume();
  }

  stop(): void {
    this.#source.off("data", this.#pass).off("end", this.#end);
    this.#sink.off("drain", this.#resume).off("finish", this.#options.onFlush);
  }

  readonly #pass = (chunk: Buffer): void => {
    this.#options.onChunk?.(chunk);
    this.bytes += chunk.length;
    // A sink that wants to drain emits that once it is empty. Small buffers alone do not stop the
    // source: every stop and start costs two system calls.
    if (!this.#sink.write(chunk) && this.#sink.writableLength >= this.#options.bufferBytes)
      this.#source.pause();
  };

  readonly #resume = (): void => void this.#source.resume();

  readonly #end = (): void => {
    const lastBytes = this.#options.onEnd();
    if (lastBytes === undefined) this.#sink.end();
    else this.#sink.end(lastBytes);
  };
}
