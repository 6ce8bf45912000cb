import type { OidcProvider, PoolAccess } from "../identity/index.ts";
import type { OIDCConfig } from "../oidc/oidc-config.ts";
import type { Pool } from "../pool/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { spanMs } from "../span.ts";

/** Which pool an object is. */
export function poolNameOf({ metadata }: Pool): PoolName {
  return { namespace: metadata.namespace, name: metadata.name };
}

/** Who may use a pool, as its spec says. */
export function accessOf(pool: Pool): PoolAccess {
  const { enabled, rules } = pool.spec.auth.rbac;
  return {
    pool: poolNameOf(pool),
    admits: enabled ? "by-rules" : "everyone",
    rules: rules.map(({ users, pools, claims, verbs, maxConcurrent, maxTTL }) => ({
      users,
      pools,
      verbs,
      claims,
      limits: {
        ...(maxConcurrent === undefined ? {} : { concurrent: maxConcurrent }),
        ...(maxTTL === undefined ? {} : { ttlMs: spanMs(maxTTL, "spec.auth.rbac.rules.maxTTL") }),
      },
    })),
  };
}

/**
 * The issuers whose tokens count. Configurations are trusted for all pools, so they must come from
 * a namespace that only administrators write to; what a pool declares counts for that pool alone.
 */
export function providersOf(configs: readonly OIDCConfig[], pools: readonly Pool[]): readonly OidcProvider[] {
  const everywhere = configs
    .filter(({ spec, metadata }) => spec.enabled && metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map(
      ({ metadata, spec }): OidcProvider => ({
        name: metadata.name,
        issuer: spec.issuer,
        audiences: [
          spec.audience,
          ...spec.additionalAudiences,
          ...(spec.clientID === undefined ? [] : [spec.clientID]),
        ],
        userClaim: spec.claimsMapping.user,
        userPrefix: spec.identityPrefix,
        ...(spec.claimsMapping.pools === undefined ? {} : { poolsClaim: spec.claimsMapping.pools }),
        requiredClaims: Object.fromEntries(
          Object.entries(spec.requiredClaims).map(([claim, pattern]) => [claim, [pattern]]),
        ),
        algorithms: spec.algorithms,
        ...(spec.caBundle === undefined ? {} : { ca: spec.caBundle }),
      }),
    );
  // A pool cannot say whose certificates count: for an issuer that is configured, those of the
  // configuration do.
  const trust = new Map(everywhere.map(({ issuer, ca }) => [issuer, ca]));
  return [...everywhere, ...pools.flatMap((pool) => providersOfPool(pool, trust))];
}

function providersOfPool(
  pool: Pool,
  trust: ReadonlyMap<string, string | undefined>,
): readonly OidcProvider[] {
  const name = poolText(poolNameOf(pool));
  return pool.spec.auth.methods.flatMap(({ oidc }) =>
    oidc
      ? [
          {
            name,
            issuer: oidc.issuer,
            audiences: [oidc.audience],
            ca: trust.get(oidc.issuer),
            userClaim: oidc.claimsMapping.user,
            ...(oidc.claimsMapping.pools === undefined ? {} : { poolsClaim: oidc.claimsMapping.pools }),
            scope: { for: "pools", pools: [name] } as const,
          },
        ]
      : [],
  );
}
