import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect, type KeyPair } from "@windlass/certificates";
import { type Clock, sleep } from "@windlass/clock";
import type { Logger } from "@windlass/runtime";
import type { PoolCredentials } from "../allocation/index.ts";
import { checkPair } from "../certificates/index.ts";

/** What a server shows, and whose certificates it takes from clients. */
export interface ServingCredentials {
  readonly pair: KeyPair;
  /** PEM bundle. */
  readonly clientTrust: string;
}

/** Where a server's certificate comes from. */
export type CertificateSource =
  /** A mounted Secret with tls.crt and tls.key. */
  | { readonly from: "folder"; readonly folder: string }
  /**
   * Signed by the authority that signs the gateways' certificates too: clients need to trust
   * nothing else.
   */
  | {
      readonly from: "authority";
      readonly dnsNames: readonly string[];
      readonly ipAddresses?: readonly string[];
    };

/** What certificates are kept with. */
export interface ServingCertificateOptions {
  readonly source: CertificateSource;
  readonly credentials: Pick<PoolCredentials, "clientAuthority" | "clientTrust">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with each new one. */
  readonly use: (credentials: ServingCredentials) => void;
}

const LIFETIME_MS = 7 * 24 * 3_600_000;
const POLL_MS = 10_000;
/** The operator may be making the authority at this moment. */
const FIRST_POLL_MS = 250;

/**
 * Keeps a server's certificate up to date: takes the first one, and each that follows. One that
 * cannot be used leaves the one before in place.
 */
export class ServingCertificate {
  readonly #options: ServingCertificateOptions;
  #present: ServingCredentials | undefined;
  #fault: string | undefined;
  #issuer: string | undefined;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
  }

  /** Why there is none that can be used; undefined if there is one. */
  fault(): string | undefined {
    if (!this.#present) return this.#fault ?? "there is no certificate yet";
    const { notAfter } = inspect(this.#present.pair.certificate);
    return this.#options.clock.now() < notAfter ? undefined : "the certificate has expired";
  }

  /** Epoch milliseconds; undefined while there is none. */
  get expiresAt(): number | undefined {
    return this.#present ? inspect(this.#present.pair.certificate).notAfter : undefined;
  }

  /**
   * Takes what there is now, and follows it until the signal is aborted. Resolves once it has
   * looked for the first time.
   */
  async start(signal: AbortSignal): Promise<() => Promise<void>> {
    await this.#look();
    const following = this.#follow(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    return () => following;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#options;
    const changed = source.from === "folder" ? changesIn(source.folder, signal) : undefined;
    for (;;) {
      const slept = new AbortController();
      const waiting = sleep(
        clock,
        this.#present ? POLL_MS : FIRST_POLL_MS,
        AbortSignal.any([signal, slept.signal]),
      ).catch(() => undefined);
      await Promise.race([waiting, ...(changed ? [changed()] : [])]);
      slept.abort();
      signal.throwIfAborted();
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { log, use, credentials, clock } = this.#options;
    try {
      const found = { pair: await this.#pair(), clientTrust: await credentials.clientTrust() };
      const { pair, clientTrust } = this.#present ?? {};
      if (found.pair.certificate === pair?.certificate && found.clientTrust === clientTrust) return;
      checkPair(found.pair, "the certificate of the API", clock.now());
      use(found);
      this.#present = found;
      this.#fault = undefined;
      log.info(
        { until: new Date(this.expiresAt ?? 0).toISOString() },
        "the allocation API has a new certificate",
      );
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      if (fault !== this.#fault && this.#present)
        log.error({ error: fault }, "the allocation API's certificate cannot be used");
      else if (fault !== this.#fault)
        log.info({ reason: fault }, "the allocation API waits for its certificate");
      this.#fault = fault;
    }
  }

  async #pair(): Promise<KeyPair> {
    const { source, credentials, clock } = this.#options;
    if (source.from === "folder") {
      const read = (name: string) => readFile(join(source.folder, name), "utf8");
      return { certificate: await read("tls.crt"), key: await read("tls.key") };
    }
    const authority = await credentials.clientAuthority();
    const present = this.#present?.pair;
    const isDue = present === undefined || clock.now() >= inspect(present.certificate).renewAt;
    if (!isDue && this.#issuer === authority.certificate) return present;
    this.#issuer = authority.certificate;
    const [first = "buildkit-controller-api"] = source.dnsNames;
    return authority.issue({
      commonName: first.slice(0, 64),
      organizations: ["BuildKit API"],
      dnsNames: source.dnsNames,
      ipAddresses: source.ipAddresses ?? [],
      usages: ["server"],
      validFor: LIFETIME_MS,
    });
  }
}

/**
 * Resolves once something in a folder has changed since the last time: what changes while the
 * caller looks counts for the next look. Where folders cannot be watched, never.
 */
function changesIn(folder: string, signal: AbortSignal): () => Promise<void> {
  let change = Promise.withResolvers<void>();
  try {
    const watcher = watch(folder, { persistent: false, signal }, () => change.resolve());
    watcher.on("error", () => watcher.close());
  } catch {
    // The clock alone says when to look.
  }
  return async () => {
    await change.promise;
    change = Promise.withResolvers();
  };
}
