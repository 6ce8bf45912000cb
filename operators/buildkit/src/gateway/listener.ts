import { constants } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from "node:tls";
import type { GatewayCredentials } from "./credentials.ts";
import { ciphers, minVersion, tuned } from "./tls.ts";
import { UnknownClients } from "./unknown-clients.ts";

/** What a listener does with those who connect. */
export interface ListenerOptions {
  readonly credentials: GatewayCredentials["clients"];
  readonly handshakeMs: number;
  /** So many may be connected that are not `known` yet. */
  readonly unknownClients: number;
  /** A handshake is done. What the client has shown is for the callee to judge. */
  readonly onClient: (client: TLSSocket) => void;
  /**
   * A handshake failed. Not called for those who leave in the middle of it, or before it, as probes
   * do.
   */
  readonly onFailure: (status: "non_tls" | "handshake_failed", error: Error) => void;
  /** One who is not known has gone for the next. */
  readonly onCrowdedOut: () => void;
}

/** Codes of those who speak something else, such as plain HTTP. */
const notTls = new Set([
  "ERR_SSL_HTTP_REQUEST",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
]);

/** Takes TLS connections from clients. */
export class ClientListener {
  readonly #server: Server;
  readonly #unknown: UnknownClients;

  constructor({
    credentials,
    handshakeMs,
    unknownClients,
    onClient,
    onFailure,
    onCrowdedOut,
  }: ListenerOptions) {
    this.#unknown = new UnknownClients(unknownClients, onCrowdedOut);
    this.#server = createServer(
      {
        ...contextOf(credentials),
        // buildctl insists that h2 is selected. buildx offers nothing, and that is taken too.
        ALPNProtocols: ["h2"],
        requestCert: true,
        // Node would only hang up. Those whose certificate does not verify receive the reason.
        rejectUnauthorized: false,
        handshakeTimeout: handshakeMs,
      },
      (client) => onClient(tuned(client)),
    );
    this.#server.on("connection", (socket: Socket) => this.#unknown.came(socket));
    this.#server.on("tlsClientError", (error: NodeJS.ErrnoException, client) => {
      const { code = "" } = error;
      if (code !== "ECONNRESET") onFailure(notTls.has(code) ? "non_tls" : "handshake_failed", error);
      // Node leaves that to the listener, also where a handshake has timed out.
      client.destroy();
    });
  }

  /** @throws Error if the port cannot be had. */
  async listen(address: { readonly port: number; readonly host: string | undefined }): Promise<number> {
    this.#server.listen({
      port: address.port,
      ...(address.host === undefined ? {} : { host: address.host }),
    });
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Has the next handshakes use other credentials. Connections go on as they are. */
  use(credentials: GatewayCredentials["clients"]): void {
    this.#server.setSecureContext(contextOf(credentials));
  }

  /** Who has connected is a client, and is never crowded out. */
  known(client: TLSSocket): void {
    this.#unknown.known(client);
  }

  /** Takes no more connections. Resolves when the last one is closed. */
  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function contextOf({ pair, trust }: GatewayCredentials["clients"]): SecureContextOptions {
  return {
    cert: pair.certificate,
    key: pair.key,
    ca: trust,
    ciphers,
    minVersion,
    // A session that is resumed is not verified again: it would outlive its certificate and its
    // authority.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
