import { createInflate, type Inflate } from "node:zlib";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import { header } from "../http/request.ts";
import {
  dataFrame,
  dictionary,
  goawayFrame,
  pingFrame,
  readHeaders,
  replyFrame,
  resetFrame,
  SpdyError,
  type SpdyFrame,
  SpdyReader,
} from "./spdy-frames.ts";

/** One of the streams of a connection. */
export interface SpdyStream {
  readonly headers: ReadonlyMap<string, string>;
  /** @returns how many bytes wait to be taken by the client */
  send(data: Uint8Array): number;
  /** Nothing more will be sent. */
  end(): void;
}

export interface StreamListener {
  readonly onData: (data: Buffer) => void;
  /** The client will send nothing more, or has given the stream up. */
  readonly onEnd: () => void;
}

export interface SessionListener {
  /** The client has begun a stream. Undefined refuses it. */
  readonly onStream: (stream: SpdyStream) => StreamListener | undefined;
  /** Called once when the connection has ended, from either side. */
  readonly onClose: () => void;
}

/** What a connection is made of: bytes that go out, and a way to end it. */
export interface SpdyWire {
  send(bytes: Buffer): number;
  close(): void;
}

/**
 * A connection of many streams that the client begins. Flow control is not spoken: Kubernetes
 * clients do not either.
 */
export class SpdySession {
  readonly #wire: SpdyWire;
  readonly #listener: SessionListener;
  readonly #reader = new SpdyReader();
  readonly #inflate: Inflate = createInflate({ dictionary });
  readonly #streams = new Map<number, StreamListener>();
  #last = 0;
  #isClosed = false;
  /** Frames are handled in their order, though headers take a turn to be uncompressed. */
  #work: Promise<void> = Promise.resolve();

  constructor(wire: SpdyWire, listener: SessionListener) {
    this.#wire = wire;
    this.#listener = listener;
    // Passed to the waiter for headers.
    this.#inflate.on("error", () => undefined);
  }

  /** Bytes that came from the client. */
  push(chunk: Uint8Array): void {
    this.#work = this.#work.then(async () => {
      try {
        for (const frame of this.#reader.read(chunk)) {
          if (this.#isClosed) return;
          await this.#handle(frame);
        }
      } catch (error) {
        if (!(error instanceof SpdyError)) throw error;
        this.close();
      }
    });
  }

  /** Ends the connection, once what was sent is on its way. */
  close(): void {
    if (this.#isClosed) return;
    this.#wire.send(goawayFrame(this.#last));
    this.#wire.close();
    this.ended();
  }

  /** The connection is closed. */
  ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inflate.close();
    this.#streams.clear();
    this.#listener.onClose();
  }

  async #handle(frame: SpdyFrame): Promise<void> {
    switch (frame.kind) {
      case "begin": {
        const headers = readHeaders(await this.#uncompress(frame.headers));
        this.#begin(frame.stream, headers);
        if (frame.fin) this.#endOf(frame.stream);
        return;
      }
      case "data":
        if (frame.data.byteLength > 0) this.#streams.get(frame.stream)?.onData(frame.data);
        if (frame.fin) this.#endOf(frame.stream);
        return;
      case "reset":
        this.#endOf(frame.stream);
        return;
      case "ping":
        this.#wire.send(pingFrame(frame.id));
        return;
      case "goaway":
        this.close();
        return;
      case "other":
        return;
    }
  }

  #endOf(id: number): void {
    this.#streams.get(id)?.onEnd();
    this.#streams.delete(id);
  }

  #begin(id: number, headers: ReadonlyMap<string, string>): void {
    if (id % 2 === 0 || id <= this.#last) throw new SpdyError(`stream ${id} cannot begin`);
    const order = this.#last === 0 ? "first" : "later";
    this.#last = id;
    let isEnded = false;
    const stream: SpdyStream = {
      headers,
      send: (data) => (isEnded || this.#isClosed ? 0 : this.#wire.send(dataFrame(id, data, false))),
      end: () => {
        if (isEnded || this.#isClosed) return;
        isEnded = true;
        this.#wire.send(dataFrame(id, Buffer.alloc(0), true));
      },
    };
    // The answer comes first: nothing may be sent on a stream before it is accepted.
    this.#wire.send(replyFrame(id, order));
    const listener = this.#listener.onStream(stream);
    if (listener) this.#streams.set(id, listener);
    else this.#wire.send(resetFrame(id));
  }

  /**
   * Headers that would take more than the stream buffers are not read to their end: the connection
   * stands still.
   *
   * @throws SpdyError
   */
  #uncompress(block: Buffer): Promise<Buffer> {
    const inflate = this.#inflate;
    return new Promise((resolve, reject) => {
      const refuse = () => reject(new SpdyError("headers cannot be uncompressed"));
      inflate.once("error", refuse);
      inflate.write(block, () => {
        inflate.off("error", refuse);
        resolve((inflate.read() as Buffer | null) ?? Buffer.alloc(0));
      });
    });
  }
}

/** Whether a request asks to go on in SPDY. */
export function asksForSpdy(request: Pick<ApiRequest, "headers">): boolean {
  return /^spdy\/3\.1$/i.test(header(request, "upgrade") ?? "");
}

/** Answers a request by going on in SPDY. @param protocol what will be spoken on its streams */
export function acceptSpdy(
  protocol: string,
  onOpen: (session: { close(): void; pause(): void; resume(): void }) => SessionListener,
): ApiResponse {
  return {
    status: 101,
    headers: { upgrade: "SPDY/3.1", connection: "Upgrade", "x-stream-protocol-version": protocol },
    body: "",
    takeover: (socket, head) => {
      const wire: SpdyWire = {
        send: (bytes) => {
          if (socket.writable) socket.write(bytes);
          return socket.writableLength;
        },
        close: () => socket.end(),
      };
      const session: SpdySession = new SpdySession(
        wire,
        onOpen({ close: () => session.close(), pause: () => socket.pause(), resume: () => socket.resume() }),
      );
      socket.on("error", () => socket.destroy());
      socket.once("end", () => socket.end());
      socket.once("close", () => session.ended());
      if (head.byteLength > 0) session.push(head);
      socket.on("data", (chunk: Buffer) => session.push(chunk));
    },
  };
}
