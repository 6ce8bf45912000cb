import type { TLSSocket } from "node:tls";
import { type Clock, milliseconds } from "@windlass/clock";
import { countActiveBuilds, HistoryError, pruneCache } from "../buildkitd/history.ts";
import { gatewayClientCertificate, trustBundle, workerServerName } from "../certificates/index.ts";
import type { CredentialStore } from "../credentials.ts";
import { DialError, WorkerDialer } from "../gateway/dialer.ts";
import { workerPort } from "../names.ts";
import type { Pool } from "../pool/pool.ts";
import type { SecretClient } from "../secret-data.ts";
import type { BuildsSeen } from "./machine.ts";

/** What is needed to ask a worker. */
export interface ProbeInit {
  readonly pool: Pool;
  readonly worker: { readonly namespace: string; readonly name: string };
  readonly ip: string;
  readonly client: SecretClient;
  readonly signal: AbortSignal;
}

/** Speaks to workers. */
export interface BuildProbe {
  /** Never throws for a worker that does not answer: that is an answer too. */
  builds(init: ProbeInit): Promise<BuildsSeen>;
  /** Empties a worker's cache. False if it did not answer, or not in time. */
  prune(init: ProbeInit): Promise<boolean>;
}

const TIMEOUT_MS = 5_000;
const PRUNE_MS = 60_000;
const CERTIFICATE_MS = milliseconds("24h", "probe: certificate");

/** Asks buildkitd itself, as a gateway of its pool would. */
export class DaemonProbe implements BuildProbe {
  readonly #credentials: CredentialStore;
  readonly #clock: Clock;
  /** By pool, until half of its certificate's life is over. */
  readonly #dialers = new Map<string, { readonly until: number; readonly dialer: WorkerDialer }>();

  constructor(credentials: CredentialStore, clock: Clock) {
    this.#credentials = credentials;
    this.#clock = clock;
  }

  async builds(init: ProbeInit): Promise<BuildsSeen> {
    const count = await this.#asked(init, TIMEOUT_MS, countActiveBuilds);
    return count === undefined ? { is: "silent" } : { is: "known", count };
  }

  async prune(init: ProbeInit): Promise<boolean> {
    return (await this.#asked(init, PRUNE_MS, pruneCache)) !== undefined;
  }

  /** Undefined if it does not answer. */
  async #asked<T>(
    { pool, worker, ip, client, signal }: ProbeInit,
    withinMs: number,
    ask: (socket: TLSSocket, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const dialer = await this.#dialer(pool, client);
    const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    const address = { name: worker.name, host: ip, port: workerPort, serverName: workerServerName(worker) };
    try {
      return await ask(await dialer.dial(address, TIMEOUT_MS, within), within);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DialError || error instanceof HistoryError || within.aborted) return undefined;
      throw error;
    }
  }

  async #dialer(pool: Pool, client: SecretClient): Promise<WorkerDialer> {
    const ring = await this.#credentials.workerAuthorities(client, pool);
    const trust = trustBundle(ring);
    const key = `${pool.metadata.uid} ${trust}`;
    const now = this.#clock.now();
    const known = this.#dialers.get(key);
    if (known && now < known.until) return known.dialer;
    for (const [other, { until }] of this.#dialers) if (now >= until) this.#dialers.delete(other);
    const pair = gatewayClientCertificate(this.#credentials.signer(ring, "workers"), {
      pool: pool.metadata,
      validFor: CERTIFICATE_MS,
    });
    const dialer = new WorkerDialer({ pair, trust }, this.#clock);
    this.#dialers.set(key, { until: now + CERTIFICATE_MS / 2, dialer });
    return dialer;
  }
}
