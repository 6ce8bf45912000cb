import type { Authority } from "@windlass/certificates";
import type { Clock, Random } from "@windlass/clock";
import { controllerReference, ReconcileError } from "@windlass/runtime";
import {
  type AuthorityRing,
  addAuthority,
  authorityStep,
  neededAuthorities,
  readAuthorities,
  signingAuthority,
  writeAuthorities,
} from "./certificates/index.ts";
import { clusterSecrets, poolLabel, poolNames } from "./names.ts";
import { BuildKitPool, type Pool } from "./pool/pool.ts";
import { keptValue, type SecretClient } from "./secret-data.ts";
import {
  addKey,
  type Keyring,
  keyringDataKey,
  keyringStep,
  neededKeys,
  readKeyring,
  writeKeyring,
} from "./tokens/index.ts";

/** The label of all that the operator makes. */
export const managedByLabel = { "app.kubernetes.io/managed-by": "buildkit-operator" } as const;

/** What credentials are kept with. */
export interface CredentialStoreOptions {
  /** Where the Secrets of the whole cluster are. */
  readonly operatorNamespace: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * How long a ring that was read is treated as the current one. New signers wait for longer than
 * that before they sign.
 */
const FRESH_MS = 30_000;

/**
 * The signers of the cluster and of its pools, kept in Secrets: made when they are first asked for,
 * and rotated in time. A Secret that cannot be read is an error, never replaced.
 */
export class CredentialStore {
  readonly #options: CredentialStoreOptions;
  readonly #fresh = new Map<string, { readonly at: number; readonly value: Promise<unknown> }>();

  constructor(options: CredentialStoreOptions) {
    this.#options = options;
  }

  /**
   * The authorities that sign what clients and gateways show each other. One ring for all pools:
   * tokens tell those apart.
   */
  clientAuthorities(client: SecretClient): Promise<AuthorityRing> {
    const { operatorNamespace: namespace } = this.#options;
    const name = clusterSecrets.clientAuthorities;
    return this.#recent(name, () => this.#ring(client, { namespace, name }, "BuildKit CA"));
  }

  /**
   * The authorities that sign what gateways and workers of a pool show each other. No other pool's
   * count there.
   */
  workerAuthorities(client: SecretClient, pool: Pool): Promise<AuthorityRing> {
    const { namespace, name } = pool.metadata;
    const key = { namespace, name: poolNames(name).workerAuthoritiesSecret };
    return this.#recent(`${pool.metadata.uid} ${key.name}`, () =>
      this.#ring(client, key, `BuildKit workers of ${namespace}/${name}`.slice(0, 64), pool),
    );
  }

  /** The keys that all pools' token keys are derived from. */
  tokenKeys(client: SecretClient): Promise<Keyring> {
    const { operatorNamespace: namespace, clock, random } = this.#options;
    const name = clusterSecrets.tokenKeys;
    return this.#recent(name, () =>
      keptValue<Keyring>(client, {
        key: { namespace, name },
        labels: managedByLabel,
        read: (data) => readKeyring(data[keyringDataKey] ?? ""),
        write: (ring) => ({ [keyringDataKey]: writeKeyring(ring) }),
        advance: (present = []) => {
          const step = keyringStep(present, clock.now());
          if (step.do === "wait") return present;
          return step.do === "add" ? addKey(present, clock.now(), random) : neededKeys(present, clock.now());
        },
      }),
    );
  }

  /** The authority of a ring that signs now. @throws ReconcileError if there is none. */
  signer(ring: AuthorityRing, what: string): Authority {
    const authority = signingAuthority(ring, this.#options.clock);
    if (!authority) throw new ReconcileError("NoAuthority", `no authority of ${what} can sign`);
    return authority;
  }

  #ring(
    client: SecretClient,
    key: { readonly namespace: string; readonly name: string },
    commonName: string,
    pool?: Pool,
  ): Promise<AuthorityRing> {
    const { clock } = this.#options;
    return keptValue<AuthorityRing>(client, {
      key,
      labels: { ...managedByLabel, ...(pool && { [poolLabel]: pool.metadata.name }) },
      ...(pool && { owner: controllerReference(BuildKitPool, pool) }),
      read: readAuthorities,
      write: writeAuthorities,
      advance: (present = []) => {
        const step = authorityStep(present, clock.now());
        if (step.do === "wait") return present;
        return step.do === "add"
          ? addAuthority(present, commonName, clock)
          : neededAuthorities(present, clock.now());
      },
    });
  }

  #recent<T>(key: string, read: () => Promise<T>): Promise<T> {
    const now = this.#options.clock.monotonic();
    const known = this.#fresh.get(key);
    if (known && now < known.at + FRESH_MS) return known.value as Promise<T>;
    for (const [other, { at }] of this.#fresh) if (now >= at + FRESH_MS) this.#fresh.delete(other);
    const value = read();
    this.#fresh.set(key, { at: now, value });
    // What failed is not kept: the next caller asks again.
    value.catch(() => this.#fresh.delete(key));
    return value;
  }
}
