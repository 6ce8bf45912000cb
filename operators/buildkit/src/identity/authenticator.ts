import { isDeepStrictEqual } from "node:util";
import { type Clock, systemClock } from "@windlass/clock";
import { AuthenticationError, VerifierUnavailableError } from "./errors.ts";
import { allPools, type Identity, type TokenOrigin } from "./identity.ts";
import { type CertifiedIdentity, identityIn } from "./identity-certificate.ts";
import { type FetchJson, IssuerKeys, type KeyRules } from "./issuer-keys.ts";
import { claimedIssuer, identityBy, type OidcProvider, verifyOidcToken } from "./oidc.ts";
import type { ServiceAccounts } from "./service-accounts.ts";

/** What a client has shown. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** A certificate that verifies against the client authorities, in DER. */
  readonly certificate: Uint8Array | undefined;
}

/** How clients are recognized. */
export interface AuthenticatorOptions {
  /** The providers at this moment. Asked for each request, so that changes count at once. */
  readonly providers: () => readonly OidcProvider[];
  readonly serviceAccounts: Pick<ServiceAccounts, "verify">;
  /** Asked about tokens that no issuer has made. @default there are none */
  readonly staticTokens?: StaticTokens;
  /**
   * How issuers are asked whose certificates these authorities sign; undefined stands for those
   * that Node trusts.
   */
  readonly fetch: (ca: string | undefined) => FetchJson;
  readonly keys?: KeyRules;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** A token of a pool's own Secret, as it vouches for a user. */
export type StaticTokenOrigin = Extract<TokenOrigin, { readonly is: "static-token" }>;

/** Tokens that a pool's owner has made up and handed out. */
export interface StaticTokens {
  /** Whose a token is; none if no pool has it. */
  identitiesOf(token: string): Promise<readonly Identity[]>;
  /** Whether a user still has the token that vouched for them. */
  hasToken(origin: StaticTokenOrigin, user: string): Promise<boolean>;
}

const LONGEST_TOKEN = 16 * 1024;

/** Says who makes a request. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #clock: Clock;
  readonly #issuers = new Map<string, IssuerKeys>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Who a client is. Several identities where several providers take its token: which one counts
   * depends on the pool.
   *
   * @throws AuthenticationError, VerifierUnavailableError.
   */
  async authenticate(
    { authorization, certificate }: Credentials,
    signal?: AbortSignal,
  ): Promise<readonly [Identity, ...Identity[]]> {
    if (authorization !== undefined) return await this.#verify(bearerIn(authorization), signal);
    if (certificate !== undefined) return [await this.#stillTrusted(identityIn(certificate))];
    throw new AuthenticationError(
      "there are no credentials: send Authorization: Bearer with an OIDC or ServiceAccount token, or a client certificate",
    );
  }

  /**
   * Why the keys of an issuer could not be fetched last time; undefined if they could, or were
   * never asked for.
   */
  faultOf(provider: OidcProvider): string | undefined {
    return this.#issuers.get(issuerId(provider))?.fault;
  }

  async #verify(token: string, signal?: AbortSignal): Promise<readonly [Identity, ...Identity[]]> {
    const issuer = claimedIssuer(token);
    const providers = this.#options.providers().filter((provider) => provider.issuer === issuer);
    if (issuer === undefined) return await this.#verifyStatic(token);
    if (providers.length === 0) return [await this.#options.serviceAccounts.verify(token, signal)];
    const identities: Identity[] = [];
    const refusals: AuthenticationError[] = [];
    let unavailable: VerifierUnavailableError | undefined;
    for (const provider of providers) {
      try {
        identities.push(await verifyOidcToken(token, provider, this.#keysOf(provider), this.#clock.now()));
      } catch (error) {
        if (error instanceof AuthenticationError) refusals.push(error);
        else if (error instanceof VerifierUnavailableError) unavailable = error;
        else throw error;
      }
    }
    const [first, ...others] = identities;
    if (first) return [first, ...others];
    if (unavailable) throw unavailable;
    const details = refusals.map(({ detail }) => detail).join("; ");
    throw new AuthenticationError(refusals[0]?.message ?? "the token is not accepted", details);
  }

  async #verifyStatic(token: string): Promise<readonly [Identity, ...Identity[]]> {
    const [first, ...others] = (await this.#options.staticTokens?.identitiesOf(token)) ?? [];
    if (first) return [first, ...others];
    throw new AuthenticationError("the token is not accepted", "it is no JSON Web Token, and no pool has it");
  }

  /**
   * The identity of a certificate, if it has not expired and who vouched for it would do so now.
   * The handshake may be hours ago, and what is trusted may have changed since.
   */
  async #stillTrusted(identity: CertifiedIdentity): Promise<Identity> {
    const { origin } = identity;
    if (this.#clock.now() >= origin.notAfter)
      throw new AuthenticationError(
        "the client certificate has expired: have a new one by POST /api/v1/certs/request",
        `${identity.id}: it ended at ${new Date(origin.notAfter).toISOString()}`,
      );
    const { by } = origin;
    switch (by.is) {
      case "service-account":
        return identity;
      case "static-token":
        if (await this.#options.staticTokens?.hasToken(by, identity.user)) return identity;
        throw noLonger(identity, `pool ${by.pool} no longer has that token of the user`);
      case "oidc":
        return this.#vouchedNow(identity, by);
    }
  }

  /** The identity as an issuer's claims have it now. A pool may have one issuer several times. */
  #vouchedNow(identity: CertifiedIdentity, by: Extract<TokenOrigin, { readonly is: "oidc" }>): Identity {
    const { id, claims, origin } = identity;
    const providers = this.#options
      .providers()
      .filter(({ name, issuer, scope = allPools }) =>
        isDeepStrictEqual([name, issuer, scope], [by.provider, by.issuer, by.scope]),
      );
    const results = providers.map((provider) => tried(() => identityBy(provider, claims)));
    for (const now of results)
      if (!(now instanceof AuthenticationError) && now.id === id)
        return { ...now, origin: { ...origin, by: now.origin } };
    const [first] = results;
    if (!first) throw noLonger(identity, `${by.provider} is not configured any more`);
    throw noLonger(
      identity,
      first instanceof AuthenticationError ? first.detail : `its claims are those of ${first.id} now`,
    );
  }

  #keysOf({ issuer, ca }: OidcProvider): IssuerKeys {
    const id = issuerId({ issuer, ca });
    const known = this.#issuers.get(id);
    if (known) return known;
    // Those of issuers that are no longer declared are not needed.
    const declared = new Set(this.#options.providers().map(issuerId));
    for (const other of this.#issuers.keys()) if (!declared.has(other)) this.#issuers.delete(other);
    const keys = new IssuerKeys(issuer, this.#options.fetch(ca), this.#options.keys, this.#clock);
    this.#issuers.set(id, keys);
    return keys;
  }
}

function issuerId({
  issuer,
  ca = "",
}: {
  readonly issuer: string;
  readonly ca?: string | undefined;
}): string {
  return `${issuer} ${ca}`;
}

function noLonger({ id }: Identity, why: string): AuthenticationError {
  return new AuthenticationError(
    "the client certificate is no longer accepted: have a new one by POST /api/v1/certs/request",
    `${id}: ${why}`,
  );
}

function tried<T>(read: () => T): T | AuthenticationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AuthenticationError) return error;
    throw error;
  }
}

/** @throws AuthenticationError. */
function bearerIn(authorization: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization) ?? [];
  if (token === undefined)
    throw new AuthenticationError("the Authorization header is not of the form: Bearer TOKEN");
  if (token.length > LONGEST_TOKEN)
    throw new AuthenticationError(`the token is longer than ${LONGEST_TOKEN} characters`);
  return token;
}
