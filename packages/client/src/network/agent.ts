import type { Agent } from "node:http";
import { createSecureContext, type SecureContext } from "node:tls";
import { TransportError } from "../errors.ts";
import { http, https } from "./http.ts";
import { openTunnel } from "./proxy.ts";

/** What a connection to one server needs besides its address. */
export interface TlsMaterial {
  /** PEM. @default the CAs that Node trusts */
  readonly ca?: string | Buffer;
  /** PEM, with `key`. @default no client certificate */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name to ask for and to find in the certificate. @default the host of the server's URL */
  readonly serverName?: string;
  /** Takes any certificate, and so anyone's. @default false */
  readonly insecureSkipVerify?: boolean;
}

/** Connections to one server with one set of credentials. */
export interface Pool {
  readonly agent: Agent;
  /** Closes idle connections now, busy ones as they become idle. */
  retire(): void;
}

export interface PoolOptions {
  readonly server: URL;
  readonly material: TlsMaterial;
  readonly proxy?: URL;
  readonly connectTimeoutMs: number;
}

/**
 * Shorter than the idle timeouts of API servers (90 s) and of the load balancers before them (60 s at the least), so that
 * it is this side which closes an idle connection, and no write is sent into one that is just going away.
 */
const IDLE_CONNECTION_MS = 45_000;

/** Probes find a peer that vanished without a word, and keep NAT entries alive. */
export const TCP_KEEPALIVE_MS = 30_000;

/** @throws TransportError with code TLS_MATERIAL_INVALID. */
export function openPool(options: PoolOptions): Pool {
  const { server, material, proxy } = options;
  const pooling = {
    keepAlive: true,
    keepAliveMsecs: TCP_KEEPALIVE_MS,
    maxFreeSockets: 64,
    timeout: IDLE_CONNECTION_MS,
  };
  let agent: Agent;
  if (server.protocol === "http:") {
    agent = new http.Agent(pooling);
  } else {
    const tls = {
      secureContext: secureContextFor(server, material),
      rejectUnauthorized: material.insecureSkipVerify !== true,
      ...(material.serverName ? { servername: material.serverName } : {}),
    };
    agent = new https.Agent({ ...pooling, ...tls });
    if (proxy) {
      const { connectTimeoutMs } = options;
      agent.createConnection = (_options, opened) => {
        openTunnel({ proxy, server, tls, connectTimeoutMs }).then(
          (socket) => opened?.(null, socket),
          (error: Error) => opened?.(error, undefined as never),
        );
        return undefined;
      };
    }
  }
  let retired = false;
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => !retired && keep(socket);
  return {
    agent,
    retire() {
      retired = true;
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

/** One context for all connections: parsing a CA bundle for each would cost more than the handshake. */
function secureContextFor(server: URL, { ca, cert, key }: TlsMaterial): SecureContext {
  try {
    return createSecureContext({ ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
    throw new TransportError(
      "TLS_MATERIAL_INVALID",
      `${server.origin}: the CA, client certificate or key does not parse, or key and certificate do not match${code}; check that each is PEM`,
      { cause: error, mayHaveBeenSent: false },
    );
  }
}
