import type { Socket } from "node:net";
import type { Clock } from "@windlass/clock";
import type { Failure } from "../failure.ts";
import type { Dispatcher, Slot, Ticket, Waiter } from "../hold/dispatcher.ts";
import type { UpstreamConnection, UpstreamOwner } from "../upstream/connection.ts";
import type { EndpointResources } from "../upstream/resources.ts";
import {
  forwardedRequest,
  forwardedResponse,
  framingFor,
  type Peer,
  type ResponseFraming,
} from "./forward.ts";
import { MalformedMessageError } from "./malformed.ts";
import type { RequestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-head.ts";

/** The client's side of an exchange. */
export interface ExchangeClient {
  readonly peer: Peer;
  /** Whether the client should be asked to connect again. */
  readonly isClosing: boolean;
  writeText(text: string): void;
  /** The bytes are copied. */
  writeBytes(bytes: Buffer, start: number, end: number): void;
  cork(): void;
  uncork(): void;
  /** Whether so much waits for the client that no more should be read for it. */
  readonly isCongested: boolean;
  /** The request's body may be given to `body` from now on. */
  readBody(): void;
  pauseBody(): void;
  /** The response is complete. */
  finished(exchange: Exchange, next: "keep-alive" | "close"): void;
  /** The target will not answer, and nothing of a response was sent. */
  failed(exchange: Exchange, failure: Failure): void;
  /** The response cannot be completed. */
  cutOff(exchange: Exchange): void;
  /** The target agreed to go on in another protocol, on this socket. */
  switched(exchange: Exchange, head: ResponseHead, upstream: Socket, slot: Slot<EndpointResources>): void;
}

/** What an exchange is measured by. */
export interface ExchangeObserver {
  dispatched(): void;
  answered(status: number): void;
  /** It had been dispatched, and holds an endpoint no longer. */
  released(): void;
}

type State =
  | { readonly at: "waiting"; readonly ticket: Ticket<EndpointResources> | undefined }
  /** A connection was taken. Nothing of the request was sent. */
  | {
      readonly at: "connecting";
      readonly slot: Slot<EndpointResources>;
      readonly connection: UpstreamConnection;
      readonly cancelSettling: (() => void) | undefined;
    }
  | {
      readonly at: "sent";
      readonly slot: Slot<EndpointResources>;
      readonly connection: UpstreamConnection;
      readonly hasAnswer: boolean;
    }
  | { readonly at: "over" };

/** Methods that do the same if they are done twice. */
const idempotent: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/**
 * How long a connection to an endpoint that has not answered anything yet has to last before it is
 * given a request that cannot be sent twice. What listens before the server does (a proxy beside
 * it, a socket that is not served yet) resets at once.
 */
const SETTLE_MS = 20;

/**
 * How often a request that does no harm twice is sent again: to an endpoint that is only starting,
 * and to one that works.
 */
const MOST_REPEATS = { unproven: 10, proven: 1 } as const;

/**
 * Up to this many bytes are copied into the text that precedes them, which is less work than a
 * write of their own.
 */
const SMALL_BYTES = 8 * 1024;

/**
 * One request of HTTP/1 and its answer. It ends exactly once: with the response, a failure, or
 * because the client left.
 *
 * A body is read from the client only once its endpoint is connected, and what was read is sent
 * once. So a request may change endpoints as long as nothing of it was sent, and after that only if
 * it has no body and is idempotent.
 */
export class Exchange implements Waiter<EndpointResources>, UpstreamOwner {
  readonly #request: RequestHead;
  readonly #client: ExchangeClient;
  readonly #dispatcher: Dispatcher<EndpointResources>;
  readonly #observer: ExchangeObserver;
  readonly #clock: Clock;
  readonly #holdMs: number;
  readonly #deadline: number;
  #state: State = { at: "waiting", ticket: undefined };
  #repeats = 0;
  #isBodyDone: boolean;
  #framing: ResponseFraming = "length";
  #closes = false;
  /**
   * What is to be written to the client, and to the endpoint, when all that arrived together was
   * read.
   */
  #toClient = "";
  #toEndpoint = "";

  constructor(
    request: RequestHead,
    client: ExchangeClient,
    options: {
      readonly dispatcher: Dispatcher<EndpointResources>;
      readonly observer: ExchangeObserver;
      readonly clock: Clock;
      readonly holdMs: number;
    },
  ) {
    this.#request = request;
    this.#client = client;
    this.#dispatcher = options.dispatcher;
    this.#observer = options.observer;
    this.#clock = options.clock;
    this.#holdMs = options.holdMs;
    this.#deadline = this.#clock.monotonic() + options.holdMs;
    this.#isBodyDone = request.body === 0;
  }

  /** Whether it waits for an endpoint. */
  get isWaiting(): boolean {
    return this.#state.at === "waiting";
  }

  /** Whether the endpoint has begun to answer. */
  get hasAnswer(): boolean {
    return this.#state.at === "sent" && this.#state.hasAnswer;
  }

  start(): void {
    const ticket = this.#dispatcher.request(this, this.#holdMs);
    if (ticket) this.#state = { at: "waiting", ticket };
  }

  /**
   * The client left, or its request turned out to be malformed. Nothing is written to it any more.
   */
  abandon(): void {
    const state = this.#state;
    this.#state = { at: "over" };
    if (state.at === "waiting" && state.ticket) this.#dispatcher.leave(state.ticket);
    if (state.at !== "connecting" && state.at !== "sent") return;
    if (state.at === "connecting") state.cancelSettling?.();
    state.connection.drop(this);
    this.#release(state.slot);
  }

  dispatch(slot: Slot<EndpointResources>): void {
    this.#observer.dispatched();
    const connection = slot.load.resources.http1.take(this, this.#needs);
    this.#state = { at: "connecting", slot, connection, cancelSettling: undefined };
    if (!connection.isConnected) return;
    slot.connected();
    this.#send();
  }

  refuse(failure: Failure): void {
    this.#state = { at: "over" };
    this.#client.failed(this, failure);
  }

  connected(): void {
    if (this.#state.at !== "connecting") return;
    const { slot } = this.#state;
    slot.connected();
    if (slot.load.isProven || this.#isRepeatable) {
      this.#send();
      return;
    }
    const cancelSettling = this.#clock.schedule(SETTLE_MS, () => this.#send());
    this.#state = { ...this.#state, cancelSettling };
  }

  /** Bytes of the request's body. */
  body(bytes: Buffer, start: number, end: number): void {
    if (this.#state.at !== "sent") return;
    const length = end - start;
    const isChunked = this.#request.body === "chunked";
    if (isChunked) this.#toEndpoint += `${length.toString(16)}\r\n`;
    if (length <= SMALL_BYTES) this.#toEndpoint += bytes.toString("latin1", start, end);
    else {
      const { connection } = this.#state;
      connection.cork(this);
      this.#writeToEndpoint();
      connection.writeBytes(this, bytes.subarray(start, end));
      connection.uncork(this);
    }
    if (isChunked) this.#toEndpoint += "\r\n";
  }

  /** The request's body is complete. */
  bodyEnd(trailers: string): void {
    this.#isBodyDone = true;
    if (this.#state.at !== "sent") return;
    if (this.#request.body === "chunked") this.#toEndpoint += `0\r\n${trailers}\r\n`;
    this.flushBody();
    this.#state.connection.requestSent(this);
  }

  /** All of the body that has arrived so far was handed over. */
  flushBody(): void {
    if (this.#state.at !== "sent") return;
    this.#writeToEndpoint();
    if (this.#state.connection.isCongested && !this.#isBodyDone) this.#client.pauseBody();
  }

  /** The client has room again. */
  clientDrained(): void {
    if (this.#state.at === "sent") this.#state.connection.resume(this);
  }

  drained(): void {
    if (this.#state.at === "sent" && !this.#isBodyDone) this.#client.readBody();
  }

  interim(head: ResponseHead): void {
    if (this.#request.minorVersion === 1) this.#toClient += forwardedResponse(head, "length", undefined);
  }

  head(head: ResponseHead): void {
    if (this.#state.at !== "sent") return;
    const { slot, connection } = this.#state;
    this.#state = { at: "sent", slot, connection, hasAnswer: true };
    slot.answered();
    this.#observer.answered(head.status);
    if (head.status === 101) {
      this.#switch(head, slot, connection);
      return;
    }
    const { minorVersion, isPersistent } = this.#request;
    this.#framing = framingFor(head, minorVersion);
    this.#closes = !isPersistent || !this.#isBodyDone || this.#framing === "raw" || this.#client.isClosing;
    const connectionField = this.#closes ? "close" : minorVersion === 0 ? "keep-alive" : undefined;
    this.#toClient += forwardedResponse(head, this.#framing, connectionField);
  }

  data(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const isChunked = this.#framing === "chunked";
    if (isChunked) this.#toClient += `${length.toString(16)}\r\n`;
    if (length <= SMALL_BYTES) this.#toClient += bytes.toString("latin1", start, end);
    else {
      this.#client.cork();
      this.#writeText();
      this.#client.writeBytes(bytes, start, end);
      if (isChunked) this.#client.writeText("\r\n");
      this.#client.uncork();
      return;
    }
    if (isChunked) this.#toClient += "\r\n";
    if (this.#toClient.length > SMALL_BYTES) this.#writeText();
  }

  flush(): void {
    this.#writeText();
    if (this.#state.at === "sent" && this.#client.isCongested) this.#state.connection.pause(this);
  }

  end(trailers: string): void {
    if (this.#state.at !== "sent") return;
    const { slot } = this.#state;
    if (this.#framing === "chunked") this.#toClient += `0\r\n${trailers}\r\n`;
    this.#writeText();
    this.#state = { at: "over" };
    this.#release(slot);
    this.#client.finished(this, this.#closes || !this.#isBodyDone ? "close" : "keep-alive");
  }

  failed(error: Error): void {
    const state = this.#state;
    if (state.at === "connecting") {
      state.cancelSettling?.();
      this.#retry(state.slot, "in a moment");
    } else if (state.at === "sent") this.#lost(state, error);
  }

  #lost({ slot, connection, hasAnswer }: Extract<State, { at: "sent" }>, error: Error): void {
    const isMalformed = error instanceof MalformedMessageError;
    const most = slot.load.isProven ? MOST_REPEATS.proven : MOST_REPEATS.unproven;
    // A connection that was idle may have been closed before the request reached its endpoint,
    // which is no fault of the endpoint.
    const mayRepeat = this.#isRepeatable && !hasAnswer && !isMalformed;
    if (mayRepeat && (connection.isReused || this.#repeats < most)) {
      if (!connection.isReused) this.#repeats += 1;
      this.#retry(slot, connection.isReused ? "at once" : "in a moment");
      return;
    }
    this.#state = { at: "over" };
    this.#release(slot);
    if (hasAnswer) this.#client.cutOff(this);
    else this.#client.failed(this, { why: isMalformed ? "malformed-response" : "endpoint-lost" });
  }

  /** Asks for another endpoint, or for this one in a moment. */
  #retry(slot: Slot<EndpointResources>, when: "at once" | "in a moment"): void {
    this.#state = { at: "waiting", ticket: undefined };
    this.#observer.released();
    if (when === "at once") slot.release();
    else slot.unreachable();
    const ticket = this.#dispatcher.requestAgain(this, this.#deadline - this.#clock.monotonic());
    if (ticket) this.#state = { at: "waiting", ticket };
  }

  #send(): void {
    if (this.#state.at !== "connecting") return;
    const { slot, connection } = this.#state;
    this.#state = { at: "sent", slot, connection, hasAnswer: false };
    connection.begin(this, this.#request.method);
    this.#toEndpoint = forwardedRequest(this.#request, this.#client.peer);
    if (this.#isBodyDone) {
      this.flushBody();
      connection.requestSent(this);
    } else {
      // What has already arrived of the body goes with the head.
      this.#client.readBody();
      this.flushBody();
    }
  }

  #writeToEndpoint(): void {
    if (this.#state.at !== "sent" || this.#toEndpoint === "") return;
    this.#state.connection.writeText(this, this.#toEndpoint);
    this.#toEndpoint = "";
  }

  #switch(head: ResponseHead, slot: Slot<EndpointResources>, connection: UpstreamConnection): void {
    if (this.#request.upgrade === undefined) {
      connection.drop(this);
      this.#state = { at: "over" };
      this.#release(slot);
      this.#client.failed(this, { why: "malformed-response" });
      return;
    }
    this.#writeText();
    this.#state = { at: "over" };
    this.#client.switched(this, head, connection.detach(this), slot);
  }

  #writeText(): void {
    if (this.#toClient === "") return;
    this.#client.writeText(this.#toClient);
    this.#toClient = "";
  }

  #release(slot: Slot<EndpointResources>): void {
    this.#observer.released();
    slot.release();
  }

  get #needs(): "repeatable" | "once" | "upgrade" {
    if (this.#request.upgrade !== undefined) return "upgrade";
    return this.#isRepeatable ? "repeatable" : "once";
  }

  get #isRepeatable(): boolean {
    return (
      this.#request.body === 0 && this.#request.upgrade === undefined && idempotent.has(this.#request.method)
    );
  }
}
