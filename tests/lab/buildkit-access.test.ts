import { ServiceAccount } from "@windlass/runtime/kinds";
import { waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { forgedTokens } from "../../operators/buildkit/src/identity/forged-tokens.fixture.ts";
import { audience, FakeIssuer } from "../../operators/buildkit/src/identity/issuer.fixture.ts";
import { BuildKitOIDCConfig } from "../../operators/buildkit/src/index.ts";
import { LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** Who may use the API, where a real API server says whose tokens are whose. */
let operator: LabOperator;
let issuer: FakeIssuer;
let namespace: string;
let other: string;

beforeAll(async () => {
  operator = await LabOperator.start(2);
  issuer = await FakeIssuer.start();
  namespace = await operator.createNamespace();
  other = await operator.createNamespace();
  const key = { namespace: operator.namespace, name: "github" };
  await operator.client.create(BuildKitOIDCConfig, {
    metadata: key,
    spec: {
      issuer: issuer.url,
      audience,
      claimsMapping: { user: "actor" },
      requiredClaims: { repository: "acme/*" },
      caBundle: issuer.authority.certificate,
    },
  });
  await waitFor(operator.client, BuildKitOIDCConfig, key, ({ status }) => status?.ready, { timeout: 60_000 });
  await operator.createPool(namespace, "ci", {
    scaling: { min: 1, max: 2 },
    auth: { rbac: { rules: [{ users: ["octocat"], claims: { repository: ["acme/*"] } }] } },
  });
}, 600_000);
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
}, 300_000);

const told = (what: string, figure: string | number) => process.stdout.write(`  ${what}: ${figure}\n`);
const look = async (token: string) =>
  (await operator.ask("GET", `/api/v1/pools/ci?namespace=${namespace}`, { token })).status;
/** A token with its payload or header changed, and the signature left as it was. */
const altered = (token: string, part: 0 | 1, change: object) => {
  const parts = token.split(".");
  const json = JSON.parse(Buffer.from(parts[part] ?? "", "base64url").toString()) as object;
  parts[part] = Buffer.from(JSON.stringify({ ...json, ...change })).toString("base64url");
  return parts.join(".");
};

test("an issuer's tokens and service accounts' are accepted, and identify the user", async () => {
  expect(await look(issuer.token({ actor: "octocat", repository: "acme/shop" }))).toBe(200);
  expect(await look(await operator.token(namespace))).toBe(200);
  expect(await look(issuer.token({ actor: "other", repository: "acme/shop" }))).toBe(403);
  expect(await look(await operator.token(other))).toBe(403);
});

test("forged, expired and foreign tokens are refused on every endpoint", async () => {
  const real = await operator.token(namespace);
  await operator.client.create(ServiceAccount, { metadata: { namespace, name: "gone" } });
  const gone = await operator.tokenFor(namespace, "gone", [audience]);
  await operator.client.delete(ServiceAccount, { namespace, name: "gone" });
  const forged: readonly (readonly [string, string])[] = [
    ...forgedTokens(issuer),
    ["a service account's for the API server", await operator.tokenFor(namespace, "ci", [])],
    ["a service account's for another audience", await operator.tokenFor(namespace, "ci", ["vault"])],
    ["that of a deleted service account", gone],
    [
      "a service account's with another subject",
      altered(real, 1, { sub: "system:serviceaccount:kube-system:x" }),
    ],
    ["a service account's with a later end", altered(real, 1, { exp: 4_000_000_000 })],
    ["a service account's without a signature", altered(real, 0, { alg: "none" }).replace(/[^.]*$/, "")],
    ["a service account's with half of its signature", real.slice(0, -200)],
    ["nothing", ""],
  ];
  const taken: string[] = [];
  for (const [what, token] of forged) {
    const status = await look(token);
    if (status !== 401) taken.push(`${what}: ${status}`);
  }
  told("forged tokens tried at the API", forged.length);
  expect(taken).toEqual([]);
  expect(forged.length).toBeGreaterThanOrEqual(40);
  const first = forged[1]?.[1] ?? "";
  for (const path of [
    "workers/allocate",
    "workers/lookup",
    "workers/renew",
    "workers/release",
    "certs/request",
    "allocate",
  ])
    expect(await operator.ask("POST", `/api/v1/${path}`, { token: first, body: {} })).toMatchObject({
      status: 401,
    });
}, 300_000);

test("no user manages another's allocation, nor reaches another namespace's pool", async () => {
  const allocated = await operator.allocate({ namespace, name: "ci" });
  const colleague = await operator.token(namespace, "other");
  const foreign = await operator.token(other);
  for (const token of [colleague, foreign])
    for (const verb of ["lookup", "renew", "release"])
      expect(
        await operator.ask("POST", `/api/v1/workers/${verb}`, { token, body: { token: allocated.token } }),
      ).toMatchObject({ status: 403 });
  const body = { poolName: "ci", namespace, wait: "1s" };
  expect(await operator.ask("POST", "/api/v1/workers/allocate", { token: foreign, body })).toMatchObject({
    status: 403,
  });
  expect(await operator.release(allocated)).toMatchObject({ status: 200 });
  const logged = operator.logs().join("");
  expect(logged).toContain('"decision":"denied"');
  expect(logged).not.toContain(allocated.token);
  expect(logged).not.toContain(colleague);
});
