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
  | TokenOrigin
  /** A certificate of `certs/request`. It grants no more than the identity that asked for it. */
  | {
      readonly is: "certificate";
      /** Who vouched for the identity when it asked. */
      readonly by: TokenOrigin;
      /** The pools that it counts for, as `namespace/name`. */
      readonly pools: readonly string[];
      /** When it ends, in epoch milliseconds. */
      readonly notAfter: number;
    };

/** Who vouches for an identity that a bearer token proves. */
export type TokenOrigin =
  | {
      readonly is: "oidc";
      /** The configuration's name. */
      readonly provider: string;
      readonly issuer: string;
      readonly scope: Scope;
      /** The pools that the token itself names, where its configuration maps a claim to pools. */
      readonly pools?: readonly string[] | undefined;
    }
  | { readonly is: "service-account"; readonly namespace: string }
  | {
      /** A bearer token of a pool's own Secret. */
      readonly is: "static-token";
      /** As `namespace/name`. */
      readonly pool: string;
      /** Tells the token from the one that replaces it. */
      readonly digest: string;
    };

/** Where an issuer counts: everywhere, or for the pools that declare it alone. */
export type Scope =
  | { readonly for: "all-pools" }
  | { readonly for: "pools"; readonly pools: readonly string[] };

/** Where an issuer counts that says nothing of pools. */
export const allPools: Scope = { for: "all-pools" };

/** Whether an identity counts for a pool at all, before any rule is asked. */
export function countsFor({ origin }: Pick<Identity, "origin">, pool: PoolName): boolean {
  switch (origin.is) {
    case "certificate":
      return origin.pools.includes(poolText(pool)) && countsFor({ origin: origin.by }, pool);
    case "static-token":
      return origin.pool === poolText(pool);
    case "oidc":
      return origin.scope.for === "all-pools" || origin.scope.pools.includes(poolText(pool));
    case "service-account":
      return true;
  }
}

/** Whether the issuer of an identity is trusted everywhere, and not by a pool alone. */
export function isTrustedEverywhere({ origin }: Pick<Identity, "origin">): boolean {
  const by = vouching(origin);
  return by.is === "service-account" || (by.is === "oidc" && by.scope.for === "all-pools");
}

/** Who has vouched for an identity, by whatever it proves that now. */
export function vouching(origin: Origin): TokenOrigin {
  return origin.is === "certificate" ? origin.by : origin;
}

/** How the audit log and answers describe an identity. */
export function describeIdentity({ user, origin }: Identity): string {
  const by = vouching(origin);
  return by.is === "oidc" ? `${user} (by ${by.provider})` : user;
}
