import { type PoolName, poolText } from "../pool-name.ts";

/** What the issuer of an identity says of it: the claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** Who makes a request. */
export interface Identity {
  /** How rules and people name them: `octocat`, `system:serviceaccount:builds:ci`. */
  readonly user: string;
  /**
   * Unique across issuers. The owner of an allocation is compared by it: two issuers may both know
   * an `octocat`.
   */
  readonly id: string;
  readonly groups: readonly string[];
  readonly claims: Claims;
  readonly origin: Origin;
}

/** Who vouches for an identity, and how far that counts. */
export type Origin =
  | {
      readonly is: "oidc";
      /** The configuration's name. */
      readonly provider: string;
      readonly issuer: string;
      readonly scope: Scope;
      /** The pools that the token itself names, where its configuration maps a claim to pools. */
      readonly pools: readonly string[] | undefined;
    }
  | { readonly is: "service-account"; readonly namespace: string }
  /** A bearer token of a pool's own Secret, and that pool as `namespace/name`. */
  | { readonly is: "static-token"; readonly pool: string }
  /**
   * A certificate of `certs/request`, and the pools that it was granted for as `namespace/name`.
   */
  | { readonly is: "certificate"; readonly pools: readonly string[] };

/** Where an issuer counts: everywhere, or for the pools that declare it alone. */
export type Scope =
  | { readonly for: "all-pools" }
  | { readonly for: "pools"; readonly pools: readonly string[] };

/** Whether an identity counts for a pool at all, before any rule is asked. */
export function countsFor({ origin }: Identity, pool: PoolName): boolean {
  if (origin.is === "static-token") return origin.pool === poolText(pool);
  if (origin.is !== "oidc" || origin.scope.for === "all-pools") return true;
  return origin.scope.pools.includes(poolText(pool));
}

/** Whether the issuer of an identity is trusted everywhere, and not by a pool alone. */
export function isVouchedEverywhere({ origin }: Identity): boolean {
  return origin.is === "oidc" ? origin.scope.for === "all-pools" : origin.is !== "static-token";
}

/** How the audit log and answers describe an identity. */
export function describeIdentity({ user, origin }: Identity): string {
  return origin.is === "oidc" ? `${user} (by ${origin.provider})` : user;
}
