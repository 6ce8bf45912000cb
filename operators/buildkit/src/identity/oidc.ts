import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { AuthenticationError } from "./errors.ts";
import { matchesAnyGlob } from "./glob.ts";
import { allPools, type Claims, type Identity, type Scope, type TokenOrigin } from "./identity.ts";
import type { IssuerKeys } from "./issuer-keys.ts";

/**
 * The signature algorithms that count: asymmetric ones. A public key must never be accepted as a
 * shared secret.
 */
export const signatureAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;

/** How tokens of an issuer are taken. */
export interface OidcProvider {
  /** What it is called in identities and in the audit log. */
  readonly name: string;
  readonly issuer: string;
  /** A token must be meant for at least one of them. */
  readonly audiences: readonly string[];
  /** The claim that names the user. @default "sub" */
  readonly userClaim?: string;
  /**
   * Goes before the user's name, to keep the users of several issuers apart in rules.
   *
   * @default ""
   */
  readonly userPrefix?: string;
  /** The claim that lists groups. @default none */
  readonly groupsClaim?: string;
  /** The claim that lists pools the user may use. @default none */
  readonly poolsClaim?: string;
  /** Claims that a token must have, and the patterns of which each must match one. @default none */
  readonly requiredClaims?: Readonly<Record<string, readonly string[]>>;
  /** @default all asymmetric ones */
  readonly algorithms?: readonly string[];
  /** How far the issuer's clock may be off, in seconds. @default 60 */
  readonly clockSkewSeconds?: number;
  /** PEM of the authorities to trust. @default those that Node trusts */
  readonly ca?: string | undefined;
  /** @default all pools */
  readonly scope?: Scope;
}

/**
 * The issuer that a token claims to be from; undefined if it is no token at all. Nothing is
 * verified.
 */
export function claimedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === "string" ? iss : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a token by one provider.
 *
 * @param now Epoch milliseconds.
 * @throws AuthenticationError that says what is wrong; VerifierUnavailableError.
 */
export async function verifyOidcToken(
  token: string,
  provider: OidcProvider,
  keys: IssuerKeys,
  now: number,
): Promise<Identity> {
  const { clockSkewSeconds = 60 } = provider;
  const payload = await verified(token, provider, keys, now);
  // jose checks the time of issue only together with a largest age.
  if (payload.iat !== undefined && payload.iat > now / 1_000 + clockSkewSeconds)
    throw refused(provider, `it was issued in the future: ${payload.iat}`);
  return identityBy(provider, payload);
}

/** An identity that an OIDC token proves. */
export type OidcIdentity = Identity & { readonly origin: Extract<TokenOrigin, { readonly is: "oidc" }> };

/**
 * Whom a provider takes the claims of a token for, whose signature and times have been verified.
 *
 * @throws AuthenticationError that says what is wrong.
 */
export function identityBy(provider: OidcProvider, claims: Claims): OidcIdentity {
  const {
    name,
    issuer,
    audiences,
    scope = allPools,
    requiredClaims = {},
    groupsClaim,
    poolsClaim,
  } = provider;
  if (!textsOf(claims.aud).some((audience) => audiences.includes(audience)))
    throw refused(provider, "claim aud is none of these audiences");
  for (const [claim, values] of Object.entries(requiredClaims))
    if (!textsOf(claims[claim]).some((value) => matchesAnyGlob(values, value)))
      throw refused(provider, `claim ${claim} is not one of ${JSON.stringify(values)}`);
  const user = userOf(claims, provider);
  return {
    user,
    id: `oidc:${name}:${user}`,
    groups: groupsClaim === undefined ? [] : textsOf(claims[groupsClaim]),
    claims,
    origin: {
      is: "oidc",
      provider: name,
      issuer,
      scope,
      pools: poolsClaim === undefined ? undefined : textsOf(claims[poolsClaim]),
    },
  };
}

function refused({ name, issuer, audiences }: OidcProvider, why: string): AuthenticationError {
  return new AuthenticationError(
    "the token is not accepted",
    `${name} (issuer ${issuer}, audiences ${audiences.join(", ")}): ${why}`,
  );
}

async function verified(
  token: string,
  { name, issuer, audiences, algorithms = signatureAlgorithms, clockSkewSeconds = 60 }: OidcProvider,
  keys: IssuerKeys,
  now: number,
): Promise<JWTPayload> {
  // An empty list would have jose skip the check.
  if (audiences.length === 0)
    throw new AuthenticationError("the token is not accepted", `${name} has no audience`);
  try {
    const { payload } = await jwtVerify(token, keys.get, {
      issuer,
      audience: [...audiences],
      algorithms: algorithms.filter((one) => signatureAlgorithms.some((known) => known === one)),
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(now),
      requiredClaims: ["exp", "sub"],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWTExpired)
      throw new AuthenticationError("the token has expired", `${name}: ${error.message}`);
    if (error instanceof errors.JOSEError)
      throw new AuthenticationError("the token is not accepted", `${name}: ${error.message}`);
    // What WebCrypto throws for a key that does not fit the algorithm.
    if (error instanceof TypeError || error instanceof DOMException)
      throw new AuthenticationError("the token is not accepted", `${name}: ${error.message}`);
    throw error;
  }
}

function userOf(payload: Claims, { name, userClaim = "sub", userPrefix = "" }: OidcProvider): string {
  const [value = "", ...more] = textsOf(payload[userClaim]);
  const user = `${userPrefix}${value}`;
  const fault = userFault(value, more.length, user);
  if (fault !== undefined)
    throw new AuthenticationError("the token is not accepted", `${name}: claim ${userClaim} ${fault}`);
  return user;
}

function userFault(value: string, others: number, user: string): string | undefined {
  if (value === "" || others > 0) return "does not name one user";
  if (value.length > 512 || /\p{Cc}/u.test(value)) return "is too long, or holds control characters";
  // Kubernetes' own: no other issuer may speak of service accounts.
  return user.startsWith("system:") ? `names a user that is reserved: ${JSON.stringify(user)}` : undefined;
}

/**
 * The texts in a claim: itself, or the items of a list. Numbers and booleans count as they are
 * written.
 */
export function textsOf(claim: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return items.flatMap((item) =>
    typeof item === "string" || typeof item === "number" || typeof item === "boolean" ? [String(item)] : [],
  );
}
