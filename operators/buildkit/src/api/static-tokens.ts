import { createHash, timingSafeEqual } from "node:crypto";
import { isForbidden, isNotFound, type Reader } from "@windlass/client";
import { type Clock, systemClock } from "@windlass/clock";
import { Secret } from "@windlass/runtime/kinds";
import {
  type Identity,
  type StaticTokenOrigin,
  type StaticTokens,
  VerifierUnavailableError,
} from "../identity/index.ts";
import type { Pool } from "../pool/index.ts";
import { poolText } from "../pool-name.ts";
import { poolNameOf } from "./pool-access.ts";

/** Where pools' tokens are found. */
export interface SecretTokensOptions {
  readonly client: Pick<Reader, "get">;
  readonly pools: () => readonly Pool[];
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** A token shorter than this could be guessed. */
const SHORTEST_TOKEN = 16;
const FRESH_MS = 15_000;

interface HashedToken {
  readonly user: string;
  readonly hash: Buffer;
}

/**
 * Bearer tokens in the Secrets that pools name: each key is a user, its value the user's token.
 * They count for that pool alone.
 */
export class SecretTokens implements StaticTokens {
  readonly #options: SecretTokensOptions;
  readonly #clock: Clock;
  readonly #read = new Map<
    string,
    { readonly tokens: Promise<readonly HashedToken[]>; readonly until: number }
  >();

  constructor(options: SecretTokensOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async identitiesOf(token: string): Promise<readonly Identity[]> {
    const hash = hashOf(token);
    const found: Identity[] = [];
    for (const pool of this.#options.pools())
      for (const { token: method } of pool.spec.auth.methods) {
        if (!method) continue;
        const name = poolNameOf(pool);
        const tokens = await this.#tokensIn(name.namespace, method.secretRef);
        // All of them, so that the time says nothing about which.
        const [match] = tokens.filter((one) => timingSafeEqual(one.hash, hash));
        if (!match) continue;
        const { user } = match;
        const text = poolText(name);
        const origin = { is: "static-token", pool: text, digest: digestOf(text, match) } as const;
        found.push({ user, id: `token:${text}:${user}`, groups: [], claims: {}, origin });
      }
    return found;
  }

  async hasToken({ pool, digest }: StaticTokenOrigin, user: string): Promise<boolean> {
    const found = this.#options.pools().find((one) => poolText(poolNameOf(one)) === pool);
    for (const { token: method } of found?.spec.auth.methods ?? []) {
      if (!found || !method) continue;
      const tokens = await this.#tokensIn(found.metadata.namespace, method.secretRef);
      if (tokens.some((one) => one.user === user && digestOf(pool, one) === digest)) return true;
    }
    return false;
  }

  #tokensIn(namespace: string, name: string): Promise<readonly HashedToken[]> {
    const key = `${namespace}/${name}`;
    const now = this.#clock.monotonic();
    const known = this.#read.get(key);
    if (known && now < known.until) return known.tokens;
    const tokens = this.#load(namespace, name).catch((error: unknown) => {
      this.#read.delete(key);
      throw new VerifierUnavailableError(`Secret ${key} cannot be read`, { cause: error });
    });
    this.#read.set(key, { tokens, until: now + FRESH_MS });
    return tokens;
  }

  async #load(namespace: string, name: string): Promise<readonly HashedToken[]> {
    try {
      const { data = {} } = await this.#options.client.get(Secret, { namespace, name });
      return Object.entries(data).flatMap(([user, value]) => {
        const token = Buffer.from(value, "base64").toString("utf8").trim();
        return token.length < SHORTEST_TOKEN ? [] : [{ user, hash: hashOf(token) }];
      });
    } catch (error) {
      if (isNotFound(error)) return [];
      if (!isForbidden(error)) throw error;
      // The pool's role is not there yet. Its own clients have to wait for it, those of other pools
      // do not.
      this.#read.delete(`${namespace}/${name}`);
      return [];
    }
  }
}

/**
 * Tells a user's token from the one that replaces it. Certificates carry it: 32 bits are too few to
 * guess a token by.
 */
function digestOf(pool: string, { user, hash }: HashedToken): string {
  const of = createHash("sha256")
    .update(JSON.stringify([pool, user]))
    .update(hash);
  return of.digest("hex").slice(0, 8);
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
