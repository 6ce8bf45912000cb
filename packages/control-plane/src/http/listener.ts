import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { StatusError } from "../status.ts";
import { startListening } from "../streams/start-listening.ts";
import { asWebSocket } from "../streams/watch.ts";
import { bodyLimit } from "./body.ts";
import {
  answerPlainly,
  askedTimeoutMs,
  badRequest,
  bodyTimeout,
  headerTooLarge,
  largestHeader,
  linger,
  noTunnel,
  originForm,
  plainAnswerTo,
} from "./malformed.ts";
import { Outbox } from "./outbox.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";
import { failure } from "./respond.ts";

export interface ListenerOptions {
  readonly handle: (request: ApiRequest) => Promise<ApiResponse>;
  /**
   * PEM: the server's own certificate and key, and the authorities that client certificates must
   * come from; "" asks for none.
   */
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  /**
   * The user of a client certificate, which is given as DER, and with whether TLS has found a chain
   * from it to the authorities.
   */
  readonly userOf: (certificate: Uint8Array, isChained: boolean) => ApiRequest["peer"];
  /** Called with errors of the listening socket. */
  readonly onError: (error: Error) => void;
  /** @default 127.0.0.1 */
  readonly host?: string;
  /** @default any free port */
  readonly port?: number;
  /** Used if it is free and `port` is not set. */
  readonly preferredPort?: number;
  /**
   * How long a client may take to send a body. One that asks for less, by `timeout`, gets less.
   *
   * @default 60000
   */
  readonly bodyTimeoutMs?: number;
}

export interface Listener {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the API over HTTPS. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const host = options.host ?? "127.0.0.1";
  const peers = new WeakMap<TLSSocket, ApiRequest["peer"]>();
  const { bodyTimeoutMs = 60_000 } = options;
  const outbox = new Outbox();
  const server = createServer(
    {
      cert: options.certificate,
      key: options.key,
      ca: options.authority,
      requestCert: options.authority !== "",
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
      maxHeaderSize: largestHeader,
      // Malformed requests are answered with Go's messages, not Node's.
      requireHostHeader: false,
      connectionsCheckingInterval: 5_000,
      // Other upgrades that clients offer (HTTP/2, for example) are optional, and a body may
      // follow.
      shouldUpgradeCallback: ({ headers }) => /^(websocket|spdy\/3\.1)$/i.test(headers.upgrade ?? ""),
    },
    (incoming, outgoing) => {
      // An error in one answer must not stop the server.
      serve(incoming, outgoing).catch(() => outgoing.destroy());
    },
  );
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = 90_000;
  server.requestTimeout = 0;
  server.headersTimeout = 32_000;
  /** Connections with an unfinished answer. */
  const streaming = new WeakSet<Duplex>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (silentEnds.has(error.code ?? "") || streaming.has(socket)) socket.destroy();
    else answerPlainly(socket, error.code === "HPE_HEADER_OVERFLOW" ? headerTooLarge : badRequest);
  });
  server.on("connect", (_incoming, socket: Duplex) => answerPlainly(socket, noTunnel));

  const upgraded = new Set<Duplex>();
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    serveUpgrade(incoming, socket, head).catch(() => socket.destroy());
  });

  /**
   * Serves a request to upgrade the connection: upgrades it, or answers as to any other request.
   */
  async function serveUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    upgraded.add(socket);
    socket.once("close", () => {
      upgraded.delete(socket);
      gone.abort();
    });
    socket.on("error", () => socket.destroy());
    const request = requestOf(incoming, undefined, gone.signal);
    const response = asWebSocket(request, await options.handle(request));
    if (response.takeover) {
      const headers = Object.entries(response.headers).map(
        ([name, value]) => `${name}: ${String(value)}\r\n`,
      );
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join("")}\r\n`);
      response.takeover(socket, head);
      return;
    }
    // Importing `node:http` by a statement reads all of its exports, and one of them loads a whole
    // second HTTP client.
    const http = process.getBuiltinModule("node:http");
    const outgoing = new http.ServerResponse(incoming);
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(socket as TLSSocket);
    outgoing.once("finish", () => socket.end());
    send(outgoing, response, outbox);
  }

  function requestOf(
    incoming: IncomingMessage,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): ApiRequest {
    const socket = incoming.socket as TLSSocket;
    if (!peers.has(socket)) {
      const certificate = socket.getPeerX509Certificate();
      peers.set(socket, certificate && options.userOf(certificate.raw, socket.authorized));
    }
    const peer = peers.get(socket);
    return {
      method: incoming.method ?? "GET",
      url: originForm(incoming.url ?? "/"),
      headers: headersOf(incoming),
      body,
      signal,
      ...(peer ? { peer } : {}),
    };
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    // Abort only if the client left early: making an AbortError costs as much as a small answer.
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) gone.abort();
    });
    const plain = plainAnswerTo(incoming);
    if (plain) {
      answerPlainly(incoming.socket, plain);
      return;
    }
    // `OPTIONS *` asks about the server as a whole, and has an empty answer.
    if (incoming.method === "OPTIONS" && incoming.url === "*") {
      outgoing.end();
      return;
    }
    const limitMs = Math.min(bodyTimeoutMs, askedTimeoutMs(incoming.url ?? "") ?? bodyTimeoutMs);
    const body = await readBody(incoming, limitMs);
    switch (body) {
      case "cut off":
        return;
      case "too slow":
        answerPlainly(incoming.socket, bodyTimeout);
        return;
      case "too large":
        outgoing.shouldKeepAlive = false;
        // Node has another name for it.
        outgoing.statusMessage = "Request Entity Too Large";
        outgoing.once("finish", () => linger(incoming.socket));
        send(outgoing, failure(tooLarge()), outbox);
        return;
      default: {
        streaming.add(incoming.socket);
        outgoing.once("close", () => streaming.delete(incoming.socket));
        send(outgoing, await options.handle(requestOf(incoming, body, gone.signal)), outbox);
      }
    }
  }

  const { port: wanted, preferredPort } = options;
  const open = (at: number) => startListening(server, { port: at, host }, options.onError);
  const taken =
    wanted === undefined && preferredPort !== undefined && (await tryListen(() => open(preferredPort)));
  if (!taken) await open(wanted ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    close: () => {
      // Node's server does not close upgraded connections.
      for (const socket of upgraded) socket.destroy();
      return close(server);
    },
  };
}

/** @returns whether the port was free */
async function tryListen(open: () => Promise<void>): Promise<boolean> {
  try {
    await open();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/**
 * Errors after which the connection is closed without an answer: none would arrive, or Go sends
 * none.
 */
const silentEnds: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "EPIPE",
  "ERR_HTTP_REQUEST_TIMEOUT",
  "HPE_INVALID_EOF_STATE",
]);

type Body = Uint8Array | undefined | "too large" | "cut off" | "too slow";

function readBody(incoming: IncomingMessage, limitMs: number): Promise<Body> {
  if (incoming.method === "GET" || incoming.method === "HEAD") return Promise.resolve(undefined);
  const { promise, resolve } = Promise.withResolvers<Body>();
  const timer = setTimeout(() => resolve("too slow"), limitMs);
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size > bodyLimit) resolve("too large");
    else chunks.push(chunk);
  });
  incoming.on("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
  incoming.on("error", () => resolve("cut off"));
  incoming.on("close", () => resolve("cut off"));
  return promise.finally(() => clearTimeout(timer));
}

function tooLarge(): StatusError {
  return new StatusError({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: limit is ${bodyLimit}`,
  });
}

function send(outgoing: ServerResponse, response: ApiResponse, outbox: Outbox): void {
  const { body } = response;
  if (outgoing.destroyed) return;
  if (typeof body !== "function") {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    outgoing.writeHead(response.status, { ...mutable(response.headers), "content-length": bytes.byteLength });
    outgoing.end(bytes);
    return;
  }
  outgoing.writeHead(response.status, mutable(response.headers));
  outgoing.flushHeaders();
  const stop = body(outbox.open(outgoing));
  if (outgoing.destroyed) stop();
  else outgoing.once("close", stop);
}

/**
 * Node joins repeated headers; impersonation headers must be kept apart. Other requests do not pay
 * for it.
 */
function headersOf(incoming: IncomingMessage): ApiRequest["headers"] {
  const { headers } = incoming;
  const names = Object.keys(headers).filter((name) => name.startsWith("impersonate-"));
  if (names.length === 0) return headers;
  const { headersDistinct } = incoming;
  return { ...headers, ...Object.fromEntries(names.map((name) => [name, headersDistinct[name]])) };
}

function mutable(headers: ApiResponse["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? octets(value) : value.map(octets),
    ]),
  );
}

/**
 * Text as UTF-8 with one character for each byte, because Node sends no other characters in a
 * header. A warning may quote any text.
 */
function octets(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
