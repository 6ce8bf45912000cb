import { connect, type Socket } from "node:net";
import type { ClientView } from "../client-views.ts";
import { type ClientConnection, type ConnectionHost, MISSES_OF_GONE } from "../connection-host.ts";
import type { Failure } from "../failure.ts";
import type { Slot, Ticket, Waiter } from "../hold/dispatcher.ts";
import { PAUSED_CLIENT_BYTES } from "../hold/held-bytes.ts";
import type { ServicePort } from "../service.ts";
import { CONNECT_MS, upstreamSocket } from "../upstream/connection.ts";
import type { EndpointResources } from "../upstream/resources.ts";

/** How much is read from a client that waits. */
const MOST_PENDING_BYTES = 64 * 1024;

type State =
  | { readonly at: "waiting"; readonly ticket: Ticket<EndpointResources> | undefined }
  | {
      readonly at: "connecting";
      readonly slot: Slot<EndpointResources>;
      readonly upstream: Socket;
      readonly cancelTimeout: () => void;
    }
  | { readonly at: "over" };

/**
 * A client's connection whose protocol is not looked into: raw TCP, or TLS that its target ends. It
 * waits for an endpoint, is joined to it, and tries another one as long as none has accepted it.
 * The client's end of its side is kept, and passed on.
 */
export class TcpConnection implements ClientConnection, Waiter<EndpointResources> {
  readonly #client: Socket;
  readonly #port: ServicePort;
  readonly #host: ConnectionHost;
  readonly #deadline: number;
  readonly #startedAt: number;
  #pending: Buffer[];
  #pendingBytes: number;
  /** What it is charged while it waits. */
  #charged = 0;
  #state: State = { at: "waiting", ticket: undefined };
  /** How often in a row the kernel did not know the connection. */
  #misses = 0;

  /** @param first what the client has already sent. */
  constructor(client: Socket, first: Buffer | undefined, port: ServicePort, host: ConnectionHost) {
    this.#client = client;
    this.#port = port;
    this.#host = host;
    this.#pending = first ? [first] : [];
    this.#pendingBytes = first?.length ?? 0;
    this.#startedAt = host.clock.monotonic();
    this.#deadline = this.#startedAt + port.service.holdMs;
    client.on("data", this.#onData);
    client.on("error", this.#onError);
    client.on("close", this.#onClose);
  }

  start(): void {
    this.#port.service.requested();
    const ticket = this.#port.dispatcher.request(this);
    if (!ticket) return;
    this.#state = { at: "waiting", ticket };
    this.#charge();
  }

  enforce(): void {
    // The wait has its own limit, and what is joined is no concern of ours.
  }

  get inDoubt(): Socket | undefined {
    return this.#client.isPaused() ? this.#client : undefined;
  }

  /** A client that has ended its side may wait for what the pod sends. */
  seen(view: ClientView | undefined): void {
    this.#misses = view ? 0 : this.#misses + 1;
    if (this.#misses >= MISSES_OF_GONE) this.destroy();
  }

  leave(): void {
    // There is no message for a client of a protocol that is not known.
  }

  handBack(): void {
    // There is no message for a client of a protocol that is not known.
  }

  destroy(): void {
    this.#client.destroy();
  }

  dispatch(slot: Slot<EndpointResources>): void {
    this.#port.service.dispatched();
    const { address, port } = slot.load.endpoint;
    const upstream = connect({ host: address, port, allowHalfOpen: true, ...upstreamSocket });
    const cancelTimeout = this.#host.clock.schedule(CONNECT_MS, () => upstream.destroy());
    this.#state = { at: "connecting", slot, upstream, cancelTimeout };
    upstream.once("connect", () => this.#join());
    upstream.once("error", () => upstream.destroy());
    upstream.once("close", () => this.#retry(upstream));
  }

  refuse(failure: Failure): void {
    this.#state = { at: "over" };
    this.#port.service.metrics.failed(failure.why);
    this.#observe("5xx");
    this.#client.resetAndDestroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#pendingBytes >= MOST_PENDING_BYTES) this.#client.pause();
    this.#charge();
  };

  readonly #onError = (): void => void this.#client.destroy();

  readonly #onClose = (): void => {
    const state = this.#state;
    this.#state = { at: "over" };
    this.#uncharge();
    this.#host.closed(this);
    if (state.at === "over") return;
    this.#observe("aborted");
    if (state.at === "waiting" && state.ticket) this.#port.dispatcher.leave(state.ticket);
    if (state.at !== "connecting") return;
    state.cancelTimeout();
    state.upstream.destroy();
    this.#port.service.ended();
    state.slot.release();
  };

  /** Charges a connection that waits for what has come on it, or refuses it. */
  #charge(): void {
    if (this.#state.at !== "waiting") return;
    const bytes = this.#client.isPaused() ? PAUSED_CLIENT_BYTES : this.#pendingBytes;
    if (this.#host.heldBytes.change(this.#port.service, this.#charged, bytes)) {
      this.#charged = bytes;
      return;
    }
    if (this.#state.ticket) this.#port.dispatcher.leave(this.#state.ticket);
    this.refuse({ why: "queue-full" });
  }

  #uncharge(): void {
    this.#host.heldBytes.change(this.#port.service, this.#charged, 0);
    this.#charged = 0;
  }

  #join(): void {
    if (this.#state.at !== "connecting") return;
    const { slot, upstream, cancelTimeout } = this.#state;
    cancelTimeout();
    this.#state = { at: "over" };
    slot.answered();
    this.#port.service.answered();
    this.#observe("2xx");
    this.#client.off("data", this.#onData).off("error", this.#onError).off("close", this.#onClose);
    this.#client.pause();
    for (const bytes of this.#pending) upstream.write(bytes);
    this.#pending = [];
    this.#uncharge();
    this.#host.closed(this);
    this.#host.tunnel(this.#port, this.#client, upstream, () => {
      this.#port.service.ended();
      slot.release();
    });
  }

  #retry(upstream: Socket): void {
    if (this.#state.at !== "connecting" || this.#state.upstream !== upstream) return;
    const { slot, cancelTimeout } = this.#state;
    cancelTimeout();
    this.#state = { at: "waiting", ticket: undefined };
    this.#port.service.ended();
    slot.unreachable();
    const leftMs = this.#deadline - this.#host.clock.monotonic();
    const ticket = this.#port.dispatcher.requestAgain(this, leftMs);
    if (ticket) this.#state = { at: "waiting", ticket };
  }

  #observe(result: "2xx" | "5xx" | "aborted"): void {
    this.#port.service.metrics.requested(result, (this.#host.clock.monotonic() - this.#startedAt) / 1_000);
  }
}
