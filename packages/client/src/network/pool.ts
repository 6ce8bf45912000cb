import { connect as connectTcp, isIP } from "node:net";
import { connect as connectTls, createSecureContext, type SecureContext } from "node:tls";
import { TransportError } from "../errors.ts";
import { Channel, type ChannelEvents } from "./channel.ts";
import { hostOf, openTunnel, portOf } from "./proxy.ts";

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
const SWEEP_MS = 10_000;
const MOST_IDLE = 64;

/** Probes find a peer that vanished without a word, and keep NAT entries alive. */
const TCP_KEEPALIVE_MS = 30_000;

/** Connections to one server with one set of credentials. There is no limit to how many are busy at once: each watch holds one. */
export class Pool implements ChannelEvents {
  readonly #dial: (events: ChannelEvents) => Channel | Promise<Channel>;
  /** The one that was used last is used next, so that those not needed grow old. */
  readonly #idle: { readonly channel: Channel; readonly since: number }[] = [];
  #isRetired = false;
  #sweeping: NodeJS.Timeout | undefined;

  /** @throws TransportError with code TLS_MATERIAL_INVALID. */
  constructor(options: PoolOptions) {
    this.#dial = dialer(options);
  }

  /** An idle connection, if there is one. */
  take(): Channel | undefined {
    const idle = this.#idle.pop();
    if (!idle || performance.now() - idle.since < IDLE_CONNECTION_MS) return idle?.channel;
    // Those below it are older still.
    idle.channel.destroy();
    for (const { channel } of this.#idle.splice(0)) channel.destroy();
    return undefined;
  }

  /** A new connection. */
  open(): Channel | Promise<Channel> {
    return this.#dial(this);
  }

  /** Closes idle connections now, busy ones as they become idle. */
  retire(): void {
    this.#isRetired = true;
    clearInterval(this.#sweeping);
    for (const { channel } of this.#idle.splice(0)) channel.destroy();
  }

  onIdle(channel: Channel): void {
    if (this.#isRetired || this.#idle.length >= MOST_IDLE) {
      channel.destroy();
      return;
    }
    this.#idle.push({ channel, since: performance.now() });
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  onGone(channel: Channel): void {
    const at = this.#idle.findIndex((idle) => idle.channel === channel);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #sweep(): void {
    const now = performance.now();
    while (this.#idle[0] && now - this.#idle[0].since >= IDLE_CONNECTION_MS)
      this.#idle.shift()?.channel.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}

function dialer(options: PoolOptions): (events: ChannelEvents) => Channel | Promise<Channel> {
  const { server, material, proxy, connectTimeoutMs } = options;
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: TCP_KEEPALIVE_MS };
  if (server.protocol === "http:") {
    const address = { host: hostOf(proxy ?? server), port: portOf(proxy ?? server), ...keepAlive };
    return (events) => Channel.dial((reading) => connectTcp({ ...address, ...reading }), "connect", events);
  }
  const host = hostOf(server);
  const name = material.serverName ?? (isIP(host) === 0 ? host : undefined);
  const tls = {
    secureContext: secureContextFor(server, material),
    rejectUnauthorized: material.insecureSkipVerify !== true,
    ALPNProtocols: ["http/1.1"],
    ...(name === undefined ? {} : { servername: name }),
  };
  if (proxy)
    return async (events) => Channel.over(await openTunnel({ proxy, server, tls, connectTimeoutMs }), events);
  const address = { host, port: portOf(server), ...keepAlive };
  let session: Buffer | undefined;
  return (events) =>
    Channel.dial(
      (reading) => {
        const socket = connectTls({ ...address, ...tls, ...reading, ...(session ? { session } : {}) });
        // A session that was kept saves the next connection most of the handshake.
        socket.on("session", (latest) => {
          session = latest;
        });
        return socket;
      },
      "secureConnect",
      events,
    );
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
