import type { Duration } from "@windlass/clock";
/**
 * The one seam between a client and an API server. The network transport, the interceptors around
 * it and the embedded control plane's in-process door all have this shape.
 */
export interface Transport {
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Ends idle connections. Requests under way are not touched: abort them by their signals. */
  close(): Promise<void>;
}

/** A request to an API server. */
export interface TransportRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, e.g. `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /**
   * Called synchronously, right before bytes of the request are handed to the socket: after
   * credentials, connecting and TLS, again for each repetition, and again for each piece of a long
   * body. Throws to refuse; the request rejects with what it threw, and the server gets at most a
   * part, on which it cannot act. Every transport must call it: it is how a replica that has lost a
   * lease keeps writes from leaving. @default always allowed
   */
  readonly guard?: (() => void) | undefined;
  /**
   * How long the body may stay silent while it is being read before the peer counts as dead and the
   * iteration throws a `TransportError` with code TIMEOUT_IDLE. Time in which the caller does not
   * read does not count. `Infinity` for streams that may be silent for long. @default the
   * transport's own limit
   */
  readonly idleTimeout?: Duration;
  /**
   * How long the whole body may take, however it trickles, before the iteration throws a
   * `TransportError` with code TIMEOUT_BODY. For bodies that are read at once. @default no limit
   */
  readonly bodyTimeout?: Duration;
  /**
   * Whether a chunk of the body may be valid only until the next one is asked for. For readers that
   * copy what they keep: a long stream then goes through the same memory. @default false
   */
  readonly borrowsChunks?: boolean;
  /** `never` for callers that retry by rules of their own, such as a watch. @default "safe" */
  readonly retry?: "safe" | "never";
}

/** The response to a request, with a body that is read once. */
export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrives, decompressed. Leaving the iteration early ends the request. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Wraps a transport: authentication, retries, metrics and tracing are each one of these. The first
 * is the outermost.
 */
export type Interceptor = (next: Transport) => Transport;

/** Puts interceptors around a transport, the first outermost. */
export function intercept(transport: Transport, interceptors: readonly Interceptor[]): Transport {
  return interceptors.reduceRight((inner, interceptor) => interceptor(inner), transport);
}
