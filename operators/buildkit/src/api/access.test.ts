import { type Authority, createAuthority, type KeyPair, loadAuthority } from "@windlass/certificates";
import { ManualClock, systemClock } from "@windlass/clock";
import { Secret } from "@windlass/runtime/kinds";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readAuthorities, signingAuthority } from "../certificates/index.ts";
import { forgedTokens } from "../identity/forged-tokens.fixture.ts";
import { audience, FakeIssuer, newKey } from "../identity/issuer.fixture.ts";
import { clusterSecrets } from "../names.ts";
import { BuildKitOIDCConfig } from "../oidc/oidc-config.ts";
import { BuildKitPool } from "../pool/index.ts";
import { textData } from "../secret-data.ts";
import { ApiTestEnvironment, type Asked, octocatRule } from "./api-environment.fixture.ts";
import { apiRoutes } from "./runnable.ts";
import type { Service } from "./service.ts";

const environment = await ApiTestEnvironment.start();
const { namespace } = environment;
afterAll(() => environment[Symbol.asyncDispose]());

await environment.pools.pool("ci", {
  scaling: { min: 2, max: 4 },
  auth: {
    methods: [
      {
        type: "oidc",
        oidc: { issuer: environment.issuer.url, audience: "pool-only", claimsMapping: { user: "actor" } },
      },
      { type: "token", token: { secretRef: "ci-tokens" } },
    ],
    rbac: {
      rules: [
        octocatRule,
        { users: ["limited"], maxConcurrent: 1, maxTTL: "10m" },
        { users: ["viewer"], verbs: ["view"] },
      ],
    },
  },
});
await environment.pools.pool("other", { auth: { rbac: { rules: [{ users: ["octocat"] }] } } });
await environment.secret(namespace, "ci-tokens", { robot: "a-long-enough-secret-token", short: "short" });

const known = (pool: string, token: string) =>
  vi.waitFor(async () => {
    for (const replica of [0, 1])
      expect(
        (await environment.ask("GET", `/api/v1/pools/${pool}?namespace=${namespace}`, { token, replica }))
          .status,
      ).toBe(200);
  });
beforeAll(async () => {
  await known("ci", environment.token());
  await known("other", environment.token("boss"));
});

const allocate = (asked: Asked, body: object = {}) =>
  environment.ask("POST", "/api/v1/workers/allocate", {
    body: { namespace, poolName: "ci", wait: "5s", ...body },
    ...asked,
  });
const release = (token: string | undefined, allocated: unknown) =>
  environment.ask("POST", "/api/v1/workers/release", {
    body: { token: allocated },
    ...(token ? { token } : {}),
  });

describe("who makes a request", () => {
  const forged = forgedTokens(environment.issuer);

  test.for(forged)("is not proven by a token with %s: 401", async ([, token]) => {
    const answered = await allocate({ token });
    expect(answered).toMatchObject({ status: 401, body: { code: "Unauthenticated" } });
    expect(answered.headers["www-authenticate"]).toContain("Bearer");
    expect(answered.text).not.toContain(token);
  });

  test("must be proven on every endpoint but health and the document", async () => {
    const routes = apiRoutes({ options: {} } as unknown as Service);
    const open: string[] = [];
    for (const { method, path } of routes) {
      const answered = await environment.ask(
        method,
        path.replaceAll(/\{\w+\}/g, "ci"),
        method === "POST" ? { body: {} } : {},
      );
      if (answered.status !== 401) open.push(path);
    }
    expect(open).toEqual(["/api/v1/health", "/api/v1/openapi.json"]);
  });

  test("is a service account by a token with our audience", async () => {
    const token = await environment.accountToken(namespace);
    const answered = await allocate({ token });
    expect(answered.status).toBe(200);
    expect((await release(token, answered.body.token)).status).toBe(200);
    expect((await allocate({ token: await environment.accountToken(namespace, "ci", []) })).status).toBe(401);
  });

  test("is denied across namespaces unless a rule says otherwise", async () => {
    const elsewhere = await environment.pools.cluster.createNamespace("elsewhere");
    const token = await environment.accountToken(elsewhere);
    expect(await allocate({ token })).toMatchObject({ status: 403, body: { code: "Forbidden" } });
    const rules = [octocatRule, { users: [`system:serviceaccount:${elsewhere}:*`] }];
    await environment.pools.pool("shared", { scaling: { min: 1 }, auth: { rbac: { rules } } });
    await known("shared", token);
    const answered = await allocate({ token }, { poolName: "shared" });
    expect(answered.status).toBe(200);
  });

  test("is known by a pool's own issuer and tokens for that pool alone", async () => {
    for (const token of [environment.token("octocat", { aud: "pool-only" }), "a-long-enough-secret-token"]) {
      const answered = await allocate({ token });
      expect(answered.status).toBe(200);
      await release(token, answered.body.token);
      expect((await allocate({ token }, { poolName: "other" })).status).toBe(403);
    }
    for (const token of ["a-long-enough-secret-tokem", "short", "robot"])
      expect((await allocate({ token })).status).toBe(401);
    // No pool can name an administrator.
    const boss = environment.token("boss", { aud: "pool-only" });
    expect((await allocate({ token: boss }, { poolName: "other" })).status).toBe(403);
  });

  test("is left open while the issuer of a token cannot be asked: 503", async () => {
    await using slow = await FakeIssuer.start();
    slow.isDown = true;
    await environment.client.create(BuildKitOIDCConfig, {
      metadata: { namespace: "buildkit-system", name: "slow" },
      spec: { issuer: slow.url, audience, caBundle: slow.authority.certificate },
    });
    await vi.waitFor(async () => {
      const answered = await allocate({ token: slow.token({}, newKey("first")) });
      expect(answered).toMatchObject({ status: 503, body: { code: "VerifierUnavailable" } });
      expect(answered.headers["retry-after"]).toBeDefined();
    });
  });
});

describe("what they may do", () => {
  test.for<[string, string, number, number, number]>([
    // user, pool, view, allocate, certs
    ["octocat", "ci", 200, 200, 200],
    ["octocat", "other", 200, 200, 200],
    ["viewer", "ci", 200, 403, 403],
    ["limited", "other", 403, 403, 403],
    ["hubot", "ci", 403, 403, 403],
    ["boss", "ci", 200, 200, 200],
    ["boss", "other", 200, 200, 200],
  ])("%s, with pool %s", async ([user, pool, view, take, certs]) => {
    const token = environment.token(user);
    expect(
      (await environment.ask("GET", `/api/v1/pools/${pool}?namespace=${namespace}`, { token })).status,
    ).toBe(view);
    const allocated = await allocate({ token }, { poolName: pool });
    expect(allocated.status).toBe(take);
    if (take === 200) await release(token, allocated.body.token);
    const body = { pools: [`${namespace}/${pool}`] };
    expect((await environment.ask("POST", "/api/v1/certs/request", { token, body })).status).toBe(certs);
  });

  test("follows the claims of their token", async () => {
    expect((await allocate({ token: environment.token("octocat", { repository: "acme/x" }) })).status).toBe(
      200,
    );
    expect((await allocate({ token: environment.token("octocat", { repository: "evil/x" }) })).status).toBe(
      401,
    );
  });

  test("is limited in number and time by the rule that admits them", async () => {
    const token = environment.token("limited");
    const first = await allocate({ token }, { ttl: "24h" });
    expect(first.status).toBe(200);
    expect(Date.parse(String(first.body.expiresAt))).toBeLessThanOrEqual(Date.now() + 10 * 60_000);
    const second = await allocate({ token, replica: 1 });
    expect(second).toMatchObject({
      status: 429,
      body: { code: "QuotaExceeded" },
      headers: { "retry-after": "30" },
    });
    await release(token, first.body.token);
    const third = await allocate({ token, replica: 1 });
    expect(third.status).toBe(200);
    await release(token, third.body.token);
  });

  test("changes with the pool's rules, within seconds", async () => {
    const token = environment.token("late");
    expect((await allocate({ token })).status).toBe(403);
    const { spec } = await environment.client.get(BuildKitPool, { namespace, name: "ci" });
    const rules = [...spec.auth.rbac.rules, { users: ["late"] }];
    const patch = { spec: { auth: { rbac: { rules } } } };
    await environment.client.patch(BuildKitPool, { namespace, name: "ci" }, { type: "merge", patch });
    await vi.waitFor(async () => {
      const answered = await allocate({ token });
      expect(answered.status).toBe(200);
      await release(token, answered.body.token);
    });
  });

  test("is written down, with the reason and without any token", async () => {
    environment.audit.length = 0;
    const [good, bad] = [environment.token(), environment.token("hubot")];
    const allocated = await allocate({ token: good });
    await allocate({ token: bad });
    await allocate({ token: "nonsense" });
    await release(good, allocated.body.token);
    expect(environment.audit).toMatchObject([
      {
        decision: "allowed",
        verb: "allocate",
        pool: `${namespace}/ci`,
        user: "octocat",
        identity: "oidc:github:octocat",
        why: expect.stringContaining("a rule grants it"),
      },
      {
        decision: "denied",
        verb: "allocate",
        user: "hubot",
        why: expect.stringContaining("no rule of the pool grants allocate"),
      },
      { decision: "unauthenticated", why: expect.any(String), request: "POST /api/v1/workers/allocate" },
      { decision: "allowed", user: "octocat", why: "octocat has allocated it" },
    ]);
    for (const secret of [good, bad, String(allocated.body.token)])
      expect(JSON.stringify(environment.audit)).not.toContain(secret);
  });
});

describe("a certificate of certs/request grants no more than what it was asked for with", () => {
  const secretToken = "the-token-of-whom-a-pool-calls-boss";
  const rule = { users: ["octocat"], maxConcurrent: 1, maxTTL: "10m" };
  beforeAll(async () => {
    const methods = [
      {
        type: "oidc",
        oidc: { issuer: environment.issuer.url, audience: "open-only", claimsMapping: { user: "actor" } },
      },
      { type: "token", token: { secretRef: "open-tokens" } },
    ];
    await environment.secret(namespace, "open-tokens", { boss: secretToken });
    await environment.pools.pool("open", {
      scaling: { min: 1 },
      auth: { methods, rbac: { enabled: false } },
    });
    await environment.pools.pool("ruled", { scaling: { min: 2 }, auth: { rbac: { rules: [rule] } } });
    for (const pool of ["open", "ruled"]) await known(pool, environment.token("boss"));
  });

  const certified = async (asked: Asked, pools: readonly string[], change: object = {}) => {
    const body = { pools, namespace, ...change };
    const answered = await environment.ask("POST", "/api/v1/certs/request", { ...asked, body });
    expect(answered, answered.text).toMatchObject({ status: 200 });
    const { clientCert, clientKey, expiresAt } = answered.body;
    return {
      pair: { certificate: String(clientCert), key: String(clientKey) },
      expiresAt: Date.parse(String(expiresAt)),
    };
  };
  const rules = async (
    pool: string,
    changed: readonly (typeof rule & {
      verbs?: ("allocate" | "certs")[];
      claims?: Record<string, string[]>;
    })[],
  ) => {
    const patch = { spec: { auth: { rbac: { rules: changed } } } };
    await environment.client.patch(BuildKitPool, { namespace, name: pool }, { type: "merge", patch });
  };

  test.for<[string, () => string]>([
    ["a token of a pool's own Secret", () => secretToken],
    ["a token of a pool's own issuer", () => environment.token("boss", { aud: "open-only" })],
  ])("neither administration nor another pool: %s", async ([, token]) => {
    const { pair } = await certified({ token: token() }, ["open"]);
    const own = await allocate({ pair }, { poolName: "open" });
    expect(own.status).toBe(200);
    const released = { body: { token: own.body.token }, pair };
    expect((await environment.ask("POST", "/api/v1/workers/release", released)).status).toBe(200);
    expect((await allocate({ pair }, { poolName: "open", priority: 1 })).status).toBe(422);
    for (const poolName of ["ci", "other", "ruled"])
      expect((await allocate({ pair }, { poolName })).status).toBe(403);
    const { body } = await environment.ask("GET", "/api/v1/pools", { pair });
    expect(body).toEqual({ pools: [expect.objectContaining({ name: "open" })] });
    const others = await allocate({ token: environment.token() }, { poolName: "ruled" });
    const taken = { body: { token: others.body.token }, pair };
    for (const path of ["release", "lookup", "renew"])
      expect((await environment.ask("POST", `/api/v1/workers/${path}`, taken)).status).toBe(403);
    await release(environment.token(), others.body.token);
  });

  test("an administrator's counts for the pools that it names", async () => {
    const { pair } = await certified({ token: environment.token("boss") }, ["ci"]);
    const others = await allocate({ token: environment.token() });
    const body = { token: others.body.token };
    expect((await environment.ask("POST", "/api/v1/workers/lookup", { pair, body })).status).toBe(200);
    await release(environment.token(), others.body.token);
    expect((await allocate({ pair }, { poolName: "other" })).status).toBe(403);
  });

  test("the limits of its rule, and no verb that the rule lacks", async () => {
    const { pair } = await certified({ token: environment.token() }, ["ruled"]);
    const first = await allocate({ pair }, { poolName: "ruled", ttl: "2h" });
    expect(first.status).toBe(200);
    expect(Date.parse(String(first.body.expiresAt))).toBeLessThanOrEqual(Date.now() + 10 * 60_000);
    expect((await allocate({ pair }, { poolName: "ruled" })).status).toBe(429);
    await release(environment.token(), first.body.token);

    await rules("ruled", [{ ...rule, verbs: ["certs"] }]);
    await vi.waitFor(async () => expect((await allocate({ pair }, { poolName: "ruled" })).status).toBe(403));
    const certsOnly = await certified({ token: environment.token() }, ["ruled"]);
    expect((await allocate(certsOnly, { poolName: "ruled" })).status).toBe(403);
    await rules("ruled", [rule]);
  });

  test("nothing once the rule is gone, or asks for claims that it has not", async () => {
    const { pair } = await certified({ token: environment.token() }, ["ruled"]);
    const mayView = async () =>
      (await environment.ask("GET", `/api/v1/pools/ruled?namespace=${namespace}`, { pair })).status;
    await vi.waitFor(async () => expect(await mayView()).toBe(200));
    for (const changed of [[], [{ ...rule, claims: { repository: ["acme/other"] } }]]) {
      await rules("ruled", changed);
      await vi.waitFor(async () => expect(await mayView()).toBe(403));
    }
    await rules("ruled", [{ ...rule, claims: { repository: ["acme/*"] } }]);
    await vi.waitFor(async () => expect(await mayView()).toBe(200));
    await rules("ruled", [rule]);
  });

  test("no further certificate that lasts longer, or for more pools", async () => {
    const first = await certified({ token: environment.token() }, ["ci"], { duration: "5m" });
    const second = await certified({ pair: first.pair }, ["ci"], { duration: "24h" });
    expect(second.expiresAt).toBeLessThanOrEqual(first.expiresAt);
    const body = { pools: ["ci", "ruled"], namespace };
    expect((await environment.ask("POST", "/api/v1/certs/request", { pair: first.pair, body })).status).toBe(
      403,
    );
    expect((await allocate({ pair: second.pair }, { poolName: "ruled" })).status).toBe(403);
  });

  test("nothing once the pool no longer has the issuer or the token", async () => {
    const byToken = await certified({ token: secretToken }, ["open"]);
    const byIssuer = await certified({ token: environment.token("boss", { aud: "open-only" }) }, ["open"]);
    const patch = { spec: { auth: { methods: [] } } };
    await environment.client.patch(BuildKitPool, { namespace, name: "open" }, { type: "merge", patch });
    for (const { pair } of [byToken, byIssuer])
      await vi.waitFor(async () =>
        expect(await allocate({ pair }, { poolName: "open" })).toMatchObject({
          status: 401,
          body: { message: expect.stringContaining("no longer accepted") },
        }),
      );
  });

  test("nothing after its end, on a connection that is older than that either", async () => {
    const { pair } = await certified({ token: environment.token() }, ["ci"], { duration: "3s" });
    const view = () => environment.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { pair });
    expect((await view()).status).toBe(200);
    // The agent keeps the connection, whose handshake is not repeated.
    const ended = { status: 401, body: { message: expect.stringContaining("has expired") } };
    await vi.waitFor(async () => expect(await view()).toMatchObject(ended), { timeout: 10_000 });
    const body = { pools: ["ci"], namespace };
    expect(await environment.ask("POST", "/api/v1/certs/request", { pair, body })).toMatchObject(ended);
  });

  test("nothing once the pool's Secret has another token for the user", { timeout: 40_000 }, async () => {
    const key = { namespace, name: "ci-tokens" };
    const before = "a-long-enough-secret-token";
    const byOld = await certified({ token: before }, ["ci"]);
    const replace = async (text: string) => {
      const data = { robot: Buffer.from(text).toString("base64") };
      await environment.client.patch(Secret, key, { type: "merge", patch: { data } });
    };
    const after = "another-long-secret-token";
    await replace(after);
    // A Secret counts for 15 s once it was read.
    await vi.waitFor(async () => expect((await allocate({ pair: byOld.pair })).status).toBe(401), 25_000);
    const byNew = await certified({ token: after }, ["ci"]);
    const view = `/api/v1/pools/ci?namespace=${namespace}`;
    expect((await environment.ask("GET", view, { pair: byNew.pair })).status).toBe(200);
    await replace(before);
  });

  test.for<[string, object]>([
    ["for another audience", { audience: "another" }],
    ["by another claim", { claimsMapping: { user: "sub" } }],
    ["who have other claims", { requiredClaims: { repository: "another/*" } }],
  ])("nothing once its issuer is asked for users %s", async ([, changed]) => {
    const { pair } = await certified({ token: environment.token() }, ["ci"]);
    const configured = { namespace: "buildkit-system", name: "github" };
    const { spec } = await environment.client.get(BuildKitOIDCConfig, configured);
    const configure = (patch: object) =>
      environment.client.patch(BuildKitOIDCConfig, configured, { type: "merge", patch: { spec: patch } });
    const view = async () =>
      (await environment.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { pair })).status;
    await configure(changed);
    await vi.waitFor(async () => expect(await view()).toBe(401));
    const { audience: one, claimsMapping, requiredClaims } = spec;
    await configure({ audience: one, claimsMapping, requiredClaims });
    await vi.waitFor(async () => expect(await view()).toBe(200));
  });

  test.for<[string, (client: Authority, uris: readonly [string, string]) => KeyPair | undefined]>([
    [
      "of another authority by the same name",
      (_client, uris) => createAuthority({ commonName: "clients", validFor: "1d" }).issue(standing(uris)),
    ],
    [
      "of another authority, followed by one that counts",
      (client, uris) => {
        const pair = createAuthority({ commonName: "clients", validFor: "1d" }).issue(standing(uris));
        const { certificate } = client.issue(standing(uris));
        return { ...pair, certificate: `${pair.certificate}${certificate}` };
      },
    ],
    ["the authority's own", ({ certificate, key }) => ({ certificate, key })],
    ["for servers", (client, uris) => client.issue({ ...standing(uris), usages: ["server"] })],
    ["that has expired", (client, uris) => at(client, -2).issue(standing(uris))],
    ["that is not valid yet", (client, uris) => at(client, 2).issue(standing(uris))],
    [
      "for two identities",
      (client, uris) => client.issue(standing([...uris, `${uris[0].slice(0, -4)}AAAA`])),
    ],
    [
      "with a prefix in other letters",
      (client, [identity, pool]) => client.issue(standing([identity.replace("buildkit", "BuildKit"), pool])),
    ],
    [
      "for pools by a pattern",
      (client, [identity]) => client.issue(standing([identity, "buildkit://pool/*/*"])),
    ],
    [
      "for a pool in escaped letters",
      (client, [identity, pool]) => client.issue(standing([identity, pool.replace("/ci", "%2Fci")])),
    ],
    ["for no pool", (client, [identity]) => client.issue(standing([identity]))],
  ])("one %s is refused", async ([, make]) => {
    const client = await clientAuthority();
    const by = {
      is: "oidc",
      provider: "github",
      issuer: environment.issuer.url,
      scope: { for: "all-pools" },
    };
    const claims = { actor: "boss", repository: "acme/shop", aud: audience };
    const identity = { user: "boss", id: "oidc:github:boss", groups: [], claims, by };
    const uris = [
      `buildkit://identity/${Buffer.from(JSON.stringify(identity)).toString("base64url")}`,
      `buildkit://pool/${namespace}/ci`,
    ] as const;
    const view = async (pair: KeyPair | undefined) =>
      (await environment.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, pair ? { pair } : {})).status;
    expect(await view(client.issue(standing(uris)))).toBe(200);
    expect([401, 403]).toContain(await view(make(client, uris)));
  });

  const standing = (uris: readonly string[]) =>
    ({ commonName: "boss", uris, usages: ["client"], validFor: "1h" }) as const;
  const at = ({ certificate, key }: Authority, hours: number) =>
    loadAuthority(certificate, key, { clock: new ManualClock(Date.now() + hours * 3_600_000) });
  const clientAuthority = async () => {
    const name = clusterSecrets.clientAuthorities;
    const ring = await environment.client.get(Secret, { namespace: "buildkit-system", name });
    const authority = signingAuthority(readAuthorities(textData(ring)), systemClock);
    if (!authority) throw new Error("no authority can sign");
    return authority;
  };

  test("one of an earlier release, which does not carry who vouched for it, is refused", async () => {
    const authority = await clientAuthority();
    const carried = Buffer.from(JSON.stringify({ user: "boss", id: "boss" })).toString("base64url");
    const pair = authority.issue({
      commonName: "boss",
      uris: [`buildkit://identity/${carried}`, `buildkit://pool/${namespace}/ci`],
      usages: ["client"],
      validFor: "1h",
    });
    expect(await allocate({ pair })).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining("earlier release") },
    });
  });
});

test("no body of any kind brings the server down: never a 5xx", { timeout: 60_000 }, async () => {
  const token = environment.token();
  const routes = apiRoutes({ options: {} } as unknown as Service).filter(({ method }) => method === "POST");
  const word = fc.constantFrom(
    "poolName",
    "namespace",
    "token",
    "ttl",
    "wait",
    "jobId",
    "pools",
    "metadata",
    "csr",
    "priority",
    "affinityKey",
    "duration",
    "poolSelector",
    "useExistingCerts",
    "__proto__",
  );
  const value = fc.oneof(
    fc.constantFrom(
      "ci",
      namespace,
      "nope",
      "1h",
      "0s",
      "",
      "99999h",
      "../..",
      "a".repeat(300),
      "\u0000",
      "\ud800",
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const body = fc.oneof(
    { weight: 6, arbitrary: fc.dictionary(word, value, { maxKeys: 6 }).map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), body, async ({ path }, text) => {
      const to = path.replaceAll(/\{\w+\}/g, "nope");
      // No request here waits for minutes.
      const quick = text.startsWith("{") ? text.replace(/\{/, '{"wait":"0s",') : text;
      const answered = await environment.ask("POST", to, {
        token,
        body: path.endsWith("/workers/allocate") ? quick : text,
      });
      expect(answered.status, `${to} ${text}`).toBeLessThan(500);
      if (answered.status >= 400)
        expect(Object.keys(answered.body).sort()).toEqual(["code", "details", "message"]);
      const allocated = answered.body.token ?? answered.body.allocationToken;
      if (allocated !== undefined) await release(token, allocated);
      if (answered.status === 202)
        await environment.ask("DELETE", `/api/v1/allocations/${String(answered.body.allocationId)}`, {
          token,
        });
    }),
    { numRuns: 500 },
  );
});
