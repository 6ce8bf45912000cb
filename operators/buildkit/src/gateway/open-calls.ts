import { percentEncoded } from "./answer.ts";
import { FrameReader, frameFlag, frameType, goAway, lastHeaders, prefaceBytes } from "./frames.ts";
import { grpcStatus, type Refusal } from "./refusal.ts";

/** What a client receives when its connection is ended. */
export type LastWords = Pick<Refusal, "code" | "message">;

/** So many calls are followed at a time. Builds have a handful. */
const MOST_CALLS = 1_000;

/**
 * So many characters of a message are sent. In gRPC's encoding they may be nine times as many, and
 * a frame has 16,384 bytes.
 */
const MOST_CHARACTERS = 1_000;

/**
 * Follows the gRPC calls of a connection, to answer those that are open when the connection is
 * ended.
 *
 * A GOAWAY alone does not tell the reason: gRPC prints the words of the first one, and a worker
 * that stops has sent one of its own.
 */
export class OpenCalls {
  /** By stream: whether the worker has begun to answer. */
  readonly #calls = new Map<number, boolean>();
  readonly #fromClient = new FrameReader(
    (type, _flags, stream) => this.#clientSent(type, stream),
    prefaceBytes,
  );
  readonly #fromWorker = new FrameReader((type, flags, stream) => this.#workerSent(type, flags, stream));
  #lastCall = 0;
  #hasGoAway = false;

  sawFromClient(chunk: Buffer): void {
    this.#fromClient.saw(chunk);
  }

  sawFromWorker(chunk: Buffer): void {
    this.#fromWorker.saw(chunk);
  }

  /**
   * The frames that end the connection, to follow what the worker has sent; undefined in the middle
   * of a frame of the worker's.
   */
  lastBytes({ code, message }: LastWords): Buffer | undefined {
    if (!this.#fromWorker.isBetweenFrames) return undefined;
    const words = message.slice(0, MOST_CHARACTERS).toWellFormed();
    const trailers = { "grpc-status": String(grpcStatus[code]), "grpc-message": percentEncoded(words) };
    const headers = { ":status": "200", "content-type": "application/grpc", ...trailers };
    const answers = [...this.#calls].map(([stream, isAnswered]) =>
      lastHeaders(stream, isAnswered ? trailers : headers),
    );
    // After the worker's own, one of ours would not be read, and would break the rule that each
    // names fewer streams than the last.
    return Buffer.concat(this.#hasGoAway ? answers : [...answers, goAway(words)]);
  }

  #clientSent(type: number, stream: number): void {
    if (type === frameType.HEADERS && stream > this.#lastCall) {
      this.#lastCall = stream;
      if (this.#calls.size < MOST_CALLS) this.#calls.set(stream, false);
    } else if (type === frameType.RST_STREAM) this.#calls.delete(stream);
  }

  #workerSent(type: number, flags: number, stream: number): void {
    switch (type) {
      case frameType.DATA:
      case frameType.HEADERS:
        if ((flags & frameFlag.END_STREAM) !== 0) this.#calls.delete(stream);
        else if (type === frameType.HEADERS && this.#calls.has(stream)) this.#calls.set(stream, true);
        break;
      case frameType.RST_STREAM:
        this.#calls.delete(stream);
        break;
      case frameType.GOAWAY:
        this.#hasGoAway = true;
        break;
    }
  }
}
