import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AccessRule, type Admins, decide, type PoolAccess, type Verb, verbs } from "./access.ts";
import { matchesGlob } from "./glob.ts";
import type { Identity } from "./identity.ts";

const pool = { namespace: "builds", name: "ci" };
const noAdmins: Admins = { users: [], groups: [] };

const octocat: Identity = {
  user: "octocat",
  id: "oidc:github:octocat",
  groups: ["acme:devs"],
  claims: {
    repository: "acme/shop",
    ref: "refs/heads/feature/x",
    environment: "prod",
    nested: { tier: ["gold"] },
  },
  origin: {
    is: "oidc",
    provider: "github",
    issuer: "https://x",
    scope: { for: "all-pools" },
    pools: undefined,
  },
};
const account = (namespace: string): Identity => ({
  user: `system:serviceaccount:${namespace}:ci`,
  id: `system:serviceaccount:${namespace}:ci`,
  groups: ["system:serviceaccounts"],
  claims: {},
  origin: { is: "service-account", namespace },
});
/** The same identity by a certificate for some pools. */
const certified = (by: Identity, pools: readonly string[]): Identity => {
  if (by.origin.is === "certificate") throw new TypeError("not by a certificate itself");
  return { ...by, origin: { is: "certificate", by: by.origin, pools, notAfter: 0 } };
};
const scoped = (pools: readonly string[]): Identity => ({
  ...octocat,
  origin: {
    is: "oidc",
    provider: "builds/ci",
    issuer: "https://x",
    scope: { for: "pools", pools },
    pools: undefined,
  },
});
const naming = (pools: readonly string[]): Identity => ({
  ...octocat,
  origin: { is: "oidc", provider: "github", issuer: "https://x", scope: { for: "all-pools" }, pools },
});

const may = (
  identity: Identity,
  rules: readonly AccessRule[],
  verb: Verb = "allocate",
  change: Partial<PoolAccess> = {},
  admins = noAdmins,
) => decide([identity], verb, { pool, admits: "by-rules", rules, ...change }, admins).is === "allowed";

describe("without rules a pool is for", () => {
  test.for<[string, Identity, boolean]>([
    ["service accounts of its namespace", account("builds"), true],
    ["no service account of another namespace", account("other"), false],
    ["no service account of a namespace with a similar name", account("builds2"), false],
    ["no OIDC user", octocat, false],
    ["OIDC users whose token names it", naming(["builds/ci"]), true],
    ["OIDC users whose token has its name alone", naming(["ci"]), true],
    ["no OIDC user whose token names one like it elsewhere", naming(["other/ci", "c"]), false],
    [
      "service accounts of its namespace with a certificate for it",
      certified(account("builds"), ["builds/ci"]),
      true,
    ],
    ["no holder of a certificate for another pool", certified(account("builds"), ["builds/other"]), false],
    [
      "no service account of another namespace with a certificate for it",
      certified(account("other"), ["builds/ci"]),
      false,
    ],
    ["no OIDC user with a certificate for it", certified(octocat, ["builds/ci"]), false],
  ])("%s", ([, identity, expected]) => {
    for (const verb of verbs) expect(may(identity, [], verb)).toBe(expected && verb !== "admin");
  });
});

describe("a rule", () => {
  test.for<[string, AccessRule, boolean]>([
    ["by user", { users: ["octocat"] }, true],
    ["by another user", { users: ["octo"] }, false],
    ["by a pattern of users", { users: ["hub*", "octo*"] }, true],
    ["by group", { groups: ["acme:*"] }, true],
    ["by another group", { groups: ["evil:*"] }, false],
    ["by claim", { claims: { repository: ["acme/*"] } }, true],
    ["by several claims", { claims: { repository: ["acme/*"], ref: ["refs/heads/feature/*"] } }, true],
    [
      "by several claims of which one differs",
      { claims: { repository: ["acme/*"], ref: ["refs/heads/main"] } },
      false,
    ],
    ["by a claim that is missing", { claims: { job: ["*"] } }, false],
    ["by a claim inside another", { claims: { "nested.tier": ["gold"] } }, true],
    ["by something every object has", { claims: { constructor: ["*"] } }, false],
    ["by user and claim", { users: ["octocat"], claims: { environment: ["prod"] } }, true],
    ["by user and another claim", { users: ["octocat"], claims: { environment: ["test"] } }, false],
    ["by nothing", {}, false],
    ["by no user at all", { users: [] }, false],
    ["of this pool by name", { users: ["*"], pools: ["ci"] }, true],
    ["of this pool with its namespace", { users: ["*"], pools: ["builds/c?"] }, true],
    ["of another pool", { users: ["*"], pools: ["cd"] }, false],
    ["of this verb", { users: ["*"], verbs: ["view", "allocate"] }, true],
    ["of another verb", { users: ["*"], verbs: ["view"] }, false],
  ])("%s", ([, rule, expected]) => {
    expect(may(octocat, [rule])).toBe(expected);
  });

  test("may admit service accounts of other namespaces", () => {
    expect(may(account("other"), [{ users: ["system:serviceaccount:other:*"] }])).toBe(true);
  });

  test("does not help an identity whose issuer counts for other pools alone", () => {
    const everyone = [{ users: ["*"] }];
    expect(may(scoped(["builds/ci"]), everyone)).toBe(true);
    expect(may(scoped(["other/ci"]), everyone)).toBe(false);
    expect(may(scoped(["other/ci"]), [], "view", { admits: "everyone" })).toBe(false);
  });

  test("sets the limits of the clients that it admits; the first rule that grants counts", () => {
    const rules: AccessRule[] = [
      { users: ["octocat"], verbs: ["view"], limits: { concurrent: 1 } },
      { users: ["octocat"], limits: { concurrent: 2, ttlMs: 60_000 } },
      { users: ["*"], limits: { concurrent: 3 } },
    ];
    const limits = (verb: Verb) => {
      const decision = decide([octocat], verb, { pool, admits: "by-rules", rules }, noAdmins);
      return decision.is === "allowed" ? decision.limits : undefined;
    };
    expect(limits("view")).toEqual({ concurrent: 1 });
    expect(limits("allocate")).toEqual({ concurrent: 2, ttlMs: 60_000 });
  });
});

test("a pool that admits everyone admits every identity that counts for it", () => {
  expect(may(octocat, [], "allocate", { admits: "everyone" })).toBe(true);
  expect(may(account("other"), [], "allocate", { admits: "everyone" })).toBe(true);
});

describe("a certificate grants no more than the identity that asked for it", () => {
  const token = (of: string): Identity => ({
    user: "root-admin",
    id: `token:${of}:root-admin`,
    groups: [],
    claims: {},
    origin: { is: "static-token", pool: of, digest: "0" },
  });
  const people = [octocat, account("builds"), account("other"), scoped(["builds/ci"]), naming(["ci"])];
  const identity = fc.constantFrom(...people, token("builds/ci"), token("other/ci"));
  const rule: fc.Arbitrary<AccessRule> = fc.record(
    {
      users: fc.constantFrom(["*"], ["octocat"], ["root-*"], ["system:*"]),
      claims: fc.constantFrom({ repository: ["acme/*"] }, { repository: ["evil/*"] }),
      verbs: fc.subarray([...verbs], { minLength: 1 }),
      limits: fc.constantFrom({ concurrent: 1 }, { concurrent: 2, ttlMs: 60_000 }),
    },
    { requiredKeys: [] },
  );
  const world = fc.record({
    identity,
    rules: fc.array(rule, { maxLength: 3 }),
    admits: fc.constantFrom("everyone" as const, "by-rules" as const),
    admins: fc.constantFrom(
      { users: ["root-admin", "octocat"], groups: [] },
      { users: [], groups: ["acme:*", "system:serviceaccounts"] },
      noAdmins,
    ),
  });

  test("and for the pools that it names alone", () => {
    fc.assert(
      fc.property(world, fc.subarray(["builds/ci", "other/ci"]), (one, pools) => {
        for (const verb of verbs)
          for (const namespace of ["builds", "other"]) {
            const access = { pool: { namespace, name: "ci" }, admits: one.admits, rules: one.rules };
            const direct = decide([one.identity], verb, access, one.admins);
            const by = decide([certified(one.identity, pools)], verb, access, one.admins);
            if (!pools.includes(`${namespace}/ci`)) expect(by.is).toBe("denied");
            else expect({ ...by, as: 0, why: 0 }).toEqual({ ...direct, as: 0, why: 0 });
          }
      }),
      { numRuns: 2_000 },
    );
  });
});

test("administrators may do everything, unless a pool's own issuer says who they are", () => {
  const admins: Admins = { users: ["octocat"], groups: ["ops"] };
  expect(may(octocat, [], "admin", {}, admins)).toBe(true);
  expect(may({ ...account("x"), groups: ["ops"] }, [], "admin", {}, admins)).toBe(true);
  expect(may(account("x"), [], "admin", {}, admins)).toBe(false);
  expect(may(scoped(["builds/ci"]), [], "admin", {}, admins)).toBe(false);
  expect(may(certified(octocat, ["builds/ci"]), [], "admin", {}, admins)).toBe(true);
  expect(may(certified(scoped(["builds/ci"]), ["builds/ci"]), [], "admin", {}, admins)).toBe(false);
});

test("of several identities the first that may counts, and a denial names the first", () => {
  const access: PoolAccess = { pool, admits: "by-rules", rules: [] };
  const decision = decide([octocat, account("builds")], "view", access, noAdmins);
  expect(decision).toMatchObject({ is: "allowed", as: { id: "system:serviceaccount:builds:ci" } });
  expect(decide([octocat, account("other")], "view", access, noAdmins)).toMatchObject({
    is: "denied",
    as: { id: octocat.id },
    why: "octocat (by github): no rule of the pool grants view",
  });
});

describe("a pattern", () => {
  test.for<[string, string, boolean]>([
    ["*", "", true],
    ["", "", true],
    ["", "a", false],
    ["acme/*", "acme/shop/x", true],
    ["acme/*", "acme", false],
    ["*/shop", "acme/shop", true],
    ["a*b*c", "aXbYbZc", true],
    ["a*b*c", "aXbYbZ", false],
    ["?", "", false],
    ["r?f", "ref", true],
    ["a.c", "abc", false],
    ["ACME", "acme", false],
  ])("%j and %j", ([pattern, text, expected]) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  test("matches what an expression of the same meaning matches", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    fc.assert(
      fc.property(letters, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }), (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s");
        return matchesGlob(pattern, text) === expression.test(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test("takes no time that multiplies with its stars", () => {
    const started = performance.now();
    expect(matchesGlob(`${"a*".repeat(200)}b`, "a".repeat(20_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
