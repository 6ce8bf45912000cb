import type { Duplex } from "node:stream";
import type { Requester } from "../registry/admission.ts";

/** A request, wherever it came from: a socket, or a client in the same process. */
export interface ApiRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  /** Names in lower case; repeated headers as a list. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array | undefined;
  /**
   * The user of the connection, from a client certificate or an in-process caller; "rejected" for
   * an invalid certificate.
   */
  readonly peer?: Requester | "rejected";
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** An answer: complete, or a stream that lasts until the client disconnects. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array | Streaming;
  /** With status 101: takes over the upgraded connection. */
  readonly takeover?: (socket: Duplex, head: Uint8Array) => void;
}

/** Where a streaming answer goes. */
export interface Sink {
  /** Sends a chunk. @returns how many bytes are not yet sent */
  write(chunk: Uint8Array): number;
  /** Calls back once everything pending was sent; never if the client disconnects first. */
  drained(listener: () => void): void;
  end(): void;
}

/** Starts a stream. The returned function is called when the client has gone. */
export type Streaming = (sink: Sink) => () => void;

/** A request's address, taken apart as it was sent: `..` is a name like any other. */
export function addressOf({ url }: Pick<ApiRequest, "url">): {
  readonly pathname: string;
  readonly searchParams: URLSearchParams;
} {
  const [path = "", ...query] = url.split("?");
  const pairs = query.join("?").split("&");
  return {
    pathname: path.startsWith("/") ? path : `/${path}`,
    searchParams: new URLSearchParams(pairs.filter((pair) => !misformed.test(pair)).join("&")),
  };
}

/** Query parts that Go ignores. */
const misformed = /;|%(?![0-9a-f]{2})/i;

export function header(request: Pick<ApiRequest, "headers">, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" ? value : value?.[0];
}
