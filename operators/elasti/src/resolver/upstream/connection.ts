import { connect, type Socket } from "node:net";
import { BodyReader } from "../http1/body-reader.ts";
import type { BodyListener } from "../http1/chunks.ts";
import { HeadReader } from "../http1/head-reader.ts";
import { MalformedMessageError } from "../http1/malformed.ts";
import { parseResponseHead, type ResponseHead } from "../http1/response-head.ts";
import type { Endpoint } from "../targets.ts";
import type { UpstreamOptions } from "./options.ts";

/** Whose request a connection carries. It gets the answer, in order. */
export interface UpstreamOwner {
  /** The connection is there; nothing has been sent on it. */
  connected(): void;
  /** A response that is followed by another one: 100, 103. */
  interim(head: ResponseHead): void;
  /**
   * The head of the response. With status 101 nothing else is read: the owner has to `detach` the
   * socket, if it asked for one to be upgraded, or drop it.
   */
  head(head: ResponseHead): void;
  /** Bytes of the response's body. Their memory is used again after the call. */
  data(bytes: Buffer, start: number, end: number): void;
  /** The response is complete. The owner no longer has the connection. */
  end(trailers: string): void;
  /** All that has arrived so far was handed over. */
  flush(): void;
  /** What was sent has left this process. */
  drained(): void;
  /** The connection was lost before the response was complete. The owner no longer has it. */
  failed(error: Error): void;
}

/** What happens to a connection when its owner needs it no longer. */
export interface UpstreamEvents {
  /** It may carry another request. */
  idle(connection: UpstreamConnection): void;
  gone(connection: UpstreamConnection): void;
}

/** How long a connection may take to come about. Across a cluster it takes a millisecond. */
export const CONNECT_MS = 2_000;

/**
 * Options of every socket to an endpoint. A node that is gone closes nothing: probes find out
 * within half a minute, where a request would wait for its answer for ever.
 */
export const upstreamSocket = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const;

/**
 * From the connection to its end. `complete`: a response was read to its end, and its owner has yet
 * to be called for it.
 */
type State = "connecting" | "idle" | "head" | "body" | "complete" | "switched" | "gone";

/** A connection to an endpoint that carries one request at a time, each for its owner. */
export class UpstreamConnection implements BodyListener {
  readonly #socket: Socket;
  readonly #events: UpstreamEvents;
  readonly #headReader = new HeadReader();
  readonly #cancelConnect: () => void;
  #state: State = "connecting";
  #owner: UpstreamOwner | undefined;
  #method = "";
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;
  #trailers = "";
  #isRequestSent = false;
  #isReused = false;
  /** When it became idle, for the pool that keeps it. */
  idleSince = 0;
  /** How long its endpoint keeps it idle, by its last response. */
  keepAliveMs: number | undefined;

  /**
   * @param reading where what arrives is put. The memory is used again for the next read, of any
   *   connection; `stream` if the socket may be detached, and so has to keep what it has read.
   */
  constructor(
    { address, port }: Endpoint,
    events: UpstreamEvents,
    { clock, lostPeers }: Pick<UpstreamOptions, "clock" | "lostPeers">,
    reading: Buffer | "stream",
  ) {
    this.#events = events;
    const options = { host: address, port, allowHalfOpen: true, ...upstreamSocket };
    const socket =
      reading === "stream"
        ? connect(options)
        : connect({
            ...options,
            onread: {
              buffer: reading,
              callback: (length) => {
                this.#receive(reading, length);
                return true;
              },
            },
          });
    this.#socket = socket;
    lostPeers.watch(socket);
    this.#cancelConnect = clock.schedule(CONNECT_MS, () => this.#fail(new Error("no connection in time")));
    socket.once("connect", this.#onConnect);
    if (reading === "stream") socket.on("data", this.#onData);
    socket.on("drain", this.#onDrain);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  get isConnected(): boolean {
    return this.#state !== "connecting";
  }

  /** Whether it has carried a request before: its endpoint may be about to close it. */
  get isReused(): boolean {
    return this.#isReused;
  }

  /** Whether what was sent waits in this process, because the endpoint does not read. */
  get isCongested(): boolean {
    return this.#socket.writableNeedDrain;
  }

  /** @throws Error if it has an owner. */
  take(owner: UpstreamOwner): void {
    if (this.#owner) throw new Error("the connection carries another request");
    this.#owner = owner;
  }

  /** Begins a request, once connected. */
  begin(owner: UpstreamOwner, method: string): void {
    this.#mustOwn(owner);
    this.#method = method;
    this.#isRequestSent = false;
    this.#state = "head";
  }

  /** Sends a part of the request, as latin1. */
  writeText(owner: UpstreamOwner, text: string): void {
    this.#mustOwn(owner);
    this.#socket.write(text, "latin1");
  }

  /** Sends a part of the request. The bytes are used until they are sent. */
  writeBytes(owner: UpstreamOwner, bytes: Buffer): void {
    this.#mustOwn(owner);
    this.#socket.write(bytes);
  }

  /** Writes that follow are sent together, up to `uncork`. */
  cork(owner: UpstreamOwner): void {
    this.#mustOwn(owner);
    this.#socket.cork();
  }

  uncork(owner: UpstreamOwner): void {
    this.#mustOwn(owner);
    this.#socket.uncork();
  }

  /** The request is complete. */
  requestSent(owner: UpstreamOwner): void {
    this.#mustOwn(owner);
    this.#isRequestSent = true;
  }

  /** Reads no further, as the owner has no room. */
  pause(owner: UpstreamOwner): void {
    if (owner === this.#owner) this.#socket.pause();
  }

  resume(owner: UpstreamOwner): void {
    if (owner === this.#owner) this.#socket.resume();
  }

  /**
   * The owner leaves before the response is complete. The connection is reset: an end alone might
   * be mistaken for that of the request, and the endpoint would work on in vain.
   */
  drop(owner: UpstreamOwner): void {
    if (owner !== this.#owner) return;
    this.#owner = undefined;
    if (this.#state !== "connecting") this.#socket.resetAndDestroy();
    this.#destroy();
  }

  /**
   * Hands the socket over after status 101, with all that has arrived. This object is of no use
   * from then on.
   */
  detach(owner: UpstreamOwner): Socket {
    this.#mustOwn(owner);
    this.#owner = undefined;
    const socket = this.#socket;
    socket.off("data", this.#onData).off("drain", this.#onDrain).off("end", this.#onEnd);
    socket.off("error", this.#onError).off("close", this.#onClose);
    this.#leave();
    return socket;
  }

  /** Closes a connection that has no owner. */
  close(): void {
    if (!this.#owner) this.#destroy();
  }

  data(bytes: Buffer, start: number, end: number): void {
    this.#owner?.data(bytes, start, end);
  }

  end(trailers: string): void {
    this.#trailers = trailers;
    this.#state = "complete";
  }

  readonly #onConnect = (): void => {
    this.#cancelConnect();
    this.#state = "idle";
    this.#owner?.connected();
  };

  readonly #onDrain = (): void => this.#owner?.drained();

  readonly #onData = (bytes: Buffer): void => this.#receive(bytes, bytes.length);

  #receive(bytes: Buffer, length: number): void {
    let at = 0;
    try {
      while (at < length && (this.#state === "head" || this.#state === "body"))
        at =
          this.#state === "head"
            ? this.#takeHead(bytes, at, length)
            : (this.#body as BodyReader).take(bytes, at, length);
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      this.#fail(error);
      return;
    }
    if (this.#state === "complete") this.#complete(at === length);
    else if (this.#state === "switched") this.#switch(bytes.subarray(at, length));
    else if (at === length) this.#owner?.flush();
    // Nothing was asked for, so whatever this is, it is no answer.
    else this.#fail(new Error("the endpoint sent bytes without a request"));
  }

  readonly #onEnd = (): void => {
    if (this.#state === "body" && this.#body?.close()) this.#complete(false);
    else this.#fail(new Error("the endpoint closed the connection"));
  };

  readonly #onError = (error: Error): void => this.#fail(error);

  readonly #onClose = (): void => this.#fail(new Error("the connection was closed"));

  #takeHead(bytes: Buffer, start: number, length: number): number {
    const end = this.#headReader.take(bytes, start, length);
    if (end < 0) return length;
    const head = parseResponseHead(this.#headReader.text, this.#method);
    if (head.status === 101) {
      this.#head = head;
      this.#state = "switched";
    } else if (head.status < 200) this.#owner?.interim(head);
    else {
      this.#head = head;
      this.#state = "body";
      this.#owner?.head(head);
      if (head.body === 0) this.end("");
      else this.#body = new BodyReader(head.body, this);
    }
    return end;
  }

  #complete(isClean: boolean): void {
    const owner = this.#owner;
    this.#owner = undefined;
    this.#body = undefined;
    // An endpoint that answers before it has read all of a request may not read the rest either.
    if (isClean && this.#head?.isPersistent && this.#isRequestSent) {
      this.#state = "idle";
      this.keepAliveMs = this.#head.keepAliveMs;
      this.#isReused = true;
      this.#events.idle(this);
    } else this.#destroy();
    owner?.end(this.#trailers);
  }

  #switch(rest: Buffer): void {
    this.#socket.pause();
    if (rest.length > 0) this.#socket.unshift(rest);
    this.#owner?.head(this.#head as ResponseHead);
  }

  #fail(error: Error): void {
    const owner = this.#owner;
    this.#owner = undefined;
    this.#destroy();
    owner?.failed(error);
  }

  #destroy(): void {
    this.#socket.destroy();
    this.#leave();
  }

  #leave(): void {
    if (this.#state === "gone") return;
    this.#state = "gone";
    this.#cancelConnect();
    this.#events.gone(this);
  }

  #mustOwn(owner: UpstreamOwner): void {
    if (owner !== this.#owner) throw new Error("the connection carries another request");
  }
}
