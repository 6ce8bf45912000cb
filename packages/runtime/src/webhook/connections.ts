import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { turn } from "../cache/pace.ts";

/**
 * The connections of an HTTPS server, and how many requests each has under way.
 *
 * The API server keeps its connections and sends the next request on one of them at any moment. One
 * that is destroyed at that moment fails the request, and a request to a webhook is not repeated:
 * the writer of the object gets an error. So connections are ended only when what has arrived on
 * them has been read, and left to the client to close.
 */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #secure = new Map<Socket, { requests: number; readonly closed: Promise<void> }>();

  /** Follows the connections of a server that has not begun to listen. */
  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("secureConnection", (socket: Socket) => {
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      this.#secure.set(socket, { requests: 0, closed });
      socket.once("close", () => {
        this.#secure.delete(socket);
        resolve();
      });
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#secure.get(socket);
      if (!connection) return;
      connection.requests += 1;
      response.once("close", () => {
        connection.requests -= 1;
      });
    });
  }

  /**
   * Ends those that have no request under way. Resolves when their clients have closed them too.
   */
  async endIdle(): Promise<void> {
    // A whole turn of the event loop, whichever phase this one is in: requests that have arrived
    // are read in it.
    await turn();
    await turn();
    const ended = [...this.#secure].filter(([, { requests }]) => requests === 0);
    for (const [socket] of ended) socket.end();
    await Promise.all(ended.map(([, { closed }]) => closed));
  }

  /** Ends all of them now, also those that are still negotiating TLS. */
  destroy(): void {
    for (const socket of [...this.#sockets, ...this.#secure.keys()]) socket.destroy();
  }
}
