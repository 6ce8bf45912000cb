import { type PoolName, poolText } from "../pool-name.ts";
import { matchesAnyGlob } from "./glob.ts";
import {
  type Claims,
  countsFor,
  describeIdentity,
  type Identity,
  isTrustedEverywhere,
  vouching,
} from "./identity.ts";
import { textsOf } from "./oidc.ts";

/**
 * What may be done with a pool. `allocate` is for workers, and for waking the pool; `certs` for
 * certificates; `view` for looking at it; `admin` for what others have allocated.
 */
export const verbs = ["allocate", "certs", "view", "admin"] as const;

/** What a rule grants that names no verbs. */
const usualVerbs: readonly Verb[] = ["allocate", "certs", "view"];

/** What an access rule can grant. */
export type Verb = (typeof verbs)[number];

/** What an identity may have at most. */
export interface Limits {
  /** Allocations of a pool at a time, those that wait included. @default unlimited */
  readonly concurrent?: number;
  /** The longest lifetime of a token. @default the pool's */
  readonly ttlMs?: number;
}

/**
 * Grants verbs to identities. All of `users`, `groups` and `claims` that are given must match, each
 * by one of its patterns; one that gives none grants nothing. Patterns are as in
 * {@link matchesGlob}.
 */
export interface AccessRule {
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  /** By claim; `a.b` looks into an object. */
  readonly claims?: Readonly<Record<string, readonly string[]>>;
  /** Names of the pools that the rule is about. @default the pool that has the rule */
  readonly pools?: readonly string[];
  /** @default all but `admin` */
  readonly verbs?: readonly Verb[];
  readonly limits?: Limits;
}

/** Who may use a pool. */
export interface PoolAccess {
  readonly pool: PoolName;
  /** `everyone`: every authenticated client may use it, and rules only set limits. */
  readonly admits: "everyone" | "by-rules";
  readonly rules: readonly AccessRule[];
}

/** Who may do everything, everywhere. Patterns of users and groups. */
export interface Admins {
  readonly users: readonly string[];
  readonly groups: readonly string[];
}

/** Whether an identity may do something. `why` is for the audit log. */
export type Decision =
  | { readonly is: "allowed"; readonly as: Identity; readonly why: string; readonly limits: Limits }
  | { readonly is: "denied"; readonly as: Identity; readonly why: string };

/**
 * Whether an identity is one of the administrators. Only those whose issuer is trusted for all
 * pools can be: a pool could name anyone otherwise.
 */
export function isAdmin(identity: Identity, admins: Admins): boolean {
  if (!isTrustedEverywhere(identity)) return false;
  return (
    matchesAnyGlob(admins.users, identity.user) ||
    identity.groups.some((group) => matchesAnyGlob(admins.groups, group))
  );
}

/**
 * Decides whether a client may do something with a pool: the first of its identities that may
 * counts. Pure.
 *
 * Without a rule, a pool is for service accounts of its own namespace, and for identities whose
 * token names it. Everyone else needs a rule. A certificate is decided on as the token is that it
 * was asked for with.
 */
export function decide(
  identities: readonly [Identity, ...Identity[]],
  verb: Verb,
  access: PoolAccess,
  admins: Admins,
): Decision {
  const decisions = identities.map((identity) => decideFor(identity, verb, access, admins));
  return (
    decisions.find(({ is }) => is === "allowed") ??
    decisions[0] ??
    denied(identities[0], "there is no identity")
  );
}

function decideFor(identity: Identity, verb: Verb, access: PoolAccess, admins: Admins): Decision {
  const { pool, rules } = access;
  if (!countsFor(identity, pool))
    return denied(
      identity,
      identity.origin.is === "certificate"
        ? "its certificate does not count for this pool"
        : "its issuer does not count for this pool",
    );
  if (isAdmin(identity, admins)) return allowed(identity, "is an administrator", {});
  const rule = rules.find((one) => grants(one, identity, verb, pool));
  if (rule) return allowed(identity, "a rule grants it", rule.limits ?? {});
  if (verb === "admin") return denied(identity, "no rule of the pool grants admin");
  if (access.admits === "everyone") return allowed(identity, "the pool admits everyone", {});
  const belonging = belongs(identity, pool);
  return belonging === undefined
    ? denied(identity, `no rule of the pool grants ${verb}`)
    : allowed(identity, belonging, {});
}

/** Why a pool is for an identity without any rule; undefined if it is not. */
function belongs({ origin: proven }: Identity, pool: PoolName): string | undefined {
  const origin = vouching(proven);
  switch (origin.is) {
    case "service-account":
      return origin.namespace === pool.namespace ? "is of the pool's namespace" : undefined;
    case "oidc":
      return origin.pools?.some((name) => name === pool.name || name === poolText(pool))
        ? "has a token that names the pool"
        : undefined;
    case "static-token":
      return origin.pool === poolText(pool) ? "has a token of the pool" : undefined;
  }
}

function grants(rule: AccessRule, identity: Identity, verb: Verb, pool: PoolName): boolean {
  const { users, groups, claims, pools } = rule;
  if (!(rule.verbs ?? usualVerbs).includes(verb)) return false;
  if (pools && !matchesAnyGlob(pools, pool.name) && !matchesAnyGlob(pools, poolText(pool))) return false;
  if (!users && !groups && !claims) return false;
  if (users && !matchesAnyGlob(users, identity.user)) return false;
  if (groups && !identity.groups.some((group) => matchesAnyGlob(groups, group))) return false;
  return Object.entries(claims ?? {}).every(([claim, patterns]) =>
    textsOf(claimAt(identity.claims, claim)).some((text) => matchesAnyGlob(patterns, text)),
  );
}

/**
 * A claim by its name, or by a path of names joined by dots. Names win: claims such as
 * `https://example.com/role` hold dots.
 */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split(".").reduce<unknown>((value, name) => {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    return (value as Claims)[name];
  }, claims);
}

function allowed(as: Identity, why: string, limits: Limits): Decision {
  return { is: "allowed", as, why: `${describeIdentity(as)} ${why}`, limits };
}

function denied(as: Identity, why: string): Decision {
  return { is: "denied", as, why: `${describeIdentity(as)}: ${why}` };
}
