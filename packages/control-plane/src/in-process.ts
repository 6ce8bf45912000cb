import type { ApiRequest, ApiResponse } from "./http/request.ts";
import type { Requester } from "./registry/admission.ts";

/**
 * What a client in the same process sends: the shape of `@windlass/client`'s transport, without
 * depending on it.
 */
export interface InProcessRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Called right before the request counts as sent. Throws to refuse it. */
  readonly guard?: (() => void) | undefined;
}

/** The response to a request within this process. */
export interface InProcessResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** A transport for clients in this process, without sockets. */
export interface InProcessTransport {
  request(request: InProcessRequest): Promise<InProcessResponse>;
  close(): Promise<void>;
}

/** @param user who its requests come from, unless they carry a token. */
export function inProcessTransport(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  user: Requester | undefined,
): InProcessTransport {
  return {
    async request(request) {
      request.signal?.throwIfAborted();
      request.guard?.();
      const gone = new AbortController();
      const onAbort = () => gone.abort(request.signal?.reason);
      request.signal?.addEventListener("abort", onAbort, { once: true });
      try {
        const response = await handle({
          method: request.method,
          url: request.path,
          headers: request.headers,
          body: typeof request.body === "string" ? Buffer.from(request.body) : request.body,
          signal: gone.signal,
          ...(user && request.headers.authorization === undefined ? { peer: user } : {}),
        });
        // Streams begin at once: an event between this answer and the first read is not lost.
        const { status, headers } = response;
        return { status, headers, body: bodyOf(response.body, request.signal) };
      } finally {
        // A signal may outlive many requests, and must not keep what is left of them.
        request.signal?.removeEventListener("abort", onAbort);
      }
    },
    close: () => Promise.resolve(),
  };
}

function bodyOf(body: ApiResponse["body"], signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  if (typeof body === "function") return new Pipe(body, signal);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return (async function* () {
    if (bytes.byteLength > 0) yield bytes;
  })();
}

/** Buffers what a stream wrote until it is read. */
class Pipe implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #waiting = 0;
  #ended = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  readonly #drained: (() => void)[] = [];
  readonly #stop: () => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => {
    this.#failure = this.#signal?.reason;
    this.#stop();
    this.#wake?.();
  };

  constructor(
    start: Extract<ApiResponse["body"], (...args: never[]) => unknown>,
    signal: AbortSignal | undefined,
  ) {
    this.#stop = start({
      write: (chunk) => {
        this.#chunks.push(chunk);
        this.#waiting += chunk.byteLength;
        this.#wake?.();
        return this.#waiting;
      },
      drained: (listener) => {
        this.#drained.push(listener);
        this.#wake?.();
      },
      end: () => {
        this.#ended = true;
        this.#wake?.();
      },
    });
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure;
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#waiting -= chunk.byteLength;
          yield chunk;
        } else if (this.#drained.length > 0) {
          for (const listener of this.#drained.splice(0)) listener();
        } else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.#signal?.removeEventListener("abort", this.#onAbort);
      this.#stop();
    }
  }
}
