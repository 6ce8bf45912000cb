import type { Socket } from "node:net";
import type { ClientView } from "../client-views.ts";
import {
  type ClientConnection,
  type ClientTimeouts,
  type ConnectionHost,
  MISSES_OF_GONE,
  probe,
  QUIET_MS,
} from "../connection-host.ts";
import type { Failure } from "../failure.ts";
import type { Slot } from "../hold/dispatcher.ts";
import { PAUSED_CLIENT_BYTES } from "../hold/held-bytes.ts";
import { resultOf } from "../metrics.ts";
import type { ServicePort } from "../service.ts";
import type { EndpointResources } from "../upstream/resources.ts";
import { failureResponse, malformedResponse, type OwnResponse, ownResponse } from "./answer.ts";
import { BodyReader } from "./body-reader.ts";
import type { BodyListener } from "./chunks.ts";
import { Exchange, type ExchangeClient, type ExchangeObserver } from "./exchange.ts";
import { fieldValue } from "./fields.ts";
import { type Peer, peerAddress, switchedResponse } from "./forward.ts";
import { HeadReader } from "./head-reader.ts";
import { MalformedMessageError } from "./malformed.ts";
import { parseRequestHead, type RequestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-head.ts";

/** How many bytes are read ahead of what can be forwarded. The rest waits with the client. */
const MOST_PENDING_BYTES = 16 * 1024;
/** How much may wait for a client that reads slowly, before its endpoint is no longer read from. */
const MOST_UNSENT_BYTES = 256 * 1024;
/** After a response that ends a connection was sent, how long the client may take to close it. */
const CLIENT_CLOSES_MS = 1_000;
/**
 * How long a client may take after this side was closed, and after each bit that it then takes.
 * What was sent may still be in the kernel's memory, which is gone with the pod of a resolver that
 * leaves.
 */
const LINGER_MS = 30_000;

/**
 * - `head`: between requests, or within the head of one.
 * - `held`: a request has a body that cannot be forwarded at the moment.
 * - `body`: a request's body is forwarded as it arrives.
 * - `answering`: a request was read to its end. What arrives belongs to the next one.
 * - `leaving`: the last response was written. What arrives is dropped.
 * - `lingering`: so it is, and this side of the connection was ended.
 */
type State = "head" | "held" | "body" | "answering" | "leaving" | "lingering" | "closed";

/** A client's connection of HTTP/1: one request after the other. */
export class Http1Connection implements ClientConnection, ExchangeClient, BodyListener {
  readonly peer: Peer;
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #headReader = new HeadReader();
  #state: State = "head";
  #exchange: Exchange | undefined;
  #request: RequestHead | undefined;
  #port: ServicePort | undefined;
  #afterHold: OwnResponse | undefined;
  #bodyReader: BodyReader | undefined;
  #pending: Buffer | undefined;
  #isReading = false;
  /** What its request is charged while it waits: its head, and what has come of its body. */
  #charged = 0;
  #isProbed = false;
  /**
   * What is written a second time would wait for the client to confirm the first, unless the kernel
   * is set otherwise.
   */
  #writes: "none" | "one" | "undelayed" = "none";
  #status = 0;
  /**
   * When the state that has a limit began: the wait for a request, or its head; or for the client
   * to close.
   */
  #since: number;
  #requestedAt = 0;
  /** When a part of a request or of its response last came. */
  #movedAt = 0;
  /** How many bytes the client was seen to have taken, and when. */
  #taken = -1;
  #takenAt = 0;
  /** How much the kernel had sent for it that the client had not confirmed. */
  #unconfirmed = 0;
  /** How often in a row the kernel did not know the connection. */
  #misses = 0;

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#since = host.clock.monotonic();
    this.peer = { address: peerAddress(socket) };
    socket.on("data", this.#onData);
    socket.on("drain", this.#onDrain);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  get isClosing(): boolean {
    return this.#host.isDraining() || this.#port?.service.isHandedBack === true;
  }

  get isCongested(): boolean {
    return this.#socket.writableLength > MOST_UNSENT_BYTES;
  }

  enforce({ headMs, idleMs }: ClientTimeouts): void {
    if (!this.#isProbed) this.#isProbed = probe(this.#socket);
    // A body of which nothing more comes would keep its place at a pod, and the pod from sleeping,
    // for ever.
    const now = this.#host.clock.monotonic();
    if (this.#state === "body" && now - this.#movedAt >= idleMs)
      this.#giveUp({ status: 408, body: "no more of the request in time\n" });
    // So would a response that its client does not read.
    if (
      this.#socket.writableLength === 0 ||
      this.#socket.bytesWritten - this.#socket.writableLength > this.#taken
    ) {
      this.#taken = this.#socket.bytesWritten - this.#socket.writableLength;
      this.#takenAt = now;
    } else if (now - this.#takenAt >= idleMs) this.#socket.resetAndDestroy();
    // The limits that follow count from when all was sent: a client that reads slowly has the one
    // above.
    if (this.#socket.writableLength > 0) {
      if (!this.#headReader.isBegun) this.#since = now;
      return;
    }
    const waitedMs = now - this.#since;
    if (this.#state === "leaving" && waitedMs >= CLIENT_CLOSES_MS) this.#end();
    else if (this.#state === "lingering" && waitedMs >= LINGER_MS) this.destroy();
    if (this.#state !== "head") return;
    if (!this.#headReader.isBegun && waitedMs >= idleMs) this.destroy();
    else if (this.#headReader.isBegun && waitedMs >= headMs)
      this.#answer({ status: 408, body: "no request in time\n" }, "close");
  }

  get inDoubt(): Socket | undefined {
    return this.#state === "lingering" || this.#socket.isPaused() ? this.#socket : undefined;
  }

  seen(view: ClientView | undefined): void {
    if (this.#state === "lingering") {
      const unconfirmed = view?.unconfirmed ?? 0;
      if (unconfirmed !== this.#unconfirmed) this.#since = this.#host.clock.monotonic();
      this.#unconfirmed = unconfirmed;
      return;
    }
    this.#misses = view ? 0 : this.#misses + 1;
    if (this.#misses >= MISSES_OF_GONE) this.destroy();
    else if (view?.hasEnded) this.#onEnd();
  }

  /**
   * A response has `Connection: close`. Between two requests there is none, so one that has been
   * silent for a while is ended: not at once, as its client may still be reading the last response.
   */
  leave(): void {
    const isIdle = this.#state === "head" && !this.#headReader.isBegun && this.#socket.writableLength === 0;
    if (isIdle && this.#host.clock.monotonic() - this.#since >= QUIET_MS) this.#end();
  }

  handBack(): void {
    // The next response has `Connection: close`.
  }

  destroy(): void {
    this.#socket.destroy();
  }

  writeText(text: string): void {
    this.#wrote();
    this.#socket.write(text, "latin1");
  }

  writeBytes(bytes: Buffer, start: number, end: number): void {
    this.#wrote();
    this.#host.copies.write(this.#socket, bytes, start, end);
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  readBody(): void {
    if (this.#state !== "held") return;
    this.#state = "body";
    this.#movedAt = this.#host.clock.monotonic();
    this.#readPending();
  }

  pauseBody(): void {
    if (this.#state !== "body") return;
    this.#state = "held";
    this.#socket.pause();
  }

  data(bytes: Buffer, start: number, end: number): void {
    this.#exchange?.body(bytes, start, end);
  }

  end(trailers: string): void {
    this.#state = "answering";
    this.#exchange?.bodyEnd(trailers);
  }

  finished(exchange: Exchange, next: "keep-alive" | "close"): void {
    if (exchange !== this.#exchange) return;
    this.#over(this.#status);
    if (next === "close") this.#leave(this.#request?.minorVersion === 0 ? "end" : "wait");
    else this.#next();
  }

  failed(exchange: Exchange, failure: Failure): void {
    if (exchange !== this.#exchange) return;
    const response =
      failure.why === "hold-timeout" && this.#afterHold ? this.#afterHold : failureResponse(failure);
    this.#port?.service.metrics.failed(failure.why);
    const isWhole = this.#state === "answering" && this.#request?.isPersistent === true && !this.isClosing;
    this.#over(response.status);
    this.#answer(response, isWhole ? undefined : "close");
  }

  cutOff(exchange: Exchange): void {
    if (exchange !== this.#exchange) return;
    this.#over(this.#status);
    // By a reset the client knows that the response is not complete.
    this.#socket.resetAndDestroy();
  }

  switched(exchange: Exchange, head: ResponseHead, upstream: Socket, slot: Slot<EndpointResources>): void {
    const port = this.#port;
    if (exchange !== this.#exchange || !port) return;
    const socket = this.#socket;
    socket.off("data", this.#onData).off("drain", this.#onDrain).off("end", this.#onEnd);
    socket.off("error", this.#onError).off("close", this.#onClose);
    this.writeText(switchedResponse(head));
    probe(socket.setNoDelay(true));
    socket.pause();
    if (this.#pending) socket.unshift(this.#pending);
    this.#pending = undefined;
    this.#over(head.status);
    this.#close();
    this.#host.tunnel(port, socket, upstream, () => {
      port.service.ended();
      slot.release();
    });
  }

  /** Bytes that have arrived. */
  receive(bytes: Buffer): void {
    this.#movedAt = this.#host.clock.monotonic();
    if (this.#pending) this.#pend(bytes);
    else this.#read(bytes);
  }

  readonly #onData = (bytes: Buffer): void => this.receive(bytes);

  readonly #onDrain = (): void => this.#exchange?.clientDrained();

  /** HTTP has no use for half a connection: a client that has ended its side wants no answer. */
  readonly #onEnd = (): void => {
    this.#abandon();
    if (this.#socket.writableLength > 0) this.#socket.end();
    else this.destroy();
  };

  readonly #onError = (): void => this.destroy();

  readonly #onClose = (): void => {
    this.#abandon();
    this.#close();
  };

  /** Reads what there is, as far as it can be used. */
  #read(bytes: Buffer): void {
    this.#isReading = true;
    let at = 0;
    try {
      while (at < bytes.length) {
        if (this.#state === "head") at = this.#readHead(bytes, at);
        else if (this.#state === "body") at = (this.#bodyReader as BodyReader).take(bytes, at, bytes.length);
        else break;
      }
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.#isReading = false;
      this.#refuse(error);
      return;
    }
    this.#isReading = false;
    this.#exchange?.flushBody();
    const isWanted = this.#state !== "leaving" && this.#state !== "lingering" && this.#state !== "closed";
    if (at < bytes.length && isWanted) this.#pend(bytes.subarray(at));
  }

  #readHead(bytes: Buffer, start: number): number {
    if (!this.#headReader.isBegun) this.#since = this.#host.clock.monotonic();
    const end = this.#headReader.take(bytes, start, bytes.length);
    if (end < 0) return bytes.length;
    this.#begin(parseRequestHead(this.#headReader.text));
    return end;
  }

  #begin(head: RequestHead): void {
    this.#request = head;
    const decision = this.#host.decide({
      method: head.method,
      target: head.target,
      host: head.host,
      pathProbe: head.pathProbe,
      header: (name) => fieldValue(head.fields, name),
    });
    const hasBody = head.body !== 0;
    this.#state = hasBody ? "held" : "answering";
    if (decision.do !== "forward") {
      const response = decision.do === "answer" ? decision.response : failureResponse(decision.failure);
      this.#answer(response, hasBody || !head.isPersistent || this.isClosing ? "close" : undefined);
      return;
    }
    const { port, holdMs } = decision;
    this.#port = port;
    this.#afterHold = decision.afterHold;
    this.#requestedAt = this.#since;
    this.#bodyReader = hasBody ? new BodyReader(head.body, this) : undefined;
    port.service.requested();
    const { clock } = this.#host;
    const exchange = new Exchange(head, this, {
      dispatcher: port.dispatcher,
      observer: this.#observer,
      clock,
      holdMs,
    });
    this.#exchange = exchange;
    exchange.start();
    if (exchange.isWaiting) this.#charge(exchange, 0);
  }

  readonly #observer: ExchangeObserver = {
    dispatched: () => this.#port?.service.dispatched(),
    answered: (status) => {
      this.#status = status;
      this.#uncharge();
      this.#port?.service.answered();
    },
    released: () => this.#port?.service.ended(),
  };

  /** Sends a response of the resolver's own, and goes on. */
  #answer(response: OwnResponse, connection: "close" | undefined): void {
    const { method = "GET", minorVersion = 1 } = this.#request ?? {};
    const field = connection ?? (minorVersion === 0 ? "keep-alive" : undefined);
    this.writeText(ownResponse(response, { method, connection: field }));
    if (connection === "close") this.#leave("wait");
    else this.#next();
  }

  #refuse(error: MalformedMessageError): void {
    this.#host.malformed(error);
    this.#giveUp(malformedResponse(error));
  }

  /** Ends a request of which the rest is not wanted, and its connection. */
  #giveUp(response: OwnResponse): void {
    const exchange = this.#exchange;
    const hasAnswer = exchange?.hasAnswer === true;
    exchange?.abandon();
    if (exchange) this.#over(response.status);
    if (hasAnswer) this.#socket.resetAndDestroy();
    else this.#answer(response, "close");
  }

  /** The client has left. */
  #abandon(): void {
    if (!this.#exchange) return;
    this.#exchange.abandon();
    this.#over("aborted");
  }

  #wrote(): void {
    this.#movedAt = this.#host.clock.monotonic();
    if (this.#writes === "none") this.#writes = "one";
    else if (this.#writes === "one") {
      this.#writes = "undelayed";
      this.#socket.setNoDelay(true);
    }
  }

  #over(status: number | "aborted"): void {
    const seconds = (this.#host.clock.monotonic() - this.#requestedAt) / 1_000;
    this.#port?.service.metrics.requested(status === "aborted" ? status : resultOf(status), seconds);
    this.#uncharge();
    this.#exchange = undefined;
    this.#bodyReader = undefined;
  }

  #next(): void {
    this.#state = "head";
    this.#since = this.#host.clock.monotonic();
    this.#readPending();
  }

  /**
   * @param how `end`: the response ends with the connection. `wait`: the client should close first,
   *   so that the port that it used is not kept from use on this side.
   */
  #leave(how: "end" | "wait"): void {
    this.#state = "leaving";
    this.#uncharge();
    this.#pending = undefined;
    this.#socket.resume();
    this.#since = this.#host.clock.monotonic();
    // A timer for each connection would cost more than it is worth: `enforce` ends it.
    if (how === "end") this.#end();
  }

  #end(): void {
    this.#state = "lingering";
    this.#since = this.#host.clock.monotonic();
    this.#socket.end();
  }

  #close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#uncharge();
    this.#pending = undefined;
    this.#host.closed(this);
  }

  #pend(bytes: Buffer): void {
    this.#pending = this.#pending ? Buffer.concat([this.#pending, bytes]) : bytes;
    const isPaused = this.#pending.length >= MOST_PENDING_BYTES;
    if (isPaused) this.#socket.pause();
    const exchange = this.#exchange;
    if (exchange?.isWaiting) this.#charge(exchange, isPaused ? PAUSED_CLIENT_BYTES : this.#pending.length);
  }

  /** Charges a request that waits for its head and for what has come after it, or refuses it. */
  #charge(exchange: Exchange, bodyBytes: number): void {
    const { fields = "", target = "" } = this.#request ?? {};
    const bytes = fields.length + target.length + bodyBytes;
    if (!this.#port || this.#host.heldBytes.change(this.#port.service, this.#charged, bytes)) {
      this.#charged = bytes;
      return;
    }
    exchange.abandon();
    this.failed(exchange, { why: "queue-full" });
  }

  #uncharge(): void {
    if (this.#charged > 0 && this.#port) this.#host.heldBytes.change(this.#port.service, this.#charged, 0);
    this.#charged = 0;
  }

  #readPending(): void {
    if (this.#isReading) return;
    this.#uncharge();
    const pending = this.#pending;
    this.#pending = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    if (pending) this.#read(pending);
  }
}
