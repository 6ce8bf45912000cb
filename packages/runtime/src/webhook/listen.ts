import type { IncomingMessage, ServerResponse } from "node:http";
import type { KeyPair } from "@windlass/certificates";
import { type Clock, sleep } from "@windlass/clock";
import type { Logger } from "../logging/logger.ts";
import { listening } from "../manager/listening.ts";
import { messageOf } from "../reconcile/errors.ts";
import { Connections } from "./connections.ts";
import { failure, tooLarge, type WebhookAnswer, type WebhookCall } from "./dispatch.ts";

/** Where a webhook server listens, and with which certificate. */
export interface ListenOptions {
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string | undefined;
  readonly clock: Clock;
  readonly handle: (call: WebhookCall) => Promise<WebhookAnswer>;
  /** How many bytes a body for this path may have. */
  readonly limitFor: (path: string) => number;
  /** How long requests under way may take to end when closing. */
  readonly closeMs: number;
  readonly log: Logger;
}

/** The webhook server's socket. */
export interface Listener {
  readonly port: number;
  /** Serves this certificate from the next connection on; connections that are there stay. */
  use(pair: KeyPair): void;
  /**
   * Goes on serving. Each answer from now on tells its client to close the connection, and to make
   * the next one elsewhere.
   */
  drain(): void;
  /**
   * Answers what has been asked, takes no more connections, and ends. May be called again, to wait
   * for that.
   */
  close(): Promise<void>;
}

/**
 * How long a connection may wait for a request. Longer than the 90 s after which an API server
 * closes a connection that it does not use: closed from this side, it might be just sending the
 * next request on it.
 */
const IDLE_MS = 120_000;

/**
 * Listens with TLS 1.2 or later. Until there is a certificate every handshake fails.
 *
 * @throws Error naming the port and the option to change, when the port is taken.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { port, host, clock, closeMs, log } = options;
  // Not by import: that would load Node's WebSocket client too.
  const { createServer } = process.getBuiltinModule("node:https");
  let isDraining = false;
  const server = createServer(
    // Those for headers and requests also end connections on which nothing was sent yet, of which
    // an API server may have some in store.
    { minVersion: "TLSv1.2", keepAliveTimeout: IDLE_MS, headersTimeout: IDLE_MS, requestTimeout: IDLE_MS },
    (request, response) => void serve(options, request, response, () => isDraining),
  );
  const connections = new Connections(server);
  // Strangers that hang up or do not speak TLS are their own business.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  const taken = `port ${port} for webhooks is in use; set another with webhookServer({ port })`;
  const bound = await listening(
    server,
    { port, host },
    {
      explain: (error) => (error.code === "EADDRINUSE" ? new Error(taken, { cause: error }) : error),
      onError: (error) =>
        log.error({ error: error.message }, "the webhook server could not accept a connection; it goes on"),
    },
  );
  const end = async () => {
    isDraining = true;
    const done = new AbortController();
    const late = sleep(clock, closeMs, done.signal).then(
      () => connections.destroy(),
      () => undefined,
    );
    // Before the server is closed, for then Node destroys idle connections.
    await connections.endIdle();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    done.abort();
    await late;
  };
  let ending: Promise<void> | undefined;
  return {
    port: bound,
    use: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" }),
    drain: () => {
      isDraining = true;
    },
    close: () => {
      ending ??= end();
      return ending;
    },
  };
}

async function serve(
  options: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
  isDraining: () => boolean,
): Promise<void> {
  const path = request.url ?? "/";
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the connection was closed")));
  const answer = await answerTo(options, request, path, gone.signal).catch((error: unknown) =>
    failure(400, "BadRequest", `the body could not be read: ${messageOf(error)}`),
  );
  // The unread rest of a body would keep the connection from its next request.
  if (isDraining() || !request.complete) response.setHeader("connection", "close");
  response.writeHead(answer.status, { ...answer.headers, "content-length": Buffer.byteLength(answer.body) });
  response.end(answer.body);
}

async function answerTo(
  { handle, limitFor }: ListenOptions,
  request: IncomingMessage,
  path: string,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const limit = limitFor(path);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > limit) return tooLarge(limit);
    chunks.push(chunk);
  }
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "user-agent"] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const body = Buffer.concat(chunks).toString("utf8");
  return await handle({ path, method: request.method ?? "GET", headers, body, signal });
}
