import type { OnReadOpts, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type ResponseHead, type ResponseListener, ResponseParser } from "./response-parser.ts";

/** The request that a channel serves. */
export interface ChannelUser {
  head(head: ResponseHead): void;
  /** Bytes of the body, which are valid during the call. @returns whether there is room for more; if not, call `resume` later. */
  body(bytes: Buffer, start: number, end: number): boolean;
  end(): void;
  /** The connection ended before the response did, or what came was not HTTP. */
  failed(error: unknown): void;
}

export interface ChannelEvents {
  /** A response is complete, and the connection can serve another request. */
  onIdle(channel: Channel): void;
  /** The connection can no longer be used. Called once. */
  onGone(channel: Channel): void;
}

/** The most that one read brings: a whole record of TLS. */
const READ_BYTES = 16 * 1024;

/** One connection, which serves one request at a time. */
export class Channel {
  readonly #socket: Duplex & Partial<Pick<Socket, "ref" | "unref">>;
  readonly #events: ChannelEvents;
  #user: ChannelUser | undefined;
  #parser: ResponseParser | undefined;
  #staysOpen = false;
  #isPaused = false;
  #isGone = false;
  #onReady: (() => void) | undefined;
  /** Whether the connection stands, TLS included. */
  isReady: boolean;

  private constructor(events: ChannelEvents, isReady: boolean, open: (channel: Channel) => Duplex) {
    this.#events = events;
    this.isReady = isReady;
    this.#socket = open(this);
    this.#socket.on("error", (error) => this.#gone(error));
    this.#socket.on("end", () => this.#ended());
    this.#socket.on("close", () => this.#gone(undefined));
  }

  /**
   * Opens a connection that reads into one piece of memory and hands it over at once: no buffer is allocated for what is read, and no stream is
   * between. That is what makes a large list cheap.
   */
  static dial(
    dial: (options: { readonly onread: OnReadOpts }) => Socket,
    ready: "connect" | "secureConnect",
    events: ChannelEvents,
  ): Channel {
    return new Channel(events, false, (channel) => {
      const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
      const callback = (length: number) => channel.#receive(buffer, length);
      const socket = dial({ onread: { buffer, callback } });
      socket.setNoDelay(true);
      socket.once(ready, () => {
        channel.isReady = true;
        channel.#onReady?.();
      });
      return socket;
    });
  }

  /** Takes over a connection that stands already. */
  static over(socket: Duplex, events: ChannelEvents): Channel {
    return new Channel(events, true, (channel) => {
      socket.on("data", (chunk: Buffer) => {
        if (!channel.#receive(chunk, chunk.length)) socket.pause();
      });
      return socket;
    });
  }

  /** Takes the channel for a request, and calls `ready` once it can be sent: now, or when the connection stands. */
  use(user: ChannelUser, ready: () => void): void {
    this.#user = user;
    this.#socket.ref?.();
    if (this.isReady) ready();
    else this.#onReady = ready;
  }

  /** Sends a request. @param head all lines before the body, with the empty one. */
  send(head: string, body: string | Uint8Array | undefined): void {
    this.#staysOpen = false;
    this.#parser = new ResponseParser(this.#listener);
    if (typeof body === "string" || body === undefined) {
      this.#socket.write(head + (body ?? ""));
      return;
    }
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
  }

  /** Reads on, after the user had no room. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** The user wants nothing more of it, in the middle of a response or while idle. */
  destroy(): void {
    this.#user = undefined;
    this.#socket.destroy();
    this.#gone(undefined);
  }

  /** What the parser tells. */
  readonly #listener: ResponseListener = {
    head: (head) => {
      this.#staysOpen = head.keepAlive;
      this.#user?.head(head);
    },
    body: (bytes, start, end) => {
      if (this.#user?.body(bytes, start, end) === false) this.#isPaused = true;
    },
    end: () => {
      const user = this.#user;
      this.#user = undefined;
      this.#parser = undefined;
      user?.end();
    },
  };

  /** @returns whether to go on reading. */
  #receive(bytes: Buffer, length: number): boolean {
    const parser = this.#parser;
    if (!parser) {
      // Nothing was asked, so whatever this is, it is not an answer.
      if (!this.#isGone) this.destroy();
      return true;
    }
    try {
      const at = parser.take(bytes, 0, length);
      if (parser.isDone) this.#finished(at === length);
    } catch (error) {
      this.#gone(error);
      this.#socket.destroy();
    }
    return !this.#isPaused;
  }

  #finished(isClean: boolean): void {
    // A server that answers before it has read all of a request may not read the rest either.
    const canStay = this.#staysOpen && isClean && this.#socket.writableLength === 0 && !this.#isGone;
    if (!canStay) {
      this.destroy();
      return;
    }
    this.#socket.unref?.();
    this.resume();
    this.#events.onIdle(this);
  }

  #ended(): void {
    this.#parser?.close();
    this.#gone(undefined);
    this.#socket.destroy();
  }

  #gone(error: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const user = this.#user;
    this.#user = undefined;
    this.#parser = undefined;
    this.#events.onGone(this);
    user?.failed(error ?? closedEarly());
  }
}

/** The error of a connection that ended without one of its own. */
function closedEarly(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}
