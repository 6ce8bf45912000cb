import { type Clock, type Duration, milliseconds, systemClock } from "@windlass/clock";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { VerifierUnavailableError } from "./errors.ts";

/**
 * Fetches a JSON document. Rejects unless the answer is 200, and within bounds of time and size.
 */
export type FetchJson = (url: URL, signal?: AbortSignal) => Promise<unknown>;

/** When an issuer's keys are fetched. */
export interface KeyRules {
  /**
   * How long keys count as fresh. Older ones are used while newer ones are being fetched.
   *
   * @default "10m"
   */
  readonly fresh?: Duration;
  /** How long the last known keys go on where the issuer cannot be reached. @default "24h" */
  readonly longestStale?: Duration;
  /**
   * The least time between two fetches: tokens with made-up key ids must not become requests to the
   * issuer.
   *
   * @default "10s"
   */
  readonly cooldown?: Duration;
}

interface Rules {
  readonly freshMs: number;
  readonly longestStaleMs: number;
  readonly cooldownMs: number;
}

/** What is known of an issuer's keys. Times are monotonic milliseconds. */
export interface KeyCache {
  readonly keys: JSONWebKeySet | undefined;
  readonly fetchedAt: number;
  readonly triedAt: number;
}

/** What to do for a token that names a key. */
export type KeyMove =
  /** Take what is there; if `refresh`, fetch newer ones beside it. */
  | { readonly do: "use"; readonly refresh: boolean }
  /** Nothing can be said without newer keys. */
  | { readonly do: "fetch" }
  /** There is no such key, and the issuer was asked a moment ago. */
  | { readonly do: "refuse" }
  /** There are no keys, and the issuer did not answer a moment ago. */
  | { readonly do: "unavailable" };

/** Decides where the key for a token comes from. Pure. */
export function keyMove(cache: KeyCache, kid: string | undefined, now: number, rules: Rules): KeyMove {
  const mayFetch = now >= cache.triedAt + rules.cooldownMs;
  const ageMs = now - cache.fetchedAt;
  if (!cache.keys || ageMs >= rules.longestStaleMs) return mayFetch ? { do: "fetch" } : { do: "unavailable" };
  const isKnown = kid === undefined || cache.keys.keys.some((key) => key.kid === kid);
  if (!isKnown) return mayFetch ? { do: "fetch" } : { do: "refuse" };
  return { do: "use", refresh: ageMs >= rules.freshMs && mayFetch };
}

const discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

const NEVER = Number.NEGATIVE_INFINITY;

/**
 * The public keys of an issuer, found by discovery. They are cached, and fetched again when they
 * have aged or when a token names a key that is not among them. An issuer that is down does not
 * lock out tokens whose keys are known.
 */
export class IssuerKeys {
  readonly issuer: string;
  readonly #fetch: FetchJson;
  readonly #clock: Clock;
  readonly #rules: Rules;
  #cache: KeyCache = { keys: undefined, fetchedAt: NEVER, triedAt: NEVER };
  #fetching: Promise<void> | undefined;
  #fault: string | undefined;

  constructor(issuer: string, fetch: FetchJson, rules: KeyRules = {}, clock: Clock = systemClock) {
    const { fresh = "10m", longestStale = "24h", cooldown = "10s" } = rules;
    this.issuer = issuer;
    this.#fetch = fetch;
    this.#clock = clock;
    this.#rules = {
      freshMs: milliseconds(fresh, "issuer keys: fresh"),
      longestStaleMs: milliseconds(longestStale, "issuer keys: longestStale"),
      cooldownMs: milliseconds(cooldown, "issuer keys: cooldown"),
    };
  }

  /** Why the last fetch failed; undefined if it did not. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /**
   * How jose finds the key of a token.
   *
   * @throws VerifierUnavailableError where there are no keys and none can be had; a JOSEError where
   *   there is no such key.
   */
  readonly get: JWTVerifyGetKey = async (header, token) => {
    const move = this.#move(header.kid);
    if (move.do === "use") {
      if (move.refresh) void this.#refresh();
    } else {
      // A request that is under way may bring the key, whichever caller started it.
      await (move.do === "fetch" ? this.#refresh() : this.#fetching);
      if (this.#move(header.kid).do === "unavailable") this.#giveUp();
    }
    if (!this.#cache.keys) this.#giveUp();
    return await createLocalJWKSet(this.#cache.keys)(header, token);
  };

  #move(kid: string | undefined): KeyMove {
    return keyMove(this.#cache, kid, this.#clock.monotonic(), this.#rules);
  }

  #giveUp(): never {
    throw new VerifierUnavailableError(
      `the keys of issuer ${this.issuer} are not known: ${this.#fault ?? "it has not answered"}`,
    );
  }

  /** Never rejects: a fetch that fails leaves the keys as they are. */
  #refresh(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    this.#cache = { ...this.#cache, triedAt: this.#clock.monotonic() };
    try {
      const keys = await this.#keysOf(await this.#discover());
      this.#cache = { ...this.#cache, keys, fetchedAt: this.#clock.monotonic() };
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
    }
  }

  async #discover(): Promise<URL> {
    const url = new URL(`${this.issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    const { data, error } = discovery.safeParse(await this.#fetch(url));
    if (error) throw new Error(`${url.href} is not a discovery document: ${error.issues[0]?.path.join(".")}`);
    // As OpenID Connect Discovery 4.3 has it. Otherwise anyone who hosts a document could speak for
    // another issuer.
    if (data.issuer !== this.issuer)
      throw new Error(`${url.href} has another issuer: ${JSON.stringify(data.issuer)}`);
    const keys = URL.parse(data.jwks_uri);
    if (!keys || keys.protocol !== url.protocol)
      throw new Error(`${url.href}: jwks_uri is not a URL with ${url.protocol}//`);
    return keys;
  }

  async #keysOf(url: URL): Promise<JSONWebKeySet> {
    const { data, error } = keySet.safeParse(await this.#fetch(url));
    if (error) throw new Error(`${url.href} is not a key set: ${error.issues[0]?.path.join(".")}`);
    return data;
  }
}
