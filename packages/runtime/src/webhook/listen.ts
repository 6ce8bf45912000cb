import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { KeyPair } from "@windlass/certificates";
import { type Clock, sleep } from "@windlass/clock";
import { messageOf } from "../reconcile/errors.ts";
import { failure, tooLarge, type WebhookAnswer, type WebhookCall } from "./dispatch.ts";

export interface ListenOptions {
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string | undefined;
  readonly clock: Clock;
  readonly handle: (call: WebhookCall) => Promise<WebhookAnswer>;
  /** How many bytes a body for this path may have. */
  readonly limitFor: (path: string) => number;
  /** How long requests under way may take to end when closing. */
  readonly drainMs: number;
}

/** The webhook server's socket. */
export interface Listener {
  readonly port: number;
  /** Serves this certificate from the next connection on; connections that are there stay. */
  use(pair: KeyPair): void;
  /** Takes no more connections, answers what has been asked, and ends. */
  close(): Promise<void>;
}

/**
 * Listens with TLS 1.2 or later. Until there is a certificate every handshake fails.
 *
 * @throws Error naming the port and the option to change, when the port is taken.
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { port, host, clock, drainMs } = options;
  // Not by import: that would load Node's WebSocket client beside it.
  const { createServer } = process.getBuiltinModule("node:https");
  let isClosing = false;
  const server = createServer(
    { minVersion: "TLSv1.2", requestTimeout: 60_000, headersTimeout: 10_000 },
    (request, response) => void serve(options, request, response, () => isClosing),
  );
  // Strangers that hang up or do not speak TLS are their own business.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  await bound(server, port, host);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    use: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key, minVersion: "TLSv1.2" }),
    close: async () => {
      isClosing = true;
      const done = new AbortController();
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeIdleConnections();
      const late = sleep(clock, drainMs, done.signal).then(
        () => server.closeAllConnections(),
        () => undefined,
      );
      await closed;
      done.abort();
      await late;
    },
  };
}

function bound(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = `port ${port} for webhooks is in use; set another with webhookServer({ port })`;
      reject(error.code === "EADDRINUSE" ? new Error(taken, { cause: error }) : error);
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => resolve());
  });
}

async function serve(
  options: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
  isClosing: () => boolean,
): Promise<void> {
  const path = request.url ?? "/";
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the connection was closed")));
  const answer = await answerTo(options, request, path, gone.signal).catch((error: unknown) =>
    failure(400, "BadRequest", `the body could not be read: ${messageOf(error)}`),
  );
  // The rest of a body that nobody reads would keep the connection from its next request.
  if (isClosing() || !request.complete) response.setHeader("connection", "close");
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
