import type { OnReadOpts, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { closedEarly } from "./failure.ts";
import { type ResponseHead, type ResponseListener, ResponseParser } from "./response-parser.ts";

/**
 * The request that a channel serves, and the only one that may use it: calls by any other do
 * nothing.
 */
export interface ChannelOwner {
  /**
   * The connection is established, TLS included: the request can be sent. Not called if it was so
   * already.
   */
  ready(): void;
  head(head: ResponseHead): void;
  /**
   * Bytes of the body, which are valid during the call.
   *
   * @returns whether there is room for more; if not, call `resume` later.
   */
  body(bytes: Buffer, start: number, end: number): boolean;
  /** The response is complete. The channel has no owner any more. */
  end(): void;
  /** The request's guard threw: nothing more of it is sent. The channel has no owner any more. */
  refused(error: unknown): void;
  /**
   * The connection ended before the response did, or what came was not HTTP. The channel has no
   * owner any more.
   */
  failed(error: unknown): void;
}

/** What the user of a channel is called with. */
export interface ChannelEvents {
  /** A response is complete, and the connection can serve another request. */
  onIdle(channel: Channel): void;
  /** The connection can no longer be used. Called once. */
  onGone(channel: Channel): void;
}

/** What a dialer reports to. */
export interface Dialing {
  /**
   * Options for a socket that reads into one piece of memory and hands it over at once: no buffer
   * is allocated for what is read, and no stream is between. That is what makes a large list cheap.
   */
  readInPlace(): { readonly onread: OnReadOpts };
  /** Says what is waited for, for the message of a timeout. */
  waitsFor(what: string): void;
  /** The connection is established. @param socket what to write to. */
  ready(socket: Socket): void;
  failed(error: unknown): void;
}

/**
 * Starts a connection. @returns the socket at the bottom: destroying it ends whatever is built upon
 * it.
 */
export type Dial = (dialing: Dialing) => Socket;

/** What is sent before a body, and the body. */
export interface Sendable {
  /** All lines before the body, with the empty one. */
  readonly head: string;
  readonly body: string | Uint8Array | undefined;
  /** Called right before each handing over of bytes to the socket. Throws to refuse. */
  readonly guard: (() => void) | undefined;
}

/** The most that one read brings: a whole record of TLS. */
const READ_BYTES = 16 * 1024;

/**
 * A guarded request that is longer goes to the socket in pieces of this size, each when the kernel
 * has taken the one before. The send buffer of an idle connection takes one piece whole: none of it
 * waits in this process.
 */
const PIECE_BYTES = 16 * 1024;

/** The most bytes that a character takes in UTF-8. */
const CHARACTER_BYTES = 3;

/**
 * One connection. It serves one request at a time, its owner, and only that one can send, resume or
 * drop it.
 */
export class Channel {
  readonly #events: ChannelEvents;
  readonly #bottom: Socket;
  /** What is written to, once the connection is established. */
  #top: Socket | undefined;
  #owner: ChannelOwner | undefined;
  #parser: ResponseParser | undefined;
  #waitsFor = "the connection";
  #isSending = false;
  #staysOpen = false;
  #isPaused = false;
  #isGone = false;

  constructor(dial: Dial, events: ChannelEvents) {
    this.#events = events;
    this.#bottom = dial({
      readInPlace: () => {
        const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
        return { onread: { buffer, callback: (length) => this.#receive(buffer, length) } };
      },
      waitsFor: (what) => {
        this.#waitsFor = what;
      },
      ready: (socket) => this.#ready(socket),
      failed: (error) => this.#fail(error),
    });
    this.#bottom.on("error", (error) => this.#fail(error));
    this.#bottom.on("close", () => this.#fail(undefined));
  }

  /** Whether the connection is established, TLS included. */
  get isReady(): boolean {
    return this.#top !== undefined;
  }

  /** What a connection that is not established yet waits for. */
  get waitsFor(): string {
    return this.#waitsFor;
  }

  /** Makes a request the owner, until its response is complete. */
  take(owner: ChannelOwner): void {
    if (this.#owner) throw new Error("a connection serves one request at a time");
    this.#owner = owner;
    this.#bottom.ref();
  }

  /** Sends the owner's request. */
  send(owner: ChannelOwner, request: Sendable): void {
    const top = this.#top;
    if (owner !== this.#owner || !top) return;
    const { head, body, guard } = request;
    if (guard && !this.#isAllowed(guard)) return;
    this.#staysOpen = false;
    this.#parser = new ResponseParser(this.#listener);
    if (guard && isLong(head, body)) {
      this.#isSending = true;
      const bytes = Buffer.concat([Buffer.from(head), bytesOf(body)]);
      this.#sendPieces(owner, bytes, 0, guard);
    } else if (typeof body === "string" || body === undefined) top.write(head + (body ?? ""));
    else {
      top.cork();
      top.write(head);
      top.write(body);
      top.uncork();
    }
  }

  /** Reads on, after the owner had no room. */
  resume(owner: ChannelOwner): void {
    if (owner === this.#owner) this.#resume();
  }

  /**
   * Ends the connection, as its owner wants nothing more of it. Until the response has begun that
   * is a reset, which takes back what the kernel has not delivered yet.
   */
  drop(owner: ChannelOwner): void {
    if (owner !== this.#owner) return;
    this.#owner = undefined;
    if (this.#parser?.hasBegun) this.#bottom.destroy();
    else this.#reset();
    this.#gone();
  }

  /** Ends a connection that has no owner. */
  close(): void {
    if (this.#owner) return;
    this.#bottom.destroy();
    this.#gone();
  }

  #ready(socket: Socket): void {
    if (this.#isGone) return;
    this.#top = socket;
    socket.on("end", () => this.#ended());
    if (socket !== this.#bottom) {
      socket.on("error", (error) => this.#fail(error));
      socket.on("close", () => this.#fail(undefined));
      socket.on("data", (chunk: Buffer) => {
        if (!this.#receive(chunk, chunk.length)) socket.pause();
      });
    }
    this.#owner?.ready();
  }

  /**
   * The guard is asked again before each piece, the last one above all: without it the server has
   * no request to act upon. A piece waits in this process only while the kernel's buffer is full,
   * and is freed when the owner drops the channel.
   */
  #sendPieces(owner: ChannelOwner, bytes: Buffer, start: number, guard: () => void): void {
    const end = start + PIECE_BYTES;
    const piece = bytes.subarray(start, end);
    if (end < bytes.length)
      this.#top?.write(piece, () => {
        if (owner === this.#owner && this.#isAllowed(guard)) this.#sendPieces(owner, bytes, end, guard);
      });
    else {
      this.#isSending = false;
      this.#top?.write(piece);
    }
  }

  /**
   * Asks the guard. If it refuses, the request is over; a connection on which nothing of it was
   * sent is still good.
   */
  #isAllowed(guard: () => void): boolean {
    try {
      guard();
      return true;
    } catch (error) {
      const owner = this.#owner;
      this.#owner = undefined;
      if (this.#isSending) {
        this.#reset();
        this.#gone();
      } else this.#release();
      owner?.refused(error);
      return false;
    }
  }

  /** The parser's events. */
  readonly #listener: ResponseListener = {
    head: (head) => {
      this.#staysOpen = head.keepAlive;
      this.#owner?.head(head);
    },
    body: (bytes, start, end) => {
      if (this.#owner?.body(bytes, start, end) === false) this.#isPaused = true;
    },
    end: () => {
      const owner = this.#owner;
      this.#owner = undefined;
      this.#parser = undefined;
      owner?.end();
    },
  };

  /** @returns whether to go on reading. */
  #receive(bytes: Buffer, length: number): boolean {
    const parser = this.#parser;
    if (!parser) {
      // Nothing was asked, so whatever this is, it is not an answer.
      this.#fail(undefined);
      return true;
    }
    try {
      const at = parser.take(bytes, 0, length);
      if (parser.isDone) this.#finished(at === length);
    } catch (error) {
      this.#fail(error);
    }
    return !this.#isPaused;
  }

  #finished(isClean: boolean): void {
    if (!this.#staysOpen || !isClean || this.#isSending || this.#isGone) this.close();
    else if (this.#isWritten) this.#release();
    // With TLS, Node reports what the kernel has taken only at the end of a turn of the event loop,
    // and the response may be read before that.
    else setImmediate(() => (this.#isWritten && !this.#isGone ? this.#release() : this.close()));
  }

  /**
   * Whether the kernel has taken the whole request. A server that answers before it has read all of
   * a request may not read the rest either.
   */
  get #isWritten(): boolean {
    return this.#top?.writableLength === 0;
  }

  #release(): void {
    this.#bottom.unref();
    this.#resume();
    this.#events.onIdle(this);
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#top?.resume();
  }

  #ended(): void {
    this.#parser?.close();
    this.#fail(undefined);
  }

  #fail(error: unknown): void {
    const owner = this.#owner;
    this.#owner = undefined;
    this.#bottom.destroy();
    this.#gone();
    owner?.failed(error ?? closedEarly());
  }

  #reset(): void {
    // Node cannot reset a connection that TLS has opened itself, nor one that is not established.
    if (this.#bottom.connecting || this.#bottom instanceof TLSSocket) this.#bottom.destroy();
    else this.#bottom.resetAndDestroy();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#parser = undefined;
    this.#events.onGone(this);
  }
}

/** Whether a request may be longer than one piece. */
function isLong(head: string, body: Sendable["body"]): body is string | Uint8Array {
  if (body === undefined || (head.length + body.length) * CHARACTER_BYTES <= PIECE_BYTES) return false;
  return head.length + Buffer.byteLength(body) > PIECE_BYTES;
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? Buffer.from(body) : body;
}
