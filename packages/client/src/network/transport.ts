import { type Clock, type Duration, milliseconds, systemClock } from "@windlass/clock";
import { abortable } from "../abortable.ts";
import type { Transport, TransportRequest, TransportResponse } from "../transport.ts";
import { AbortGroups } from "./abort-groups.ts";
import { type Destination, dialersFor, type TlsMaterial } from "./dial.ts";
import { Exchange, type ExchangeSettings } from "./exchange.ts";
import { Pool } from "./pool.ts";
import { proxyAuthorization } from "./proxy.ts";
import { requestHead } from "./request-head.ts";

/** Where the server is and how long to wait for it. */
export interface NetworkOptions {
  /** The server's URL. A path in it goes before every request's. */
  readonly server: string | URL;
  /**
   * What TLS needs, asked for before each request. Return the same object while nothing changed: a
   * new one gets connections of its own, and the old ones end as they become idle.
   */
  readonly tls?: () => TlsMaterial | Promise<TlsMaterial>;
  /** @default no proxy */
  readonly proxy?: URL;
  /** Until the connection is established, a proxy's tunnel and TLS included. @default "10s" */
  readonly connectTimeout?: Duration;
  /**
   * From then until the answer begins. Above the 60 s that an API server allows itself.
   *
   * @default "70s"
   */
  readonly headersTimeout?: Duration;
  /**
   * How long the body may then stay silent while it is being read, unless a request says otherwise.
   * @default "60s"
   */
  readonly idleTimeout?: Duration;
  /** Whether to ask for compressed answers. @default "gzip" */
  readonly compression?: "gzip" | "none";
  /** @default the system's */
  readonly clock?: Clock;
}

/**
 * HTTP/1.1 to one API server, over connections that are kept and used again. There is no limit to
 * how many are open at once: each watch holds one.
 *
 * Requests reject with `TransportError`, with what their guard threw, or with the signal's reason
 * when aborted.
 */
export function networkTransport(options: NetworkOptions): Transport {
  return new NetworkTransport(options);
}

const noTls: TlsMaterial = {};

class NetworkTransport implements Transport {
  readonly #tls: NonNullable<NetworkOptions["tls"]>;
  readonly #settings: ExchangeSettings;
  readonly #destination: Omit<Destination, "material">;
  /** What goes before the path of each request. */
  readonly #targetPrefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  #pools: Pools | undefined;
  #isClosed = false;

  constructor(options: NetworkOptions) {
    const server = new URL(options.server);
    const { proxy, compression = "gzip", clock = systemClock, tls = () => noTls } = options;
    const { connectTimeout = "10s", headersTimeout = "70s", idleTimeout = "60s" } = options;
    const prefix = server.pathname.replace(/\/+$/, "");
    const isWholeUrlAsked = proxy !== undefined && server.protocol === "http:";
    this.#tls = tls;
    this.#settings = {
      clock,
      timeouts: {
        connect: milliseconds(connectTimeout, "connectTimeout"),
        headers: milliseconds(headersTimeout, "headersTimeout"),
        idle: milliseconds(idleTimeout, "idleTimeout"),
      },
      described: server.origin + prefix,
      aborts: new AbortGroups(),
    };
    this.#destination = { server, ...(proxy ? { proxy } : {}) };
    this.#targetPrefix = (isWholeUrlAsked ? server.origin : "") + prefix;
    this.#headers = {
      host: server.host,
      ...(compression === "gzip" ? { "accept-encoding": "gzip" } : {}),
      ...(isWholeUrlAsked ? proxyAuthorization(proxy) : {}),
    };
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const given = this.#tls();
    const material = given instanceof Promise ? await abortable(given, request.signal) : given;
    request.signal?.throwIfAborted();
    const { method, path, headers, body } = request;
    const head = requestHead({
      method,
      target: this.#targetPrefix + path,
      headers: { ...this.#headers, ...headers },
      body,
    });
    const { guarded, others } = this.#poolsFor(material);
    return new Exchange(request, head, request.guard ? guarded : others, this.#settings).response;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pools?.retire();
  }

  /** Material that does not parse (half replaced, say) leaves the last pools in place. */
  #poolsFor(material: TlsMaterial): Pools {
    if (this.#pools?.material === material) return this.#pools;
    try {
      const next = new Pools({ ...this.#destination, material });
      this.#pools?.retire();
      this.#pools = next;
      if (this.#isClosed) next.retire();
    } catch (error) {
      if (!this.#pools) throw error;
      this.#pools.material = material;
    }
    return this.#pools;
  }
}

/** The connections with one set of credentials. */
class Pools {
  /** What they stand for: what they were made with, or came after that and does not parse. */
  material: TlsMaterial;
  readonly guarded: Pool;
  readonly others: Pool;

  /** @throws TransportError with code TLS_MATERIAL_INVALID. */
  constructor(destination: Destination) {
    this.material = destination.material;
    const { resettable, direct } = dialersFor(destination);
    this.guarded = new Pool(resettable);
    this.others = direct === resettable ? this.guarded : new Pool(direct);
  }

  retire(): void {
    this.guarded.retire();
    this.others.retire();
  }
}
