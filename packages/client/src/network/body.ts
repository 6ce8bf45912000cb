import { finished, type Readable } from "node:stream";

/** Beyond this many bytes that nobody has taken, the connection is left unread until somebody does. */
const MOST_WAITING_BYTES = 256 * 1024;

export interface BodyOptions {
  /** Called when the reader starts to wait for bytes. */
  readonly onWait: () => void;
  /** Called when there is something for a reader that waited: bytes, the end, or an error. */
  readonly onArrival: () => void;
  /** Called once, at the end, on an error, or when the reader leaves. */
  readonly onFinish: () => void;
  /** Gives the error that the reader is to see. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * The chunks of a body, as they come, without the steps that a stream's own async iterator takes for each: a large list comes in tens of
 * thousands of them.
 *
 * Nothing flows before the first chunk is asked for. One reader, one `next` at a time.
 */
export class BodyChunks implements AsyncIterableIterator<Uint8Array> {
  readonly #body: Readable;
  readonly #options: BodyOptions;
  #state: "untouched" | "flowing" | "paused" | "over" = "untouched";
  #failure: { readonly error: unknown } | undefined;
  #waiting: Uint8Array[] = [];
  #at = 0;
  #waitingBytes = 0;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;

  constructor(body: Readable, options: BodyOptions) {
    this.#body = body;
    this.#options = options;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#waiting[this.#at];
    if (chunk) {
      this.#at += 1;
      this.#waitingBytes -= chunk.byteLength;
      if (this.#at === this.#waiting.length) {
        this.#waiting = [];
        this.#at = 0;
        if (this.#state === "paused") {
          this.#state = "flowing";
          this.#body.resume();
        }
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#state === "over") {
      const failure = this.#failure;
      this.#failure = undefined;
      return failure ? Promise.reject(failure.error) : Promise.resolve(end);
    }
    this.#reader = Promise.withResolvers();
    this.#options.onWait();
    if (this.#state === "untouched") this.#start();
    return this.#reader.promise;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#waiting = [];
    this.#at = 0;
    this.#failure = undefined;
    if (this.#state !== "over") {
      this.#end();
      this.#body.destroy();
    }
    return Promise.resolve(end);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    this.#state = "flowing";
    finished(this.#body, { writable: false }, (error) => {
      if (this.#state === "over") return;
      if (error) this.#failure = { error: this.#options.explain(error) };
      this.#end();
    });
    this.#body.on("data", this.#take);
  }

  readonly #take = (chunk: Uint8Array): void => {
    if (this.#state === "over") return;
    const reader = this.#reader;
    if (reader) {
      this.#reader = undefined;
      this.#options.onArrival();
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    if (this.#waitingBytes < MOST_WAITING_BYTES || this.#state !== "flowing") return;
    this.#state = "paused";
    this.#body.pause();
  };

  #end(): void {
    this.#state = "over";
    this.#body.off("data", this.#take);
    this.#options.onFinish();
    const reader = this.#reader;
    if (!reader) return;
    this.#reader = undefined;
    this.#options.onArrival();
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) reader.reject(failure.error);
    else reader.resolve(end);
  }
}

const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
