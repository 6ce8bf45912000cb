import type { TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { type Clock, type Duration, milliseconds, sleep, systemClock } from "@windlass/clock";
import { type Outcome, RelayGroup } from "@windlass/relay";
import { type Logger, Registry, silentLogger } from "@windlass/runtime";
import type { PoolName } from "../pool-name.ts";
import type { AllocationHash } from "../tokens/index.ts";
import { admit, shownBy } from "./admission.ts";
import { answerRefusal } from "./answer.ts";
import { bufferBytesFor, connectionsThatFit } from "./capacity.ts";
import { checkCredentials, type GatewayCredentials } from "./credentials.ts";
import { WorkerDialer } from "./dialer.ts";
import { ClientListener } from "./listener.ts";
import type { WorkerAddress, WorkerLookup } from "./lookup.ts";
import { type GatewayMetrics, gatewayMetrics } from "./metrics.ts";
import { type LastWords, OpenCalls } from "./open-calls.ts";
import { type Reached, type ReachedWorker, WorkerReach } from "./reach.ts";
import { type Refusal, shuttingDown, workerLost } from "./refusal.ts";
import { endOf } from "./setup.ts";
import { ConnectionSlots } from "./slots.ts";

/** How many connections are taken, and how long things may take. */
export interface GatewayLimits {
  /** For a TLS handshake. @default "10s" */
  readonly handshake?: Duration;
  /**
   * For a worker that is still starting. gRPC clients give a connection 20 s in all.
   *
   * @default "15s"
   */
  readonly hold?: Duration;
  /** For the gateway to learn of an allocation that has just been granted. @default "3s" */
  readonly lookupLag?: Duration;
  /** For a worker that is ready to be reached, attempt after attempt. @default "3s" */
  readonly reach?: Duration;
  /** For one attempt to reach a worker. @default "5s" */
  readonly dial?: Duration;
  /**
   * Without a byte either way. Builds are silent for as long as their longest step.
   *
   * @default Infinity
   */
  readonly idle?: Duration;
  /**
   * Of clients that are admitted.
   *
   * @default as many as fit into the memory of its container, at most 10_000
   */
  readonly connections?: number;
  /** Of one allocation. @default 200 */
  readonly connectionsPerAllocation?: number;
  /**
   * Of those who are not admitted yet, or are being refused: the oldest goes for the next.
   *
   * @default 500
   */
  readonly unknownClients?: number;
}

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly pool: PoolName;
  readonly lookup: WorkerLookup;
  readonly credentials: GatewayCredentials;
  /** 0 picks a free one. @default 1235 */
  readonly port?: number;
  /** @default all interfaces */
  readonly host?: string;
  readonly limits?: GatewayLimits;
  /** @default one of its own */
  readonly metrics?: Registry;
  /** @default nothing is logged */
  readonly log?: Logger;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** How a gateway leaves. */
export interface GatewayDrain {
  /** How long connections are still taken, until every node sends them elsewhere. @default "5s" */
  readonly acceptFor?: Duration;
  /** How long live connections may go on after that. @default "1h" */
  readonly within?: Duration;
}

/** Between two attempts to reach the same worker. */
const RETRY_MS = 250;

/**
 * The way into a pool: takes TLS connections from build clients, finds out by the token in the
 * client's certificate which worker is theirs, and passes bytes on.
 *
 * - It decides by itself: tokens are verified, and workers found, without asking anyone.
 * - A connection goes to one worker for as long as it lives. Its token's expiry ends no connection;
 *   a revocation does, and so does the loss of the worker.
 * - A client that is refused gets a gRPC status with the reason. So do the open calls of one that
 *   loses its worker, unless a frame is half sent.
 */
export class Gateway implements AsyncDisposable {
  readonly #options: GatewayOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #metrics: GatewayMetrics;
  readonly #listener: ClientListener;
  readonly #reach: WorkerReach;
  readonly #relays: RelayGroup<AllocationHash>;
  readonly #slots: ConnectionSlots;
  /** How many connections there may be. */
  readonly #most: number;
  readonly #idleMs: number;
  /** Clients that are not passed on yet, or are being refused. */
  readonly #waiting = new Set<TLSSocket>();
  readonly #unsubscribe: () => void;
  #credentials: GatewayCredentials;
  #serverEnd: number;
  /** What was wrong with the credentials that were read last, so that it is logged once. */
  #reloadFault: string | undefined;
  #state: "open" | "draining" = "open";
  #port = 0;

  /**
   * @throws CredentialsError for credentials that cannot be used; Error if the port cannot be had.
   */
  static async start(options: GatewayOptions): Promise<Gateway> {
    const gateway = new Gateway(options);
    gateway.#port = await gateway.#listener.listen({ port: options.port ?? 1235, host: options.host });
    return gateway;
  }

  private constructor(options: GatewayOptions) {
    const { pool, lookup, credentials, limits = {} } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLogger;
    this.#metrics = gatewayMetrics(options.metrics ?? new Registry(), pool);
    this.#idleMs = milliseconds(limits.idle ?? Number.POSITIVE_INFINITY, "gateway: limits.idle");
    this.#relays = new RelayGroup({ clock: this.#clock });
    this.#most = limits.connections ?? connectionsThatFit(process.constrainedMemory());
    this.#slots = new ConnectionSlots(this.#most, limits.connectionsPerAllocation ?? 200);
    this.#credentials = credentials;
    this.#serverEnd = this.#check(credentials);
    this.#listener = new ClientListener({
      credentials: credentials.clients,
      handshakeMs: milliseconds(limits.handshake ?? "10s", "gateway: limits.handshake"),
      unknownClients: limits.unknownClients ?? 500,
      onClient: (client) => this.#take(client),
      onCrowdedOut: () => this.#metrics.counted("crowded_out"),
      onFailure: (status, error) => {
        this.#metrics.counted(status);
        this.#log.debug({ status, error: error.message }, "a TLS handshake failed");
      },
    });
    this.#reach = new WorkerReach(lookup, new WorkerDialer(credentials.workers, this.#clock), this.#clock, {
      holdMs: milliseconds(limits.hold ?? "15s", "gateway: limits.hold"),
      lookupLagMs: milliseconds(limits.lookupLag ?? "3s", "gateway: limits.lookupLag"),
      reachMs: milliseconds(limits.reach ?? "3s", "gateway: limits.reach"),
      dialMs: milliseconds(limits.dial ?? "5s", "gateway: limits.dial"),
      retryMs: RETRY_MS,
    });
    this.#unsubscribe = lookup.onChange((allocation) => {
      this.#reach.routeChanged(allocation);
      this.#cutIfOver(allocation);
    });
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#port;
  }

  /** How many connections are passed on at this moment. */
  get connections(): number {
    return this.#relays.size;
  }

  /** Why it should be sent no connections; undefined if it should. */
  fault(): string | undefined {
    if (this.#state !== "open") return "shutting down";
    if (this.#clock.now() > this.#serverEnd)
      return `the certificate for clients ended at ${new Date(this.#serverEnd).toISOString()}`;
    return this.#options.lookup.fault();
  }

  /**
   * Has new connections use other credentials. Live ones go on as they are.
   *
   * @throws CredentialsError for credentials that cannot be used; those before stay in use.
   */
  use(credentials: GatewayCredentials): void {
    this.#serverEnd = this.#check(credentials);
    this.#listener.use(credentials.clients);
    this.#reach.use(new WorkerDialer(credentials.workers, this.#clock));
    this.#credentials = credentials;
  }

  /**
   * Reads credentials, and uses them if they are others than those in use. If that fails, those in
   * use stay, and the failure is logged and counted.
   */
  async reload(read: () => Promise<GatewayCredentials>): Promise<void> {
    try {
      const credentials = await read();
      if (!isDeepStrictEqual(credentials, this.#credentials)) {
        this.use(credentials);
        this.#metrics.reloaded("success");
        this.#log.info({}, "credentials were replaced");
      }
      this.#reloadFault = undefined;
    } catch (error) {
      this.#metrics.reloaded("error");
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#reloadFault)
        this.#log.error({ fault }, "credentials cannot be used; those before stay in use");
      this.#reloadFault = fault;
    }
  }

  /**
   * Leaves: is not ready from now on, soon takes no more connections, lets live ones end, and cuts
   * what is left at the deadline. Resolves when no connection is left. A second call may bring the
   * deadline forward.
   */
  async drain({ acceptFor = "5s", within = "1h" }: GatewayDrain = {}): Promise<void> {
    const acceptMs = milliseconds(acceptFor, "drain: acceptFor");
    const withinMs = milliseconds(within, "drain: within");
    this.#state = "draining";
    if (acceptMs > 0) await sleep(this.#clock, acceptMs);
    const closed = this.#listener.close();
    const cancel = this.#clock.schedule(withinMs, () => void this.#cutAll());
    await closed;
    cancel();
    // All clients are gone, so what is left of their relays ends by itself.
    await this.#relays.drain({ within, reason: new CutError(shuttingDown) });
    this.#unsubscribe();
  }

  /** Leaves at once, even with clients connected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#state = "draining";
    await Promise.all([this.#listener.close(), this.#cutAll()]);
    this.#unsubscribe();
  }

  #take(client: TLSSocket): void {
    this.#waiting.add(client);
    // The close that follows an error says all there is to say.
    client.on("error", () => client.destroy());
    client.once("close", () => this.#waiting.delete(client));
    this.#serve(client).catch((error: unknown) => {
      client.destroy();
      if (error instanceof ClientGoneError) this.#metrics.counted("client_gone");
      else this.#log.error({ error: String(error) }, "a connection could not be served");
    });
  }

  /** Resolves when the connection is over, or its client is being sent why it is not served. */
  async #serve(client: TLSSocket): Promise<void> {
    const { pool } = this.#options;
    const admission = admit(shownBy(client), { pool, keys: this.#credentials.keys, now: this.#clock.now() });
    if (admission.is === "refused") {
      this.#refuse(client, admission.refusal);
      return;
    }
    const { allocation } = admission;
    const slot = this.#slots.take(allocation);
    if (slot.is === "refused") {
      this.#refuse(client, slot.refusal);
      return;
    }
    this.#listener.known(client);
    try {
      const startedAt = this.#clock.monotonic();
      const reached = await this.#reachFor(client, allocation);
      if (reached.is === "refused") {
        this.#refuse(client, reached.refusal);
        return;
      }
      this.#waiting.delete(client);
      this.#metrics.began((this.#clock.monotonic() - startedAt) / 1_000);
      await this.#pass(allocation, client, reached);
    } finally {
      slot.release();
    }
  }

  /** @throws ClientGoneError if the client closes the connection meanwhile. */
  async #reachFor(client: TLSSocket, allocation: AllocationHash): Promise<Reached> {
    const gone = new AbortController();
    const onClose = () => gone.abort(new ClientGoneError());
    client.once("close", onClose);
    try {
      return await this.#reach.reach(allocation, gone.signal);
    } finally {
      client.off("close", onClose);
    }
  }

  async #pass(
    allocation: AllocationHash,
    client: TLSSocket,
    { worker, socket }: ReachedWorker,
  ): Promise<void> {
    const log = this.#log.child({ allocation: allocation.slice(0, 12), worker: worker.name });
    const from = `${client.remoteAddress}:${client.remotePort}`;
    const calls = new OpenCalls();
    const relay = this.#relays.join(allocation, client, socket, {
      idle: this.#idleMs,
      bufferBytes: bufferBytesFor(this.#relays.size, this.#most),
      inspect: (side, chunk) => {
        if (side === "upstream") calls.sawFromWorker(chunk);
        else calls.sawFromClient(chunk);
      },
      lastBytes: (to, why) => {
        // A client that has ended its side is leaving, and waits for no words.
        const canHear = to === "client" && !client.readableEnded;
        return canHear ? calls.lastBytes(wordsFor(why, worker)) : undefined;
      },
    });
    log.info({ from }, "a connection is passed on");
    const end = await relay.ended;
    const reason = endReason(end.outcome);
    const { fromClient, fromUpstream: fromWorker } = end;
    const seconds = end.durationMs / 1_000;
    this.#metrics.ended({ reason, seconds, fromClient, fromWorker });
    log.info({ from, reason, seconds, fromClient, fromWorker }, "a connection has ended");
  }

  #refuse(client: TLSSocket, refusal: Refusal): void {
    const { status, message } = refusal;
    this.#metrics.counted(status);
    this.#log.warn({ status, from: `${client.remoteAddress}:${client.remotePort}` }, message);
    answerRefusal(client, refusal, this.#clock);
  }

  /** Cuts the connections of an allocation that no longer counts. */
  #cutIfOver(allocation: AllocationHash): void {
    const refusal = endOf(this.#options.lookup.find(allocation));
    if (refusal) this.#relays.abort(allocation, new CutError(refusal));
  }

  async #cutAll(): Promise<void> {
    for (const client of this.#waiting) client.destroy();
    await this.#relays.drain({ within: 0, reason: new CutError(shuttingDown) });
  }

  /** @returns when the certificate for clients ends. @throws CredentialsError */
  #check(credentials: GatewayCredentials): number {
    const { serverEnd, workerClientEnd } = checkCredentials(credentials, this.#clock.now());
    this.#metrics.expires("server", serverEnd);
    this.#metrics.expires("worker-client", workerClientEnd);
    return serverEnd;
  }
}

/** A client closed its connection before its worker was reached. */
class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** Why live connections were cut. */
class CutError extends Error {
  override readonly name = "CutError";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** What a client receives when its connection ends though it has not ended it. */
function wordsFor(why: Outcome | { readonly how: "ended" }, worker: WorkerAddress): LastWords {
  if (why.how === "aborted" && why.reason instanceof CutError) return why.reason.refusal;
  if (why.how === "limit") return { code: "UNAVAILABLE", message: "the connection was idle for too long" };
  const error: NodeJS.ErrnoException | undefined = why.how === "lost" ? why.error : undefined;
  // A connection that breaks does not say whether the worker is gone for good: the next one finds
  // out.
  const { message } = workerLost(worker.name, error?.code ?? "it closed the connection");
  return { code: "UNAVAILABLE", message };
}

/** How a connection ended, as the metric says it. */
function endReason(outcome: Outcome): string {
  switch (outcome.how) {
    case "closed":
      return "closed";
    case "lost":
      return outcome.side === "client" ? "client_lost" : "worker_lost";
    case "limit":
      return outcome.limit;
    case "aborted":
      return outcome.reason instanceof CutError ? outcome.reason.refusal.status : "aborted";
  }
}
