import { testReconcile } from "@windlass/testing";
import { describe, expect, test } from "vitest";
import { oidcController } from "./controller.ts";
import { DiscoveryError, discover, type FetchJson } from "./discovery.ts";
import { BuildKitOIDCConfig } from "./oidc-config.ts";

const issuer = "https://id.example.com";
const key = { kty: "RSA", use: "sig", kid: "1", n: "…", e: "AQAB" };
const served =
  (documents: Readonly<Record<string, unknown>>): FetchJson =>
  async (url) => {
    if (!(url in documents)) throw new Error("it answered with status 404");
    return documents[url];
  };
const about = `${issuer}/.well-known/openid-configuration`;
const keysAt = `${issuer}/keys`;
const good = { [about]: { issuer, jwks_uri: keysAt }, [keysAt]: { keys: [key, { kty: "oct", k: "…" }] } };

describe("an issuer", () => {
  const find = (documents: Readonly<Record<string, unknown>>) =>
    discover(issuer, served(documents), new AbortController().signal);

  test("is used by its discovery document, and the keys that it names", async () => {
    await expect(find(good)).resolves.toEqual({ jwksUri: keysAt, keys: 1 });
  });

  test.for([
    ["IssuerUnreachable", {}],
    ["DiscoveryInvalid", { [about]: { hello: "world" } }],
    ["IssuerMismatch", { ...good, [about]: { issuer: "https://evil.example.com", jwks_uri: keysAt } }],
    ["IssuerUnreachable", { [about]: good[about] }],
    ["KeysInvalid", { ...good, [keysAt]: [] }],
    ["NoKeys", { ...good, [keysAt]: { keys: [{ kty: "oct" }, { ...key, use: "enc" }] } }],
  ] as const)("is refused: %s", async ([reason, documents]) => {
    const error = await find(documents).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(DiscoveryError);
    expect((error as DiscoveryError).reason).toBe(reason);
  });
});

describe("the status of a provider", () => {
  const config = (own: object = {}) =>
    BuildKitOIDCConfig.make("github", { issuer, audience: "builds", ...own });
  const reconciled = (
    documents: Readonly<Record<string, unknown>>,
    own?: object,
    trusted = config().metadata.namespace,
  ) => testReconcile(oidcController({ namespace: trusted, fetchJson: served(documents) }), config(own));

  test("is ready once the issuer has answered, and is asked again in a while", async () => {
    const { status, requeueAfter } = await reconciled(good);
    expect(status).toMatchObject({ ready: true, jwksURI: keysAt, keys: 1 });
    expect(status?.conditions?.[0]).toMatchObject({
      type: "Ready",
      status: "True",
      reason: "IssuerReachable",
    });
    expect(requeueAfter).toBe(600_000);
  });

  test("says why it is not ready, and asks again soon", async () => {
    const { status, requeueAfter } = await reconciled({});
    expect(status).toMatchObject({ ready: false, message: expect.stringContaining(about) });
    expect(status?.conditions?.[0]).toMatchObject({ status: "False", reason: "IssuerUnreachable" });
    expect(requeueAfter).toBe(30_000);
  });

  test("says that a provider elsewhere than with the operator counts nowhere, and asks no provider", async () => {
    const { status, requeueAfter } = await reconciled(good, {}, "buildkit-system");
    expect(status?.conditions?.[0]).toMatchObject({
      status: "False",
      reason: "NamespaceNotTrusted",
      message: expect.stringContaining("buildkit-system"),
    });
    expect(requeueAfter).toBeUndefined();
  });

  test("does not ask an issuer that is disabled", async () => {
    const { status, requeueAfter } = await reconciled({}, { enabled: false });
    expect(status?.conditions?.[0]).toMatchObject({ status: "False", reason: "Disabled" });
    expect(requeueAfter).toBeUndefined();
  });
});
