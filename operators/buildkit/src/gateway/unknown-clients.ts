import type { Socket } from "node:net";

/** Of a connection, on both of its ends. Undefined once it is closed. */
type Peer = Pick<Socket, "remoteAddress" | "remotePort">;

/**
 * Connections of those who are not known yet: in the middle of their handshake, or being sent the
 * reason of their refusal. Anybody may open them, so they must not take up the memory that builds
 * go through: where there are too many, the oldest goes. A client with a certificate is known
 * within a moment.
 */
export class UnknownClients {
  readonly #most: number;
  readonly #onCrowdedOut: () => void;
  /** The oldest first. */
  readonly #sockets = new Map<string, Socket>();

  constructor(most: number, onCrowdedOut: () => void) {
    this.#most = most;
    this.#onCrowdedOut = onCrowdedOut;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** A client has connected. */
  came(socket: Socket): void {
    const key = keyOf(socket);
    if (key === undefined) return;
    this.#sockets.set(key, socket);
    socket.once("close", () => this.#sockets.get(key) === socket && this.#sockets.delete(key));
    const [oldest] = this.#sockets.values();
    if (this.#sockets.size <= this.#most || !oldest) return;
    this.#onCrowdedOut();
    oldest.destroy();
  }

  /** A peer is known: it counts as a client from now on. */
  known(peer: Peer): void {
    const key = keyOf(peer);
    if (key !== undefined) this.#sockets.delete(key);
  }
}

function keyOf({ remoteAddress, remotePort }: Peer): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
