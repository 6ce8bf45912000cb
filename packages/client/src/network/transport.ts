import { constants, createGunzip, type Gunzip } from "node:zlib";
import { type Clock, systemClock } from "@windlass/clock";
import { abortable } from "../abortable.ts";
import { TransportError } from "../errors.ts";
import type { Transport, TransportRequest, TransportResponse } from "../transport.ts";
import { ResponseBody } from "./body.ts";
import type { Channel, ChannelUser } from "./channel.ts";
import { failureFrom } from "./failure.ts";
import { Pool, type TlsMaterial } from "./pool.ts";
import { proxyAuthorization } from "./proxy.ts";
import { requestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-parser.ts";

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
      const next = new Pool({
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

  const prefix = server.pathname.replace(/\/+$/, "");
  const isWholeUrlAsked = options.proxy !== undefined && server.protocol === "http:";
  const fixedHeaders = {
    host: server.host,
    ...(compression === "gzip" ? { "accept-encoding": "gzip" } : {}),
    ...(options.proxy && isWholeUrlAsked ? proxyAuthorization(options.proxy) : {}),
  };
  const settings: ExchangeSettings = {
    clock,
    timeouts,
    described: server.origin + prefix,
    head: (request) =>
      requestHead({
        method: request.method,
        target: (isWholeUrlAsked ? server.origin : "") + prefix + request.path,
        headers: { ...fixedHeaders, ...request.headers },
        body: request.body,
      }),
  };

  return {
    async request(request) {
      const current = await abortable(currentPool(), request.signal);
      request.signal?.throwIfAborted();
      return new Exchange(request, current, settings).response;
    },
    async close() {
      pool?.retire();
    },
  };
}

interface ExchangeSettings {
  readonly clock: Clock;
  readonly timeouts: { readonly connect: number; readonly headers: number };
  /** The server's URL, for messages. */
  readonly described: string;
  /** What is sent before the body. @throws TypeError for headers that cannot be sent. */
  readonly head: (request: TransportRequest) => string;
}

/** One request and its answer, from the first byte sent to the last one read. */
class Exchange implements ChannelUser {
  readonly response: Promise<TransportResponse>;
  readonly #answered = Promise.withResolvers<TransportResponse>();
  readonly #request: TransportRequest;
  readonly #settings: ExchangeSettings;
  readonly #onAbort = () => this.#stop(this.#request.signal?.reason);
  #channel: Channel | undefined;
  #connected = false;
  #isOver = false;
  #body: ResponseBody | undefined;
  #gunzip: Gunzip | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(request: TransportRequest, pool: Pool, settings: ExchangeSettings) {
    this.#request = request;
    this.#settings = settings;
    this.response = this.#answered.promise;
    const head = settings.head(request);
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
    const idle = pool.take();
    if (idle) this.#send(idle, head);
    else this.#connect(pool, head);
  }

  #connect(pool: Pool, head: string): void {
    const { connect } = this.#settings.timeouts;
    this.#arm(connect, "TIMEOUT_CONNECT", `no connection within ${connect} ms`);
    const opening = pool.open();
    if (opening instanceof Promise)
      opening.then(
        (channel) => (this.#isOver ? channel.destroy() : this.#send(channel, head)),
        (error: unknown) => this.failed(error),
      );
    else this.#send(opening, head);
  }

  head(head: ResponseHead): void {
    this.#cancelTimer();
    const encoding = head.headers["content-encoding"];
    const isPacked = encoding === "gzip";
    const { idleTimeoutMs, borrowsChunks = false } = this.#request;
    const body = new ResponseBody({
      length: isPacked ? undefined : head.length,
      borrowed: borrowsChunks,
      onWait: () => {
        if (idleTimeoutMs !== undefined)
          this.#arm(
            idleTimeoutMs,
            "TIMEOUT_IDLE",
            `nothing came for ${idleTimeoutMs} ms; the peer counts as dead`,
          );
      },
      onArrival: () => this.#cancelTimer(),
      onRoom: () => {
        if (this.#gunzip) this.#gunzip.resume();
        else this.#channel?.resume();
      },
      onLeave: () => this.#leave(),
    });
    this.#body = body;
    if (isPacked) this.#gunzip = this.#unpackInto(body);
    this.#answered.resolve({ status: head.status, headers: head.headers, body });
  }

  body(bytes: Buffer, start: number, end: number): boolean {
    if (this.#gunzip) return this.#gunzip.write(Buffer.from(bytes.subarray(start, end)));
    return this.#body?.push(bytes, start, end) ?? true;
  }

  end(): void {
    if (this.#gunzip) this.#gunzip.end();
    else this.#finish((body) => body.end());
  }

  failed(error: unknown): void {
    this.#stop(this.#explain(error));
  }

  #send(channel: Channel, head: string): void {
    this.#channel = channel;
    channel.use(this, () => {
      this.#connected = true;
      this.#cancelTimer();
      const { headers } = this.#settings.timeouts;
      this.#arm(headers, "TIMEOUT_HEADERS", `connected, but no answer within ${headers} ms`);
      channel.send(head, this.#request.body);
    });
  }

  /** Gives what it has after every write, and goes on after the end of a gzip member: servers write one per flush. */
  #unpackInto(body: ResponseBody): Gunzip {
    const gunzip = createGunzip({ flush: constants.Z_SYNC_FLUSH, chunkSize: 64 * 1024 });
    gunzip.on("data", (chunk: Buffer) => {
      if (!body.push(chunk, 0, chunk.length)) gunzip.pause();
    });
    gunzip.on("drain", () => this.#channel?.resume());
    gunzip.on("end", () => this.#finish(() => body.end()));
    gunzip.on("error", (error) => this.failed(error));
    return gunzip;
  }

  /** Ends the request with an error, for whoever waits for the answer or reads it. */
  #stop(error: unknown): void {
    this.#leave();
    this.#answered.reject(error);
    this.#body?.fail(error);
  }

  /** Ends the request, as nobody wants more of it. */
  #leave(): void {
    if (this.#isOver) return;
    this.#channel?.destroy();
    this.#gunzip?.destroy();
    this.#finish(() => undefined);
  }

  #finish(tell: (body: ResponseBody) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelTimer();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    if (this.#body) tell(this.#body);
  }

  #arm(ms: number, code: "TIMEOUT_CONNECT" | "TIMEOUT_HEADERS" | "TIMEOUT_IDLE", says: string): void {
    this.#cancelTimer = this.#settings.clock.schedule(ms, () =>
      this.#stop(
        new TransportError(code, `${this.#described}: ${says}`, { mayHaveBeenSent: this.#connected }),
      ),
    );
  }

  #explain(error: unknown): unknown {
    const { signal } = this.#request;
    if (signal?.aborted) return signal.reason;
    return failureFrom(error, { request: this.#described, connected: this.#connected });
  }

  get #described(): string {
    const { method, path } = this.#request;
    return `${method} ${this.#settings.described}${path.split("?", 1)[0]}`;
  }
}
