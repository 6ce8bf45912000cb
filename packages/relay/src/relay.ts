import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { type Clock, type Duration, milliseconds, systemClock } from "@windlass/clock";
import { Flow } from "./flow.ts";
import { type Event, joined, type Outcome, otherSide, type Side, type State, step } from "./state.ts";

/** Limits of a relay, and what its tenant may see and say in it. */
export interface RelayOptions {
  /** Ends the relay when no byte has moved, either way, for this long. @default Infinity */
  readonly idle?: Duration;
  /** Ends the relay after this long, whatever moves. @default Infinity */
  readonly total?: Duration;
  /**
   * How many bytes may wait for a slow reader, each way, before the other side is no longer read
   * from.
   * @default 262_144
   */
  readonly bufferBytes?: number;
  /**
   * Sees each chunk before it is passed on. It must neither keep nor change the chunk.
   *
   * @default none
   */
  readonly inspect?: (from: Side, chunk: Buffer) => void;
  /**
   * Last bytes for a side before it is ended: a protocol's way to say why. Asked when the other
   * side's end is passed on, and when the relay ends other than by closing. They follow what
   * already waits for that side, and are followed by an end.
   * @default an end is passed on as it is, and otherwise the side is cut off
   */
  readonly lastBytes?: (to: Side, why: Outcome | { readonly how: "ended" }) => Uint8Array | undefined;
  /** How long a side may take to receive its last bytes and to close. @default "1s" */
  readonly lastBytesWithin?: Duration;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** How a relay ended, and what it did. */
export interface RelayEnd {
  readonly outcome: Outcome;
  /** Bytes that the client sent and that were written to the upstream side. */
  readonly fromClient: number;
  /** Bytes that the upstream side sent and that were written to the client. */
  readonly fromUpstream: number;
  readonly durationMs: number;
}

/** Two sockets that are joined. */
export interface Relay {
  /** Bytes that the client sent, passed on so far. */
  readonly fromClient: number;
  /** Bytes that the upstream side sent, passed on so far. */
  readonly fromUpstream: number;
  /** Resolves when both sockets are closed. Never rejects. */
  readonly ended: Promise<RelayEnd>;
  /** Ends the relay, and closes both sockets. Does nothing to a relay that is over. */
  abort(reason: unknown): void;
}

/**
 * Joins two sockets: what one sends the other receives, until both have ended. The relay owns both
 * from then on.
 *
 * - Back-pressure: a side is read from only while the other keeps up.
 * - Half-close: the end of one direction is passed on, and the other direction goes on.
 * - A connection that is cut off is reset where its transport can say so, so that its peer does not
 *   mistake what has arrived for the whole.
 *
 * Bytes that a socket has received and that are still unread are passed on too, so a tenant may
 * look at the first ones and `unshift` them. Any duplex streams of bytes will do.
 *
 * @throws RangeError for a limit that is not a duration.
 *
 * @example
 * const server = createServer({ allowHalfOpen: true }, (client) => {
 *   relay(client, connect({ host: "10.0.0.7", port: 1234 }), { idle: "1h" });
 * });
 */
export function relay(client: Duplex, upstream: Duplex, options: RelayOptions = {}): Relay {
  return new JoinedSockets(client, upstream, options);
}

const DEFAULT_BUFFER_BYTES = 256 * 1024;
const sides = ["client", "upstream"] as const;

class JoinedSockets implements Relay {
  readonly ended: Promise<RelayEnd>;
  readonly #resolve: (end: RelayEnd) => void;
  readonly #options: RelayOptions;
  readonly #clock: Clock;
  readonly #lastBytesMs: number;
  readonly #sockets: Readonly<Record<Side, Duplex>>;
  readonly #flows: Readonly<Record<Side, Flow>>;
  readonly #startedAt: number;
  #movedAt: number;
  #cancelIdle: (() => void) | undefined;
  #cancelTotal: (() => void) | undefined;
  #state: State = joined;
  #openSockets = sides.length;

  constructor(client: Duplex, upstream: Duplex, options: RelayOptions) {
    const forever = Number.POSITIVE_INFINITY;
    const idleMs = milliseconds(options.idle ?? forever, "relay: idle");
    const totalMs = milliseconds(options.total ?? forever, "relay: total");
    this.#lastBytesMs = milliseconds(options.lastBytesWithin ?? "1s", "relay: lastBytesWithin");
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#startedAt = this.#clock.monotonic();
    this.#movedAt = this.#startedAt;
    const { promise, resolve } = Promise.withResolvers<RelayEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#sockets = { client, upstream };
    const hasIdleLimit = idleMs < forever;
    this.#flows = {
      client: this.#flow("client", upstream, hasIdleLimit),
      upstream: this.#flow("upstream", client, hasIdleLimit),
    };
    for (const side of sides) this.#follow(side);
    for (const side of sides) this.#flows[side].start();
    if (hasIdleLimit) this.#watchIdle(idleMs);
    if (totalMs < forever) {
      const reached = () => this.#handle({ type: "limit", limit: "total" });
      this.#cancelTotal = this.#clock.schedule(totalMs, reached);
    }
  }

  get fromClient(): number {
    return this.#flows.client.bytes;
  }

  get fromUpstream(): number {
    return this.#flows.upstream.bytes;
  }

  abort(reason: unknown): void {
    this.#handle({ type: "aborted", reason });
  }

  #flow(from: Side, sink: Duplex, hasIdleLimit: boolean): Flow {
    const { inspect, bufferBytes = DEFAULT_BUFFER_BYTES } = this.#options;
    const onChunk = (chunk: Buffer) => {
      if (hasIdleLimit) this.#movedAt = this.#clock.monotonic();
      inspect?.(from, chunk);
    };
    return new Flow(this.#sockets[from], sink, {
      bufferBytes,
      onChunk: hasIdleLimit || inspect ? onChunk : undefined,
      onEnd: () => {
        this.#handle({ type: "ended", side: from });
        return this.#options.lastBytes?.(otherSide(from), { how: "ended" });
      },
      onFlush: () => this.#handle({ type: "flushed", side: from }),
    });
  }

  /** Follows a socket until it is closed. Its errors are heard for as long as it lives. */
  #follow(side: Side): void {
    const socket = this.#sockets[side];
    let error = socket.errored ?? undefined;
    const closed = () => {
      this.#openSockets -= 1;
      this.#handle({ type: "closed", side, error });
      this.#settle();
    };
    socket.allowHalfOpen = true;
    socket.on("error", (cause) => {
      error = cause;
      socket.destroy();
    });
    if (socket.closed) process.nextTick(closed);
    else socket.once("close", closed);
  }

  #handle(event: Event): void {
    if (this.#state.at === "over") return;
    this.#state = step(this.#state, event);
    if (this.#state.at !== "over") return;
    this.#cancelIdle?.();
    this.#cancelTotal?.();
    for (const side of sides) this.#flows[side].stop();
    for (const side of sides) this.#release(side, this.#state.outcome);
  }

  /** Detaches from a socket when the relay is over. */
  #release(side: Side, outcome: Outcome): void {
    const socket = this.#sockets[side];
    if (outcome.how === "closed") {
      socket.destroy();
      return;
    }
    const lastBytes = socket.writable ? this.#options.lastBytes?.(side, outcome) : undefined;
    if (lastBytes === undefined) {
      cutOff(socket);
      return;
    }
    socket.end(lastBytes);
    // What still arrives is dropped. A socket that is closed with unread bytes resets its
    // connection, and the reset may overtake the last bytes.
    socket.resume();
    socket.once(
      "close",
      this.#clock.schedule(this.#lastBytesMs, () => cutOff(socket)),
    );
  }

  #settle(): void {
    if (this.#openSockets > 0 || this.#state.at !== "over") return;
    this.#resolve({
      outcome: this.#state.outcome,
      fromClient: this.fromClient,
      fromUpstream: this.fromUpstream,
      durationMs: this.#clock.monotonic() - this.#startedAt,
    });
  }

  #watchIdle(idleMs: number): void {
    const leftMs = this.#movedAt + idleMs - this.#clock.monotonic();
    if (leftMs <= 0) this.#handle({ type: "limit", limit: "idle" });
    else this.#cancelIdle = this.#clock.schedule(leftMs, () => this.#watchIdle(idleMs));
  }
}

/**
 * Closes a connection so that its peer can see that it was cut off, where there is a way to say
 * so.
 */
function cutOff(socket: Duplex): void {
  if (isTcp(socket) && !socket.destroyed && !socket.writableEnded) socket.resetAndDestroy();
  else socket.destroy();
}

/** With TLS, by the lack of close_notify; Unix sockets and other streams have no way. */
function isTcp(socket: Duplex): socket is Socket {
  return socket instanceof Socket && !(socket instanceof TLSSocket) && socket.remoteFamily !== undefined;
}
