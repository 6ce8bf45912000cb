import type { Socket } from "node:net";
import type { ClientView } from "../client-views.ts";
import { type DoubtedClient, MISSES_OF_GONE } from "../connection-host.ts";

/** A client that is joined to its pod. It is not read from while the pod takes nothing more. */
export class JoinedClient implements DoubtedClient {
  readonly #socket: Socket;
  /** How often in a row the kernel did not know the connection. */
  #misses = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Once both sides have ended, the kernel forgets a connection of which there is more to read. */
  get inDoubt(): Socket | undefined {
    return this.#socket.isPaused() && !this.#socket.writableEnded ? this.#socket : undefined;
  }

  /** One that has ended its side may wait for what the pod sends. */
  seen(view: ClientView | undefined): void {
    this.#misses = view ? 0 : this.#misses + 1;
    if (this.#misses >= MISSES_OF_GONE) this.#socket.destroy();
  }
}
