import { type ClientHttp2Session, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import type { Endpoint } from "../targets.ts";
import { CONNECT_MS, upstreamSocket } from "../upstream/connection.ts";
import type { UpstreamOptions } from "../upstream/options.ts";

/**
 * The sessions of HTTP/2, without TLS, to one endpoint: one at a time carries all of its streams.
 */
export class Http2Upstream {
  readonly #endpoint: Endpoint;
  readonly #options: UpstreamOptions;
  #session: ClientHttp2Session | undefined;

  constructor(endpoint: Endpoint, options: UpstreamOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
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
    const { clock, counted, lostPeers } = this.#options;
    const socket = connectSocket({ host: address, port, ...upstreamSocket });
    lostPeers.watch(socket);
    const authority = address.includes(":") ? `http://[${address}]:${port}` : `http://${address}:${port}`;
    const session = connect(authority, {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    const cancelConnect = clock.schedule(CONNECT_MS, () => session.destroy());
    session.once("connect", cancelConnect);
    counted(1);
    // An error ends the session, and each of its streams gets an error of its own.
    session.on("error", () => session.destroy());
    // A peer that sends GOAWAY takes no more streams. Those that it has go on.
    session.on("goaway", () => {
      if (this.#session === session) this.#session = undefined;
      session.close();
    });
    session.once("close", () => {
      cancelConnect();
      if (this.#session === session) this.#session = undefined;
      counted(-1);
    });
    return session;
  }
}
