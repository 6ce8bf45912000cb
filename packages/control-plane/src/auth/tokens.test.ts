import { ManualClock, seededRandom } from "@windlass/clock";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { requestToken, reviewSelf, reviewToken } from "./reviews.ts";
import { createTokens, type Tokens } from "./tokens.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
let clock: ManualClock;
let stored: Map<string, JsonObject>;
let tokens: Tokens;

function store(resource: string, name: string, uid: string, spec: JsonObject = {}): JsonObject {
  const namespace = resource === "nodes" ? "" : "ns";
  const object = { metadata: { name, namespace, uid }, spec };
  stored.set(`${resource}/${namespace}/${name}`, object);
  return object;
}

async function request(spec: JsonObject): Promise<JsonObject> {
  const account = stored.get("serviceaccounts/ns/sa") ?? {};
  return requestToken({ spec }, account, { tokens, clock });
}

async function token(spec: JsonObject = {}): Promise<string> {
  return ((await request(spec)).status as { token: string }).token;
}

function claims(jwt: string): JsonObject {
  return JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as JsonObject;
}

async function review(jwt: string, audiences?: string[]): Promise<JsonObject> {
  const answer = await reviewToken({ spec: { token: jwt, ...(audiences ? { audiences } : {}) } }, tokens);
  return answer.status as JsonObject;
}

beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 0, 1));
  stored = new Map();
  tokens = createTokens({
    clock,
    random: seededRandom(1),
    find: (resource, namespace, name) => stored.get(`${resource}/${namespace}/${name}`),
    staticTokens: new Map([["fixed", { name: "tom", groups: ["devs"] }]]),
  });
  store("serviceaccounts", "sa", "sa-uid");
  store("pods", "pod", "pod-uid", { serviceAccountName: "sa", nodeName: "node" });
  store("nodes", "node", "node-uid");
  store("secrets", "secret", "secret-uid");
});

describe("a token request", () => {
  test("is answered with a token, its audience and its end", async () => {
    const answer = await request({});
    expect(answer).toMatchObject({
      kind: "TokenRequest",
      metadata: { name: "sa", namespace: "ns", uid: "sa-uid", creationTimestamp: "2026-01-01T00:00:00Z" },
      spec: { audiences: [issuer], expirationSeconds: 3600, boundObjectRef: null },
      status: { expirationTimestamp: "2026-01-01T01:00:00Z" },
    });
    const now = Date.UTC(2026, 0, 1) / 1000;
    expect(claims((answer.status as { token: string }).token)).toEqual({
      aud: [issuer],
      exp: now + 3600,
      iat: now,
      nbf: now,
      iss: issuer,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sub: "system:serviceaccount:ns:sa",
      "kubernetes.io": { namespace: "ns", serviceaccount: { name: "sa", uid: "sa-uid" } },
    });
  });

  test("bound to a pod names the pod and its node", async () => {
    const jwt = await token({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "pod" } });
    expect(claims(jwt)["kubernetes.io"]).toMatchObject({
      pod: { name: "pod", uid: "pod-uid" },
      node: { name: "node", uid: "node-uid" },
    });
  });

  test("of the length that pods ask for gives a pod a year, with a time to warn after", async () => {
    const bound = { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "pod" }, expirationSeconds: 3607 };
    const { exp, iat, "kubernetes.io": extra } = claims(await token(bound));
    expect(Number(exp) - Number(iat)).toBe(365 * 86_400);
    expect(extra).toMatchObject({ warnafter: Number(iat) + 3607 });
  });

  test.each([
    [{ expirationSeconds: 599 }, 422, /may not specify a duration less than 10 minutes$/],
    [{ expirationSeconds: 2 ** 32 + 1 }, 422, /may not specify a duration larger than 2\^32 seconds$/],
    [
      { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } },
      400,
      /type \/v1, Kind=ConfigMap$/,
    ],
    [{ boundObjectRef: { kind: "__proto__", apiVersion: "v1", name: "x" } }, 400, /Kind=__proto__$/],
    [
      { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "nope" } },
      404,
      /^secrets "nope" not found$/,
    ],
    [
      { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "secret", uid: "x" } },
      409,
      /^Operation cannot be/,
    ],
  ])("for %j is refused", async (spec, code, message) => {
    await expect(request(spec)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe("a token", () => {
  test("is its service account's, with the groups and the credential's id", async () => {
    expect(await review(await token())).toEqual({
      authenticated: true,
      user: {
        username: "system:serviceaccount:ns:sa",
        uid: "sa-uid",
        groups: ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
        extra: { "authentication.kubernetes.io/credential-id": [expect.stringMatching(/^JTI=/)] },
      },
      audiences: [issuer],
    });
  });

  test("is good for its audiences only", async () => {
    const jwt = await token({ audiences: ["a", "b"] });
    expect(await review(jwt, ["b", "c"])).toMatchObject({ authenticated: true, audiences: ["b"] });
    expect(await review(jwt)).toEqual({
      user: {},
      error: `[invalid bearer token, token audiences ["a" "b"] is invalid for the target audiences ["${issuer}"]]`,
    });
  });

  test("ends a minute after its time, by the clock it was given", async () => {
    const jwt = await token({ expirationSeconds: 600 });
    await clock.advance(659_000);
    expect(await review(jwt)).toMatchObject({ authenticated: true });
    await clock.advance(2_000);
    expect(await review(jwt)).toEqual({
      user: {},
      error: "[invalid bearer token, service account token has expired]",
    });
  });

  test("ends with its account, at once and even if another of the name follows", async () => {
    const jwt = await token();
    stored.delete("serviceaccounts/ns/sa");
    expect((await review(jwt)).error).toBe('[invalid bearer token, serviceaccounts "sa" not found]');
    store("serviceaccounts", "sa", "next");
    expect((await review(jwt)).error).toBe(
      "[invalid bearer token, service account UID (next) does not match claim (sa-uid)]",
    );
  });

  test.each([
    ["Pod", "pods", "pod"],
    ["Secret", "secrets", "secret"],
    ["Node", "nodes", "node"],
  ])("bound to a %s ends with it", async (kind, resource, name) => {
    const jwt = await token({ boundObjectRef: { kind, apiVersion: "v1", name } });
    expect(await review(jwt)).toMatchObject({ authenticated: true });
    store(resource, name, "next");
    expect((await review(jwt)).error).toMatch(new RegExp(`${name} UID \\(next\\) does not match`));
    stored.delete(`${resource}/${resource === "nodes" ? "" : "ns"}/${name}`);
    expect((await review(jwt)).error).toBe(
      "[invalid bearer token, service account token has been invalidated]",
    );
  });

  /** Gone by now, except for a finalizer. */
  function markDeleted(resource: string, name: string): void {
    const object = stored.get(`${resource}/${resource === "nodes" ? "" : "ns"}/${name}`) as JsonObject;
    const deletionTimestamp = new Date(clock.now()).toISOString();
    stored.set(`${resource}/${resource === "nodes" ? "" : "ns"}/${name}`, {
      ...object,
      metadata: { ...(object.metadata as JsonObject), deletionTimestamp },
    });
  }

  test.each([
    ["Pod", "pods", "pod"],
    ["Secret", "secrets", "secret"],
    ["Node", "nodes", "node"],
  ])("bound to a %s that is being deleted ends a minute later", async (kind, resource, name) => {
    const jwt = await token({ boundObjectRef: { kind, apiVersion: "v1", name } });
    markDeleted(resource, name);
    await clock.advance(59_000);
    expect(await review(jwt)).toMatchObject({ authenticated: true });
    await clock.advance(2_000);
    expect((await review(jwt)).error).toBe(
      "[invalid bearer token, service account token has been invalidated]",
    );
  });

  test("of an account that is being deleted ends a minute later", async () => {
    const jwt = await token();
    markDeleted("serviceaccounts", "sa");
    await clock.advance(61_000);
    expect((await review(jwt)).error).toBe("[invalid bearer token, service account ns/sa has been deleted]");
  });

  test("that a Secret holds ends as soon as the Secret or its account is being deleted", async () => {
    const account = stored.get("serviceaccounts/ns/sa") ?? {};
    const jwt = await tokens.issueForSecret(account, stored.get("secrets/ns/secret") ?? {});
    const held = { ...stored.get("secrets/ns/secret"), data: { token: Buffer.from(jwt).toString("base64") } };
    stored.set("secrets/ns/secret", held);
    expect(await review(jwt)).toMatchObject({ authenticated: true });
    markDeleted("serviceaccounts", "sa");
    expect((await review(jwt)).error).toBe("[invalid bearer token, ServiceAccount ns/sa has been deleted]");
    markDeleted("secrets", "secret");
    expect((await review(jwt)).error).toBe("[invalid bearer token, Token has been invalidated]");
  });

  test("a token of another key is refused, though the issuer is the same", async () => {
    const other = createTokens({ clock, random: seededRandom(1), find: () => undefined });
    const forged = await other.issue({
      serviceAccount: stored.get("serviceaccounts/ns/sa") ?? {},
      audiences: [issuer],
      expirationSeconds: 600,
    });
    expect((await review(forged.token)).error).toMatch(/error in cryptographic primitive/);
  });

  test("a token without a signature is refused", async () => {
    const [, payload] = (await token()).split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    expect(await review(`${none}.${payload}.`)).not.toHaveProperty("authenticated");
  });

  test("a token of any other form is refused", async () => {
    const good = await token();
    const mangled = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.array(fc.base64String(), { minLength: 1 }).map((parts) => `.${parts.join(".")}`),
      fc
        .tuple(fc.nat(good.length - 2), fc.constantFrom("A", "B", ".", "-"))
        .map(([at, letter]) => good.slice(0, at) + letter + good.slice(at + 1))
        .filter((text) => text !== good),
    );
    await fc.assert(
      fc.asyncProperty(mangled, async (text) => {
        expect(await tokens.verify(text)).toHaveProperty("error");
      }),
      { numRuns: 300 },
    );
  });

  test("that is static is its user's, for the server's own audience", async () => {
    expect(await review("fixed")).toMatchObject({
      authenticated: true,
      user: { username: "tom", groups: ["devs", "system:authenticated"] },
      audiences: [issuer],
    });
    expect(await review("fixed", ["other"])).toEqual({ user: {}, error: "invalid bearer token" });
  });
});

test("a token review without a token is a bad request", async () => {
  await expect(reviewToken({ spec: {} }, tokens)).rejects.toMatchObject({
    code: 400,
    message: "token is required for TokenReview in authentication",
  });
});

test("the published key verifies what is signed", async () => {
  const { createLocalJWKSet, jwtVerify } = await import("jose");
  const keys = createLocalJWKSet(tokens.keySet() as unknown as Parameters<typeof createLocalJWKSet>[0]);
  const { payload } = await jwtVerify(await token(), keys, { currentDate: new Date(clock.now()), issuer });
  expect(payload.sub).toBe("system:serviceaccount:ns:sa");
  expect(tokens.discovery("https://127.0.0.1:6443")).toMatchObject({
    issuer,
    jwks_uri: "https://127.0.0.1:6443/openid/v1/jwks",
  });
});

test("a SelfSubjectReview returns the user and nothing else", () => {
  expect(reviewSelf({ name: "jane", groups: ["a"] }, clock)).toEqual({
    kind: "SelfSubjectReview",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
    status: { userInfo: { username: "jane", groups: ["a"] } },
  });
});
