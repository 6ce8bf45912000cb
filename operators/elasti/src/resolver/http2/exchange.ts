import {
  type ClientHttp2Stream,
  constants,
  type Http2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { ConnectionHost } from "../connection-host.ts";
import { answerFor, type Failure } from "../failure.ts";
import type { Slot, Ticket, Waiter } from "../hold/dispatcher.ts";
import { PAUSED_CLIENT_BYTES } from "../hold/held-bytes.ts";
import type { OwnResponse } from "../http1/answer.ts";
import { forwardedElement } from "../http1/forward.ts";
import { resultOf } from "../metrics.ts";
import type { ServicePort } from "../service.ts";
import type { EndpointResources } from "../upstream/resources.ts";
import { withoutConnectionSpecific } from "./connection-specific.ts";

type State =
  | { readonly at: "waiting"; readonly ticket: Ticket<EndpointResources> | undefined }
  | {
      readonly at: "forwarded";
      readonly slot: Slot<EndpointResources>;
      readonly upstream: ClientHttp2Stream;
      readonly hasAnswer: boolean;
    }
  | { readonly at: "over" };

const {
  NGHTTP2_CANCEL,
  NGHTTP2_INTERNAL_ERROR,
  NGHTTP2_NO_ERROR,
  NGHTTP2_PROTOCOL_ERROR,
  NGHTTP2_REFUSED_STREAM,
} = constants;
/** How many bytes of a body are read ahead while its stream waits. */
const MOST_PENDING_BYTES = 16 * 1024;
/** How often a stream that its endpoint has not looked at is tried again. */
const MOST_REPEATS = 10;

/** What a stream is served with. */
export interface Http2ExchangeOptions {
  readonly port: ServicePort;
  readonly host: ConnectionHost;
  readonly address: string;
  readonly holdMs: number;
  readonly afterHold: OwnResponse | undefined;
}

/**
 * One stream of HTTP/2 and its answer. What is read of its body before a session to an endpoint is
 * connected is kept, so a stream that found its endpoint unreachable is sent to another one whole.
 */
export class Http2Exchange implements Waiter<EndpointResources> {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: IncomingHttpHeaders;
  readonly #options: Http2ExchangeOptions;
  readonly #startedAt: number;
  #state: State = { at: "waiting", ticket: undefined };
  #repeats = 0;
  /** What has come of the body while the stream waits, and what all of it is charged. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #charged = 0;
  /** What ends the request's body, and may come before there is an endpoint. */
  #clientTrailers: OutgoingHttpHeaders = {};
  #trailers: OutgoingHttpHeaders | undefined;
  #status = 0;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: Http2ExchangeOptions) {
    this.#stream = stream;
    this.#headers = headers;
    this.#options = options;
    this.#startedAt = options.host.clock.monotonic();
    stream.once("close", () => this.#closed());
    // A client may cancel without an error. Node then waits until all that it had sent is read,
    // which it never is while the stream is paused.
    stream.once("aborted", () => {
      if (this.#state.at !== "over") stream.destroy();
    });
    stream.once("trailers", (received) => {
      this.#clientTrailers = withoutConnectionSpecific(received);
    });
  }

  start(): void {
    const { port, holdMs } = this.#options;
    port.service.requested();
    const ticket = port.dispatcher.request(this, holdMs);
    if (!ticket) return;
    this.#state = { at: "waiting", ticket };
    if (!this.#stream.endAfterHeaders) this.#stream.on("data", this.#onData);
    this.#charge();
  }

  /** Frames of a body come as the client sends them: what they take is known by reading them. */
  readonly #onData = (bytes: Buffer): void => {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= MOST_PENDING_BYTES) this.#stream.pause();
    this.#charge();
  };

  /** Charges a stream that waits for its head and for what has come of its body, or refuses it. */
  #charge(): void {
    if (this.#state.at !== "waiting") return;
    const { heldBytes } = this.#options.host;
    const isPaused = this.#pendingBytes >= MOST_PENDING_BYTES;
    const bytes = sizeOf(this.#headers) + (isPaused ? PAUSED_CLIENT_BYTES : this.#pendingBytes);
    if (heldBytes.change(this.#options.port.service, this.#charged, bytes)) {
      this.#charged = bytes;
      return;
    }
    if (this.#state.ticket) this.#options.port.dispatcher.leave(this.#state.ticket);
    this.refuse({ why: "queue-full" });
  }

  #uncharge(): void {
    if (this.#charged > 0) this.#options.host.heldBytes.change(this.#options.port.service, this.#charged, 0);
    this.#charged = 0;
  }

  dispatch(slot: Slot<EndpointResources>): void {
    const { service } = this.#options.port;
    service.dispatched();
    const session = slot.load.resources.http2.session();
    if (!session.connecting) {
      this.#forward(slot);
      return;
    }
    // Streams of a session that does not come about have not been sent, but Node reports them as
    // cancelled.
    const settled = () => {
      session.off("connect", settled).off("close", settled);
      if (this.#state.at === "over") {
        service.ended();
        slot.release();
      } else if (session.destroyed) this.#retry(slot);
      else this.#forward(slot);
    };
    session.once("connect", settled).once("close", settled);
  }

  refuse(failure: Failure): void {
    this.#state = { at: "over" };
    this.#uncharge();
    this.#pending = [];
    const { afterHold, port } = this.#options;
    port.service.metrics.failed(failure.why);
    if (failure.why === "hold-timeout" && afterHold) {
      this.#status = afterHold.status;
      respondTo(this.#stream, this.#headers, afterHold);
      return;
    }
    this.#status = answerFor(failure).status;
    failTo(this.#stream, this.#headers, failure);
  }

  #forward(slot: Slot<EndpointResources>): void {
    slot.connected();
    this.#uncharge();
    const stream = this.#stream;
    const endStream = stream.endAfterHeaders;
    const session = slot.load.resources.http2.session();
    const upstream = attempt(() =>
      session.request(this.#forwardedHeaders(), { endStream, waitForTrailers: !endStream }),
    );
    if (!upstream) {
      // Whatever Node does not send on, it should not have taken from the client.
      this.#state = { at: "over" };
      this.#status = 400;
      this.#release(slot);
      stream.close(NGHTTP2_PROTOCOL_ERROR);
      return;
    }
    this.#state = { at: "forwarded", slot, upstream, hasAnswer: false };
    upstream.on("headers", (headers) => {
      // An interim response that Node does not send is left out.
      if (!stream.destroyed) attempt(() => stream.additionalHeaders(withoutConnectionSpecific(headers)));
    });
    upstream.once("response", (headers, flags) => this.#respond(headers, flags));
    upstream.on("error", () => upstream.destroy());
    upstream.once("close", () => this.#ended(upstream));
    if (endStream) return;
    upstream.once("wantTrailers", () => sendTrailers(upstream, this.#clientTrailers));
    stream.off("data", this.#onData);
    for (const bytes of this.#pending) upstream.write(bytes);
    this.#pending = [];
    stream.pipe(upstream);
  }

  #respond(headers: IncomingHttpHeaders, flags: number): void {
    if (this.#state.at !== "forwarded") return;
    const { slot, upstream } = this.#state;
    this.#state = { at: "forwarded", slot, upstream, hasAnswer: true };
    slot.answered();
    this.#options.port.service.answered();
    this.#status = Number(headers[":status"]);
    const stream = this.#stream;
    if (stream.destroyed) return;
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    const isSent = attempt(() => {
      stream.respond(withoutConnectionSpecific(headers), { endStream, waitForTrailers: !endStream });
      return true;
    });
    if (!isSent) {
      this.#release(slot);
      this.refuse({ why: "malformed-response" });
      upstream.close(NGHTTP2_CANCEL);
      return;
    }
    if (endStream) return;
    upstream.once("trailers", (trailers) => {
      this.#trailers = withoutConnectionSpecific(trailers);
    });
    stream.once("wantTrailers", () => sendTrailers(stream, this.#trailers ?? {}));
    upstream.pipe(stream);
  }

  /** The endpoint's stream is over, for better or worse. */
  #ended(upstream: ClientHttp2Stream): void {
    if (this.#state.at !== "forwarded") return;
    const { slot, hasAnswer } = this.#state;
    const code = upstream.rstCode ?? NGHTTP2_NO_ERROR;
    if (!hasAnswer) {
      // This code means that the endpoint has not looked at the stream. Nothing was read of it
      // if it had no body.
      const isUntouched = code === NGHTTP2_REFUSED_STREAM && this.#stream.endAfterHeaders;
      if (isUntouched && this.#repeats++ < MOST_REPEATS) this.#retry(slot);
      else {
        this.#release(slot);
        this.refuse({ why: "endpoint-lost" });
      }
      return;
    }
    this.#release(slot);
    this.#state = { at: "over" };
    const isWhole = code === NGHTTP2_NO_ERROR && upstream.readableEnded;
    // gRPC servers end a stream that they have answered with NO_ERROR or CANCEL; both are passed
    // on.
    if (!isWhole && !this.#stream.destroyed)
      this.#stream.close(code === NGHTTP2_NO_ERROR ? NGHTTP2_INTERNAL_ERROR : code);
  }

  #retry(slot: Slot<EndpointResources>): void {
    const { port, host, holdMs } = this.#options;
    this.#state = { at: "waiting", ticket: undefined };
    port.service.ended();
    slot.unreachable();
    const leftMs = this.#startedAt + holdMs - host.clock.monotonic();
    const ticket = port.dispatcher.requestAgain(this, leftMs);
    if (ticket) this.#state = { at: "waiting", ticket };
  }

  #release(slot: Slot<EndpointResources>): void {
    this.#options.port.service.ended();
    slot.release();
  }

  /** The client's stream is over. */
  #closed(): void {
    const state = this.#state;
    const { port, host } = this.#options;
    const seconds = (host.clock.monotonic() - this.#startedAt) / 1_000;
    port.service.metrics.requested(this.#status === 0 ? "aborted" : resultOf(this.#status), seconds);
    this.#state = { at: "over" };
    this.#uncharge();
    this.#pending = [];
    if (state.at === "waiting" && state.ticket) port.dispatcher.leave(state.ticket);
    if (state.at !== "forwarded") return;
    this.#release(state.slot);
    if (!state.upstream.destroyed) state.upstream.close(NGHTTP2_CANCEL);
  }

  #forwardedHeaders(): OutgoingHttpHeaders {
    const { address } = this.#options;
    const { ":authority": authority, host, forwarded, ...rest } = this.#headers;
    const earlier = rest["x-forwarded-for"];
    return {
      ...rest,
      ...(authority === undefined ? { host } : { ":authority": authority }),
      "x-forwarded-for": earlier === undefined ? address : `${String(earlier)}, ${address}`,
      "x-forwarded-proto": rest["x-forwarded-proto"] ?? "http",
      "x-forwarded-host": rest["x-forwarded-host"] ?? authority ?? host,
      ...(forwarded !== undefined && {
        forwarded: `${forwarded}, ${forwardedElement(address, authority ?? host)}`,
      }),
    };
  }
}

/** Answers a stream without its target. */
export function respondTo(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  response: OwnResponse,
): void {
  if (stream.destroyed) return;
  const isBodiless = response.status === 204 || headers[":method"] === "HEAD";
  const isSent = respondWith(
    stream,
    {
      ":status": response.status,
      "cache-control": "no-store",
      ...response.fields,
      ...(response.status !== 204 && { "content-type": response.contentType ?? "text/plain; charset=utf-8" }),
      ...(response.retryAfterSeconds !== undefined && { "retry-after": String(response.retryAfterSeconds) }),
    },
    isBodiless,
  );
  if (isSent && !isBodiless) stream.end(response.body);
  // The client need not send the rest of its request.
  if (!stream.endAfterHeaders) stream.close(NGHTTP2_NO_ERROR);
}

/**
 * Answers a stream that is not served with the reason: callers of gRPC by a status of their own, in
 * a response without a body.
 */
export function failTo(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, failure: Failure): void {
  if (stream.destroyed) return;
  const { status, grpcStatus, message, retryAfterSeconds } = answerFor(failure);
  if (!isGrpc(headers)) {
    respondTo(stream, headers, { status, body: `${message}\n`, retryAfterSeconds });
    return;
  }
  respondWith(
    stream,
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": String(grpcStatus),
      "grpc-message": encodeURIComponent(message.toWellFormed()).replaceAll("%20", " "),
    },
    true,
  );
  if (!stream.endAfterHeaders) stream.close(NGHTTP2_NO_ERROR);
}

/** Whether a stream is a call of gRPC. */
export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"]?.startsWith("application/grpc") === true;
}

/**
 * Does what Node may refuse with an exception: it takes messages from a peer that it does not send,
 * such as a status above 599. Thrown in an event handler, the exception would end the process and
 * with it every request that it holds.
 */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** @returns whether the response was sent; else the stream is closed. */
function respondWith(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders, endStream: boolean): boolean {
  const isSent = attempt(() => {
    stream.respond(headers, { endStream });
    return true;
  });
  if (!isSent) stream.close(NGHTTP2_INTERNAL_ERROR);
  return isSent === true;
}

function sendTrailers(stream: Http2Stream, trailers: OutgoingHttpHeaders): void {
  const isSent = attempt(() => {
    stream.sendTrailers(trailers);
    return true;
  });
  if (!isSent) stream.close(NGHTTP2_INTERNAL_ERROR);
}

/** How much memory the fields of a head take, about. */
function sizeOf(headers: IncomingHttpHeaders): number {
  let size = 0;
  for (const [name, value = ""] of Object.entries(headers)) size += name.length + String(value).length;
  return size;
}
