import { ManualClock, systemClock } from "@windlass/clock";
import { startCluster } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "./authenticator.ts";
import { AuthenticationError, VerifierUnavailableError } from "./errors.ts";
import { forgedTokens } from "./forged-tokens.fixture.ts";
import { audience, FakeIssuer, newKey } from "./issuer.fixture.ts";
import { issuerHttp } from "./issuer-http.ts";
import type { KeyRules } from "./issuer-keys.ts";
import type { OidcProvider } from "./oidc.ts";
import { ServiceAccounts } from "./service-accounts.ts";

const cluster = await startCluster({ flavour: "embedded" });
const issuer = await FakeIssuer.start();
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
  await cluster.close();
});

const provider: OidcProvider = {
  name: "github",
  issuer: issuer.url,
  audiences: [audience],
  userClaim: "actor",
  requiredClaims: { repository: ["acme/*"] },
};

function authenticator(
  providers: readonly OidcProvider[] = [provider],
  {
    from = issuer,
    keys = {},
    clock = systemClock,
  }: { from?: FakeIssuer; keys?: KeyRules; clock?: ManualClock | typeof systemClock } = {},
) {
  const serviceAccounts = new ServiceAccounts({ client: cluster.client });
  const fetch = () => issuerHttp({ ca: from.authority.certificate, env: {} });
  return new Authenticator({ providers: () => providers, serviceAccounts, fetch, keys, clock });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, certificate: undefined });

describe("a token of an OIDC issuer", () => {
  test("says who its user is, with all claims", async () => {
    const [identity] = await authenticator().authenticate(bearer(issuer.token()));
    expect(identity).toMatchObject({
      user: "octocat",
      id: "oidc:github:octocat",
      claims: { repository: "acme/shop", ref: "refs/heads/main" },
      origin: { is: "oidc", provider: "github", issuer: issuer.url, scope: { for: "all-pools" } },
    });
  });

  test.for([
    ["signed with an EC key", () => issuer.token({}, issuer.keys[1])],
    ["for several audiences", () => issuer.token({ aud: ["other", audience] })],
    ["a minute late", () => issuer.token({ exp: Math.floor(Date.now() / 1_000) - 30 })],
    ["of a clock that is ahead", () => issuer.token({ nbf: Math.floor(Date.now() / 1_000) + 30 })],
  ] as const)("is taken when %s", async ([, token]) => {
    const [{ user }] = await authenticator().authenticate(bearer(token()));
    expect(user).toBe("octocat");
  });

  const forged = forgedTokens(issuer);
  const shared = authenticator();

  test("is forged in more than 40 ways here", () => {
    expect(new Set(forged.map(([, token]) => token)).size).toBe(forged.length);
    expect(forged.length).toBeGreaterThan(40);
  });

  test.for(forged)("is refused with %s", async ([, token]) => {
    await expect(shared.authenticate(bearer(token))).rejects.toThrow(AuthenticationError);
  });

  test.for(["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Token x", "Bearer a b"])(
    "is not found in the header %j",
    async (authorization) => {
      await expect(shared.authenticate({ authorization, certificate: undefined })).rejects.toThrow(
        AuthenticationError,
      );
    },
  );

  test("is verified by each provider of its issuer: by audience, by mapping", async () => {
    const both = authenticator([
      provider,
      { name: "other", issuer: issuer.url, audiences: ["other"], userPrefix: "gh:" },
      {
        name: "builds/ci",
        issuer: issuer.url,
        audiences: ["other"],
        scope: { for: "pools", pools: ["builds/ci"] },
      },
    ]);
    const ids = (token: string) => both.authenticate(bearer(token)).then((all) => all.map(({ id }) => id));
    expect(await ids(issuer.token({ sub: "s" }))).toEqual(["oidc:github:octocat"]);
    expect(await ids(issuer.token({ sub: "s", aud: "other" }))).toEqual([
      "oidc:other:gh:s",
      "oidc:builds/ci:s",
    ]);
  });

  test("counts by the providers of the moment", async () => {
    const providers: OidcProvider[] = [];
    const one = authenticator(providers);
    await expect(one.authenticate(bearer(issuer.token()))).rejects.toThrow(AuthenticationError);
    providers.push(provider);
    await expect(one.authenticate(bearer(issuer.token()))).resolves.toHaveLength(1);
    providers.pop();
    await expect(one.authenticate(bearer(issuer.token()))).rejects.toThrow(AuthenticationError);
  });
});

describe("keys of an issuer", () => {
  let other: FakeIssuer;
  beforeAll(async () => {
    other = await FakeIssuer.start();
    return () => other[Symbol.asyncDispose]();
  });
  const setUp = (keys: KeyRules = {}) => {
    const clock = new ManualClock(Date.now());
    const one = authenticator([{ ...provider, issuer: other.url }], { from: other, keys, clock });
    return { clock, one, sees: (token: string) => one.authenticate(bearer(token)) };
  };

  test("are fetched once for many tokens at once", async () => {
    const { sees } = setUp();
    other.asked.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => sees(other.token())));
    expect(other.asked).toEqual(["/.well-known/openid-configuration", "/keys"]);
  });

  test("that are new are found, and those taken away no longer count", async () => {
    const { clock, sees } = setUp();
    const old = other.token();
    await sees(old);
    const before = other.keys;
    other.keys = [newKey("third")];
    await clock.advance(10_000);
    await expect(sees(other.token())).resolves.toHaveLength(1);
    await expect(sees(old)).rejects.toThrow(AuthenticationError);
    other.keys = before;
  });

  test("that are unknown are asked for at most once in ten seconds", async () => {
    const { clock, sees } = setUp();
    await sees(other.token());
    other.asked.length = 0;
    await clock.advance(10_000);
    for (let turn = 0; turn < 5; turn++)
      await expect(sees(other.token({}, newKey(`made-up-${turn}`)))).rejects.toThrow(AuthenticationError);
    expect(other.asked).toHaveLength(2);
  });

  test("go on while the issuer is down, for a day", async () => {
    const { clock, one, sees } = setUp({ longestStale: "24h" });
    await sees(other.token());
    other.isDown = true;
    try {
      await clock.advance(3_600_000);
      const fresh = () => other.token({ iat: 0, nbf: 0, exp: Math.floor(clock.now() / 1_000) + 60 });
      await expect(sees(fresh())).resolves.toHaveLength(1);
      await expect.poll(() => one.faultOf({ ...provider, issuer: other.url })).toContain("answered 503");
      await clock.advance(24 * 3_600_000);
      await expect(sees(fresh())).rejects.toThrow(VerifierUnavailableError);
    } finally {
      other.isDown = false;
    }
  });

  test("of an issuer that has never answered leave the question open", async () => {
    const { clock, sees } = setUp();
    other.isDown = true;
    try {
      await expect(sees(other.token())).rejects.toThrow(VerifierUnavailableError);
      await expect(sees(other.token())).rejects.toThrow("answered 503");
    } finally {
      other.isDown = false;
    }
    await clock.advance(10_000);
    await expect(sees(other.token())).resolves.toHaveLength(1);
  });

  test.for([
    [{ issuer: "https://evil.example.com" }, "has another issuer"],
    [{ jwks_uri: "http://localhost/keys" }, "jwks_uri is not a URL with https://"],
    [{ jwks_uri: 7 }, "is not a discovery document: jwks_uri"],
  ] as const)("are not taken from a discovery document with %j", async ([change, why]) => {
    other.discovery = change;
    try {
      await expect(setUp().sees(other.token())).rejects.toThrow(why);
    } finally {
      other.discovery = {};
    }
  });

  test("for encryption verify nothing", async () => {
    const key = newKey("sealed");
    other.extraKeys.push({ ...key.publicKey.export({ format: "jwk" }), kid: key.kid, use: "enc" });
    await expect(setUp().sees(other.token({}, key))).rejects.toThrow(AuthenticationError);
    other.extraKeys.pop();
  });
});

describe("a token of a service account", () => {
  const account = async () => {
    const namespace = await cluster.createNamespace("builds");
    await cluster.clientFor(namespace, "ci");
    const token = async (audiences: readonly string[]) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/ci/token`;
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences } };
      const made = (await cluster.client.json({ method: "POST", path, body })) as {
        status: { token: string };
      };
      return made.status.token;
    };
    return { namespace, token };
  };

  test("is accepted for our audience, and says the namespace", async () => {
    const { namespace, token } = await account();
    const [identity] = await authenticator().authenticate(bearer(await token([audience])));
    expect(identity).toMatchObject({
      user: `system:serviceaccount:${namespace}:ci`,
      id: `system:serviceaccount:${namespace}:ci`,
      origin: { is: "service-account", namespace },
    });
    expect(identity.groups).toContain(`system:serviceaccounts:${namespace}`);
  });

  test("is refused for the API server's audience", async () => {
    const { token } = await account();
    for (const audiences of [[], ["https://kubernetes.default.svc"], ["other"]])
      await expect(authenticator().authenticate(bearer(await token(audiences)))).rejects.toThrow(
        AuthenticationError,
      );
  });

  test("is refused with one character changed", async () => {
    const { token } = await account();
    const genuine = await token([audience]);
    const [head, body, signature = ""] = genuine.split(".");
    const changed = `${head}.${body}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    await expect(authenticator().authenticate(bearer(changed))).rejects.toThrow(AuthenticationError);
  });

  test("leaves the question open where the API server does not answer", async () => {
    const { token } = await account();
    const genuine = await token([audience]);
    using _ = cluster.controlPlane?.faults.add({ kinds: ["TokenReview"], error: { code: 500 } });
    await expect(authenticator().authenticate(bearer(genuine))).rejects.toThrow(VerifierUnavailableError);
  });
});
