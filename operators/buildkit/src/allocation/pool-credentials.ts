import type { Authority } from "@windlass/certificates";
import { isNotFound, type Reader } from "@windlass/client";
import { type Clock, systemClock } from "@windlass/clock";
import { Secret } from "@windlass/runtime/kinds";
import { readAuthorities, signingAuthority, trustBundle } from "../certificates/index.ts";
import { clusterSecrets, poolNames } from "../names.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { type Keyring, keyringDataKey, readKeyring } from "../tokens/index.ts";
import { AllocationError } from "./errors.ts";

/** Where keys and certificates are read from. */
export interface PoolCredentialsOptions {
  readonly client: Pick<Reader, "get">;
  /** The operator's own, which has the cluster's keys and authorities. */
  readonly namespace: string;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/**
 * The key of a pool's TLS Secret that has what clients are to trust; where it is missing, `ca.crt`
 * has it.
 */
const serverTrustKey = "server-ca.crt";

/**
 * How long what was read counts. Keys and authorities sign only once they have settled, which takes
 * far longer: no replica signs with one that others do not know.
 */
const FRESH_MS = 15_000;

/** What tokens and certificates are made with. Read when needed, and kept for a moment. */
export class PoolCredentials {
  readonly #options: PoolCredentialsOptions;
  readonly #clock: Clock;
  readonly #read = new Map<string, { readonly value: Promise<unknown>; readonly until: number }>();

  constructor(options: PoolCredentialsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * The keys that the pool's gateways have: those of the pool's own Secret. A key that the
   * controller has not brought there yet signs nothing, however old it is.
   *
   * @throws AllocationError `CredentialsUnavailable`.
   */
  async keyring(pool: PoolName): Promise<Keyring> {
    return await this.#kept(`keys of ${poolText(pool)}`, async () => {
      const data = await this.#secret(pool.namespace, poolNames(pool.name).tokenKeysSecret);
      return readKeyring(data[keyringDataKey] ?? "");
    });
  }

  /** Who signs what clients show. @throws AllocationError `CredentialsUnavailable`. */
  async clientAuthority(): Promise<Authority> {
    return await this.#kept("client authority", async () => {
      const ring = readAuthorities(await this.#cluster(clusterSecrets.clientAuthorities));
      const authority = signingAuthority(ring, this.#clock);
      if (!authority) throw new Error("none of them may sign");
      return authority;
    });
  }

  /**
   * Whose certificates the API takes from clients: a PEM bundle.
   *
   * @throws AllocationError `CredentialsUnavailable`.
   */
  async clientTrust(): Promise<string> {
    return await this.#kept("client trust", async () =>
      trustBundle(readAuthorities(await this.#cluster(clusterSecrets.clientAuthorities))),
    );
  }

  /**
   * What clients of a pool have to trust to know its gateway: a PEM bundle.
   *
   * @throws AllocationError `CredentialsUnavailable`.
   */
  async serverTrust(pool: PoolName): Promise<string> {
    return await this.#kept(`trust of ${poolText(pool)}`, async () => {
      const data = await this.#secret(pool.namespace, poolNames(pool.name).tlsSecret);
      const bundle = data[serverTrustKey] ?? data["ca.crt"];
      if (bundle === undefined) throw new Error(`there is neither ${serverTrustKey} nor ca.crt`);
      return bundle;
    });
  }

  #cluster(name: string): Promise<Readonly<Record<string, string>>> {
    return this.#secret(this.#options.namespace, name);
  }

  async #secret(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
    try {
      const { data = {} } = await this.#options.client.get(Secret, { namespace, name });
      return Object.fromEntries(
        Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
      );
    } catch (error) {
      if (isNotFound(error))
        throw new Error(`Secret ${namespace}/${name} does not exist yet`, { cause: error });
      throw error;
    }
  }

  async #kept<T>(what: string, read: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const known = this.#read.get(what);
    if (known && now < known.until) return (await known.value) as T;
    const value = read().catch((cause: unknown) => {
      this.#read.delete(what);
      const message = cause instanceof Error ? cause.message : String(cause);
      throw new AllocationError("CredentialsUnavailable", `the ${what} cannot be read: ${message}`, {
        cause,
        retryAfterSeconds: 5,
      });
    });
    this.#read.set(what, { value, until: now + FRESH_MS });
    return await value;
  }
}
