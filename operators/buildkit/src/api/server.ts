import { constants } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, type Random, uuid } from "@windlass/clock";
import type { Logger } from "@windlass/runtime";
import {
  type AuditedRequest,
  type AuditLog,
  AuthenticationError,
  type Authenticator,
  type Credentials,
  VerifierUnavailableError,
} from "../identity/index.ts";
import type { ApiMetrics } from "./metrics.ts";
import { notFound, Problem, problemOf } from "./problem.ts";
import { type Caller, matchRoute, type Reply, type Route } from "./route.ts";
import type { ServingCredentials } from "./serving-certificate.ts";

/** What a server is made of. */
export interface ApiServerOptions {
  readonly routes: readonly Route[];
  readonly authenticator: Pick<Authenticator, "authenticate">;
  readonly audit: AuditLog;
  readonly metrics: ApiMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** 0 picks a free one. */
  readonly port: number;
  readonly host?: string | undefined;
}

const LARGEST_BODY = 64 * 1024;
/** Tokens of issuers with many claims take up to 16 KiB. */
const LARGEST_HEADERS = 32 * 1024;
const RECEIVE_MS = 15_000;
/** Node looks only now and then who has exceeded that. */
const LOOK_MS = 5_000;
/** Longer than load balancers keep idle connections, so that they close them first. */
const IDLE_MS = 120_000;

/** Serves routes over TLS. Until it is given a certificate every handshake fails. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #server: Server;
  readonly #stopping = new AbortController();
  readonly #active = new Set<Promise<void>>();
  #isDraining = false;

  private constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#server = createServer(
      {
        minVersion: "TLSv1.2",
        ALPNProtocols: ["http/1.1"],
        // Who shows none, or one that is not accepted, may still have a token.
        requestCert: true,
        rejectUnauthorized: false,
        maxHeaderSize: LARGEST_HEADERS,
        headersTimeout: RECEIVE_MS,
        requestTimeout: RECEIVE_MS,
        connectionsCheckingInterval: LOOK_MS,
        handshakeTimeout: RECEIVE_MS,
        keepAliveTimeout: IDLE_MS,
      },
      (request, response) => {
        const served = this.#serve(request, response).finally(() => this.#active.delete(served));
        this.#active.add(served);
      },
    );
    // Unknown clients that hang up or do not speak TLS are not reported.
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  static async listen(options: ApiServerOptions): Promise<ApiServer> {
    const server = new ApiServer(options);
    const { port, host } = options;
    server.#server.listen(host === undefined ? { port } : { port, host });
    await once(server.#server, "listening");
    server.#server.on("error", ({ message }) =>
      options.log.error({ error: message }, "the allocation API could not accept a connection; it goes on"),
    );
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Serves with these from the next connection on; connections that are there stay. */
  use({ pair, clientTrust }: ServingCredentials): void {
    this.#server.setSecureContext({
      cert: pair.certificate,
      key: pair.key,
      ca: clientTrust,
      minVersion: "TLSv1.2",
      // A session that is resumed is not verified again: an identity would outlive its certificate
      // and its authority.
      secureOptions: constants.SSL_OP_NO_TICKET,
    });
  }

  /** Goes on serving, and has clients make their next connection elsewhere. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Answers what is under way, those who wait for a worker too, and ends. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#stopping.abort(
      new Problem(503, "ShuttingDown", "this replica is stopping: ask again", { retryAfterSeconds: 1 }),
    );
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all(this.#active);
    this.#server.closeIdleConnections();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, metrics, random, log } = this.#options;
    const startedAt = clock.monotonic();
    const method = request.method ?? "GET";
    const requestId = uuid(random);
    const url = URL.parse(request.url ?? "/", "https://api");
    const path = url?.pathname ?? "/";
    const audited = { requestId, request: `${method} ${path}`, from: request.socket.remoteAddress ?? "" };
    const gone = new AbortController();
    response.once("close", () => gone.abort(new Error("the client has gone")));
    const match = matchRoute(this.#options.routes, method, path);
    let reply: Reply;
    try {
      reply = await this.#reply(match, request, url?.searchParams, audited, gone.signal);
    } catch (error) {
      if (gone.signal.aborted && !(error instanceof Problem)) return;
      const problem = problemOf(error);
      // A refusal is not worth a line of its own: the audit log has it. What the cluster did not do
      // is.
      if (!problem || problem.status >= 500)
        log.warn({ ...audited, error: causeOf(error) }, "a request could not be served");
      const { status, body, headers } =
        problem ??
        new Problem(
          500,
          "Internal",
          `this is a fault of the server: ask its operators about request ${requestId}`,
        );
      reply = { status, body, headers };
    }
    const shown = match.is === "route" ? match.route.path : "other";
    metrics.answered(method, shown, reply.status, (clock.monotonic() - startedAt) / 1_000);
    if (gone.signal.aborted) {
      await reply
        .undo?.()
        .catch((error: unknown) => log.warn({ ...audited, error: causeOf(error) }, "could not undo"));
      return;
    }
    this.#send(request, response, requestId, reply);
  }

  async #reply(
    match: ReturnType<typeof matchRoute>,
    request: IncomingMessage,
    query: URLSearchParams | undefined,
    audited: AuditedRequest,
    gone: AbortSignal,
  ): Promise<Reply> {
    if (match.is === "nothing")
      throw notFound(
        "NotFound",
        "there is nothing at this path: GET /api/v1/openapi.json says what there is",
      );
    if (match.is === "other-method")
      throw new Problem(405, "MethodNotAllowed", `this path takes ${match.allowed.join(" and ")}`, {
        headers: { allow: match.allowed.join(", ") },
      });
    const { route, params } = match;
    if (route.access === "anyone") return route.answer();
    const signal = AbortSignal.any([gone, this.#stopping.signal]);
    const caller = await this.#recognize(request, audited, signal);
    const body = route.body ? parseJson(await readBody(request)) : undefined;
    const call = { params, caller, request: audited, signal };
    return await route.handle(call, Object.fromEntries(query ?? []), body);
  }

  async #recognize(request: IncomingMessage, audited: AuditedRequest, signal: AbortSignal): Promise<Caller> {
    const { authenticator, audit, metrics } = this.#options;
    try {
      const identities = await authenticator.authenticate(credentialsOf(request), signal);
      metrics.authenticated("accepted");
      return { identities };
    } catch (error) {
      if (error instanceof AuthenticationError) {
        metrics.authenticated("refused");
        audit.unauthenticated(audited, error);
      } else if (error instanceof VerifierUnavailableError) metrics.authenticated("unavailable");
      throw error;
    }
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
    { status, body, headers }: Reply,
  ): void {
    const isText = typeof body === "string";
    const text = isText ? body : `${JSON.stringify(body)}\n`;
    // The rest of a body that is not read would keep the connection from its next request.
    const isLast = this.#isDraining || !request.complete;
    response.writeHead(status, {
      "content-type": isText ? "text/plain; charset=utf-8" : "application/json",
      "content-length": Buffer.byteLength(text),
      // Answers hold keys.
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": requestId,
      ...(isLast ? { connection: "close" } : {}),
      ...headers,
    });
    response.end(request.method === "HEAD" ? undefined : text);
  }
}

function credentialsOf(request: IncomingMessage): Credentials {
  const socket = request.socket as TLSSocket;
  const certificate = socket.authorized ? socket.getPeerX509Certificate()?.raw : undefined;
  return { authorization: request.headers.authorization, certificate };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY)
      throw new Problem(413, "BodyTooLarge", `a body may have at most ${LARGEST_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, "InvalidJSON", "the body is not JSON");
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error instanceof Problem) return cause instanceof Error ? cause.message : error.message;
  return error.stack ?? error.message;
}
