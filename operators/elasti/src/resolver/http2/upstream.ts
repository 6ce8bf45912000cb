import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import type { Clock } from "@windlass/clock";
import type { Endpoint } from "../targets.ts";
import { CONNECT_MS, upstreamSocket } from "../upstream/connection.ts";

/** The sessions of HTTP/2, without TLS, to one endpoint: one at a time carries all of its streams. */
export class Http2Upstream {
  readonly #endpoint: Endpoint;
  readonly #clock: Clock;
  readonly #counted: (change: 1 | -1) => void;
  #session: ClientHttp2Session | undefined;

  /** @param counted hears of each connection that comes, and goes. */
  constructor(endpoint: Endpoint, clock: Clock, counted: (change: 1 | -1) => void) {
    this.#endpoint = endpoint;
    this.#clock = clock;
    this.#counted = counted;
  }

  /** The session for the next stream. It may still be connecting. */
  session(): ClientHttp2Session {
    const current = this.#session;
    if (current && !current.closed && !current.destroyed) return current;
    const session = this.#open();
    this.#session = session;
    return session;
  }

  /** Closes the session as soon as it has no streams. */
  retire(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #open(): ClientHttp2Session {
    const { address, port } = this.#endpoint;
    const socket = connectSocket({ host: address, port, ...upstreamSocket });
    const authority = address.includes(":") ? `http://[${address}]:${port}` : `http://${address}:${port}`;
    const session = connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    const cancelConnect = this.#clock.schedule(CONNECT_MS, () => session.destroy());
    session.once("connect", cancelConnect);
    this.#counted(1);
    // An error ends the session, and each of its streams hears of that.
    session.on("error", () => session.destroy());
    // Whoever sends GOAWAY takes no more streams. Those that it has go on.
    session.on("goaway", () => {
      if (this.#session === session) this.#session = undefined;
      session.close();
    });
    session.once("close", () => {
      cancelConnect();
      if (this.#session === session) this.#session = undefined;
      this.#counted(-1);
    });
    return session;
  }
}
