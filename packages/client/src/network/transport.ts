import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions } from "node:http";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { constants, createGunzip } from "node:zlib";
import { type Clock, systemClock } from "@windlass/clock";
import { abortable } from "../abortable.ts";
import { TransportError } from "../errors.ts";
import type { Transport, TransportRequest, TransportResponse } from "../transport.ts";
import { openPool, type Pool, TCP_KEEPALIVE_MS, type TlsMaterial } from "./agent.ts";
import { BodyChunks } from "./body.ts";
import { failureFrom } from "./failure.ts";
import { http, https } from "./http.ts";
import { hostOf, portOf, proxyAuthorization } from "./proxy.ts";

/** Where the server is and how long to wait for it. */
export interface NetworkOptions {
  /** The server's URL. A path in it goes before every request's. */
  readonly server: string | URL;
  /**
   * What TLS needs, asked for before each request. Return the same object while nothing changed: a new one gets
   * connections of its own, and the old ones end as they become idle.
   */
  readonly tls?: () => TlsMaterial | Promise<TlsMaterial>;
  /** @default no proxy */
  readonly proxy?: URL;
  /** Until the connection stands, TLS included. @default 10,000 */
  readonly connectTimeoutMs?: number;
  /** From then until the answer begins. Above the 60 s that an API server allows itself. @default 70,000 */
  readonly headersTimeoutMs?: number;
  /** Whether to ask for compressed answers. @default "gzip" */
  readonly compression?: "gzip" | "none";
  /** @default the system's */
  readonly clock?: Clock;
}

const noTls: TlsMaterial = {};

/**
 * HTTP/1.1 to one API server, over connections that are kept and used again. There is no limit to how many are open at
 * once: each watch holds one.
 *
 * Requests reject with `TransportError`, or with the signal's reason when aborted.
 */
export function networkTransport(options: NetworkOptions): Transport {
  const server = new URL(options.server);
  const clock = options.clock ?? systemClock;
  const timeouts = {
    connect: options.connectTimeoutMs ?? 10_000,
    headers: options.headersTimeoutMs ?? 70_000,
  };
  const compression = options.compression ?? "gzip";
  let pool: Pool | undefined;
  let material: TlsMaterial | undefined;

  /** The pool for the material of now. Material that does not parse (half replaced, say) leaves the last pool in place. */
  const currentPool = async (): Promise<Pool> => {
    const current = options.tls ? await options.tls() : noTls;
    if (pool && current === material) return pool;
    try {
      const { proxy } = options;
      const next = openPool({
        server,
        material: current,
        connectTimeoutMs: timeouts.connect,
        ...(proxy ? { proxy } : {}),
      });
      pool?.retire();
      pool = next;
    } catch (error) {
      if (!pool) throw error;
    }
    material = current;
    return pool;
  };

  return {
    async request(request) {
      const { agent } = await abortable(currentPool(), request.signal);
      request.signal?.throwIfAborted();
      const target = addressOf(server, request, options.proxy);
      return new Exchange(request, { ...target, agent }, { server, clock, timeouts, compression }).response;
    },
    async close() {
      pool?.retire();
    },
  };
}

function addressOf(server: URL, request: TransportRequest, proxy: URL | undefined): RequestOptions {
  const prefix = server.pathname.replace(/\/+$/, "");
  const path = prefix + request.path;
  if (proxy && server.protocol === "http:")
    return {
      host: hostOf(proxy),
      port: portOf(proxy),
      path: server.origin + path,
      headers: { ...request.headers, host: server.host, ...proxyAuthorization(proxy) },
    };
  return {
    host: hostOf(server),
    port: portOf(server),
    path,
    headers: { ...request.headers, host: server.host },
  };
}

interface ExchangeSettings {
  readonly server: URL;
  readonly clock: Clock;
  readonly timeouts: { readonly connect: number; readonly headers: number };
  readonly compression: "gzip" | "none";
}

/** One request and its answer, from the first byte sent to the last one read. */
class Exchange {
  readonly response: Promise<TransportResponse>;
  readonly #request: TransportRequest;
  readonly #settings: ExchangeSettings;
  readonly #outgoing: ClientRequest;
  readonly #onAbort = () => this.#destroy(new Error("aborted"));
  #body: Readable | undefined;
  #connected = false;
  #cancelTimer: () => void;

  constructor(request: TransportRequest, target: RequestOptions, settings: ExchangeSettings) {
    this.#request = request;
    this.#settings = settings;
    const { server, timeouts, clock, compression } = settings;
    this.#outgoing = (server.protocol === "https:" ? https : http).request({
      ...target,
      method: request.method,
      headers: {
        ...(compression === "gzip" ? { "accept-encoding": "gzip" } : {}),
        ...(target.headers as OutgoingHttpHeaders),
        // Node adds a length to POST, PUT and PATCH, but sends the body of a DELETE without one.
        ...(request.body === undefined ? {} : { "content-length": Buffer.byteLength(request.body) }),
      },
    });
    this.#cancelTimer = clock.schedule(timeouts.connect, () =>
      this.#destroy(this.#timeout("TIMEOUT_CONNECT", `no connection within ${timeouts.connect} ms`)),
    );
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.response = this.#exchange();
  }

  async #exchange(): Promise<TransportResponse> {
    try {
      const incoming = await this.#headers();
      const encoding = incoming.headers["content-encoding"];
      this.#body = encoding === "gzip" ? gunzip(incoming) : incoming;
      // An error may come before anybody reads. It is kept by the stream, and thrown when someone does.
      this.#body.on("error", () => this.#finish());
      return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: this.#read(this.#body) };
    } catch (error) {
      this.#finish();
      throw this.#explain(error);
    }
  }

  #headers(): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = this.#outgoing;
    outgoing.once("socket", (socket) => {
      if (outgoing.reusedSocket) return this.#onConnected();
      socket.setKeepAlive(true, TCP_KEEPALIVE_MS);
      if (!socket.connecting && !(socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting)
        return this.#onConnected();
      socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.#onConnected());
    });
    outgoing.once("response", (incoming) => {
      this.#cancelTimer();
      resolve(incoming);
    });
    // Stays on: an error after the answer began also destroys the answer, which is where it is reported.
    outgoing.on("error", reject);
    outgoing.end(this.#request.body);
    return promise;
  }

  #onConnected(): void {
    this.#connected = true;
    this.#cancelTimer();
    const { clock, timeouts } = this.#settings;
    this.#cancelTimer = clock.schedule(timeouts.headers, () =>
      this.#destroy(
        this.#timeout("TIMEOUT_HEADERS", `connected, but no answer within ${timeouts.headers} ms`),
      ),
    );
  }

  #read(body: Readable): BodyChunks {
    const { idleTimeoutMs } = this.#request;
    return new BodyChunks(body, {
      onWait: () => {
        if (idleTimeoutMs !== undefined) this.#armIdleTimer(idleTimeoutMs);
      },
      onArrival: () => this.#cancelTimer(),
      onFinish: () => this.#finish(),
      explain: (error) => this.#explain(error),
    });
  }

  #armIdleTimer(idleTimeoutMs: number): void {
    this.#cancelTimer = this.#settings.clock.schedule(idleTimeoutMs, () =>
      this.#destroy(
        this.#timeout("TIMEOUT_IDLE", `nothing came for ${idleTimeoutMs} ms; the peer counts as dead`),
      ),
    );
  }

  #finish(): void {
    this.#cancelTimer();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #destroy(error: Error): void {
    this.#body?.destroy(error);
    this.#outgoing.destroy(error);
  }

  #timeout(code: "TIMEOUT_CONNECT" | "TIMEOUT_HEADERS" | "TIMEOUT_IDLE", says: string): TransportError {
    return new TransportError(code, `${this.#described}: ${says}`, { mayHaveBeenSent: this.#connected });
  }

  #explain(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    return failureFrom(error, { request: this.#described, connected: this.#connected });
  }

  get #described(): string {
    const { method, path } = this.#request;
    const { origin, pathname } = this.#settings.server;
    return `${method} ${origin}${pathname.replace(/\/+$/, "")}${path.split("?", 1)[0]}`;
  }
}

/** Gives what it has after every write, and goes on after the end of a gzip member: servers write one per flush. */
function gunzip(incoming: IncomingMessage): Readable {
  const plain = createGunzip({ flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
  incoming.once("error", (error) => plain.destroy(error));
  plain.once("close", () => incoming.destroy());
  return incoming.pipe(plain);
}
