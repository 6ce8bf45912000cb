import { connect as connectTcp, isIP, type Socket } from "node:net";
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
} from "node:tls";
import { TransportError } from "../errors.ts";
import type { Dial, Dialing } from "./channel.ts";
import { hostOf, portOf } from "./proxy.ts";
import { askForTunnel, proxyFailure } from "./tunnel.ts";

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

/** Where to connect to, and by what way. */
export interface Destination {
  readonly server: URL;
  readonly material: TlsMaterial;
  readonly proxy?: URL;
}

/** The ways to connect to one server. */
export interface Dialers {
  /** For requests that may be taken back by a reset until they are answered. */
  readonly resettable: Dial;
  /** For all others: with TLS it reads faster, but Node cannot reset it. */
  readonly direct: Dial;
}

/** Probes find a peer that vanished without a word, and keep NAT entries alive. */
const TCP_KEEPALIVE_MS = 30_000;

/** @throws TransportError with code TLS_MATERIAL_INVALID. */
export function dialersFor({ server, material, proxy }: Destination): Dialers {
  if (server.protocol === "http:") {
    const dial = dialPlain(proxy ?? server);
    return { resettable: dial, direct: dial };
  }
  const host = hostOf(server);
  const name = material.serverName ?? (isIP(host) === 0 ? host : undefined);
  const tls: ConnectionOptions = {
    host,
    secureContext: secureContextFor(server, material),
    rejectUnauthorized: material.insecureSkipVerify !== true,
    ALPNProtocols: ["http/1.1"],
    ...(name === undefined ? {} : { servername: name }),
  };
  const sessions = new Sessions();
  if (proxy) {
    const dial = dialThrough(proxy, server, tls, sessions);
    return { resettable: dial, direct: dial };
  }
  return { resettable: dialLayered(server, tls, sessions), direct: dialTls(server, tls, sessions) };
}

/** The last TLS session: kept, it saves the next connection most of the handshake. */
class Sessions {
  #latest: Buffer | undefined;

  get option(): { readonly session?: Buffer } {
    return this.#latest ? { session: this.#latest } : {};
  }

  learnFrom(socket: ReturnType<typeof connectTls>): void {
    socket.on("session", (latest) => {
      this.#latest = latest;
    });
  }
}

function dialPlain(to: URL): Dial {
  return (dialing) => {
    const socket = openTcp(to, dialing.readInPlace());
    socket.once("connect", () => dialing.ready(socket));
    return socket;
  };
}

function dialTls(server: URL, tls: ConnectionOptions, sessions: Sessions): Dial {
  const address = addressOf(server);
  return (dialing) => {
    const socket = connectTls({ ...address, ...tls, ...dialing.readInPlace(), ...sessions.option });
    socket.setNoDelay(true);
    sessions.learnFrom(socket);
    socket.once("connect", () => dialing.waitsFor(TLS));
    socket.once("secureConnect", () => dialing.ready(socket));
    return socket;
  };
}

/** TLS over a socket of its own, which can be reset. */
function dialLayered(server: URL, tls: ConnectionOptions, sessions: Sessions): Dial {
  return (dialing) => {
    const socket = openTcp(server);
    socket.once("connect", () => secure(socket, { tls, sessions, dialing }, dialing.ready));
    return socket;
  };
}

/** TLS with the server inside a tunnel, which the proxy opens at a CONNECT. */
function dialThrough(proxy: URL, server: URL, tls: ConnectionOptions, sessions: Sessions): Dial {
  return (dialing) => {
    const socket = openTcp(proxy);
    const atProxy: Dialing = {
      ...dialing,
      failed: (error) => dialing.failed(proxyFailure(proxy, server, error)),
    };
    let isThrough = false;
    const failed = (error?: unknown) => (isThrough ? dialing : atProxy).failed(error);
    socket.on("error", failed);
    socket.on("close", () => failed());
    const ask = (way: Socket) => {
      dialing.waitsFor("the proxy's answer to CONNECT");
      askForTunnel(way, { proxy, server }, atProxy, () => {
        isThrough = true;
        secure(way, { tls, sessions, dialing }, dialing.ready);
      });
    };
    socket.once("connect", () => {
      if (proxy.protocol === "https:") secure(socket, { tls: tlsOf(proxy), dialing: atProxy }, ask);
      else ask(socket);
    });
    return socket;
  };
}

const TLS = "the TLS handshake";

interface SecureOptions {
  readonly tls: ConnectionOptions;
  readonly sessions?: Sessions;
  readonly dialing: Dialing;
}

function secure(
  below: Socket,
  { tls, sessions, dialing }: SecureOptions,
  onSecure: (socket: Socket) => void,
): void {
  dialing.waitsFor(TLS);
  const socket = connectTls({ ...tls, ...sessions?.option, socket: below });
  sessions?.learnFrom(socket);
  socket.on("error", dialing.failed);
  socket.once("close", () => dialing.failed(undefined));
  socket.once("secureConnect", () => onSecure(socket));
}

function openTcp(to: URL, more: object = {}): Socket {
  const socket = connectTcp({ ...addressOf(to), ...more });
  socket.setNoDelay(true);
  return socket;
}

function addressOf(url: URL) {
  return {
    host: hostOf(url),
    port: portOf(url),
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEPALIVE_MS,
  };
}

/** A proxy is trusted as any server on the internet is. */
function tlsOf(proxy: URL): ConnectionOptions {
  const host = hostOf(proxy);
  return { host, ALPNProtocols: ["http/1.1"], ...(isIP(host) === 0 ? { servername: host } : {}) };
}

/**
 * One context for all connections: parsing a CA bundle for each would cost more than the handshake.
 */
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
