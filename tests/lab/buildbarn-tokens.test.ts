import { generateKeyPairSync, sign } from "node:crypto";
import { createAuthority } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { ConfigMap, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  versions,
} from "../../operators/buildbarn/src/index.ts";
import { smoke } from "../../operators/buildbarn/src/probe/smoke.ts";
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";
import { CallError, type Credentials, RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/** Who is let in by the real program of each release, with a token or a certificate of its own. */
const wait = { timeout: 120_000 };
const issuer = "https://ci.example.com";
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = { ...publicKey.export({ format: "jwk" }), kid: "lab", alg: "ES256", use: "sig" };
const servers = createAuthority({ commonName: "servers", validFor: "1h" });
const people = createAuthority({ commonName: "people", validFor: "1h" });
const soon = Math.floor(Date.now() / 1_000) + 3_600;

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "ES256", typ: "JWT", kid: "lab" })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
const personOf = (authority: typeof people, name: string) =>
  authority.issue({ commonName: name, dnsNames: [name], usages: ["client"], validFor: "1h" });

describe.each(versions)("a guarded frontend of %s", (version) => {
  let world: LabTestEnvironment;
  let address: string;
  const specs = labSpecs(version);
  const key = (name: string) => ({ namespace: world.namespace, name });

  beforeAll(async () => {
    world = await labTestEnvironment(`buildbarn-tokens-${version}`);
    const { client } = world.cluster;
    await client.create(ConfigMap, {
      metadata: key("keys"),
      data: { "jwks.json": JSON.stringify({ keys: [jwk] }) },
    });
    await client.create(ConfigMap, { metadata: key("people"), data: { "ca.crt": people.certificate } });
    await client.create(BuildbarnStorage, { metadata: key("storage"), spec: specs.storage });
    await client.create(BuildbarnScheduler, { metadata: key("scheduler"), spec: specs.scheduler });
    await client.create(BuildbarnFrontend, {
      metadata: key("frontend"),
      spec: {
        ...specs.frontend,
        replicas: 1,
        tls: { secretName: "cert" },
        authentication: {
          jwt: {
            configMapName: "keys",
            claimsValidation: `iss == '${issuer}' && contains(groups, 'builds')`,
          },
          clientCertificates: { configMapName: "people", validation: "contains(dnsNames, 'ada')" },
        },
        authorization: {
          read: "claims.sub != 'writer'",
          writeResults: "claims.sub == 'ci' || certificate.dnsNames[0] == 'ada'",
          execute: "claims.sub == 'ci' && instanceName == ''",
        },
      },
    });
    await waitFor(client, Service, key("frontend"), ({ spec }) => spec?.clusterIP !== undefined, wait);
    const { clusterIP = "" } = (await client.get(Service, key("frontend"))).spec ?? {};
    address = `${clusterIP}:8980`;
    const pair = servers.issue({
      commonName: "frontend",
      ipAddresses: [clusterIP],
      usages: ["server"],
      validFor: "1h",
    });
    await client.create(Secret, {
      metadata: key("cert"),
      type: "kubernetes.io/tls",
      stringData: { "tls.crt": pair.certificate, "tls.key": pair.key },
    });
    await waitForCondition(client, BuildbarnFrontend, key("frontend"), "Ready", "True", wait);
    await waitForCondition(client, BuildbarnStorage, key("storage"), "Ready", "True", wait);
  }, 300_000);
  afterAll(() => world?.close(), 120_000);

  /** The code of a refusal, or 0. */
  async function codeOf(call: Promise<unknown>): Promise<number> {
    try {
      await call;
      return 0;
    } catch (error) {
      if (error instanceof CallError) return error.code;
      throw error;
    }
  }

  async function answer(own: Omit<Credentials, "authorities">): Promise<string> {
    using cache = new RemoteCache(address, { authorities: servers.certificate, ...own });
    try {
      return await cache.read("nothing that was ever built");
    } catch (error) {
      if (error instanceof CallError && error.code === 16) return "refused";
      throw error;
    }
  }

  test("lets in who has a good token, or a good certificate", async () => {
    const claims = { iss: issuer, exp: soon, groups: ["people", "builds"] };
    expect(await answer({ token: token(claims) })).toBe("miss");
    expect(await answer({ pair: personOf(people, "ada") })).toBe("miss");
  });

  test.for([
    ["neither", () => ({})],
    ["a token of another issuer", () => ({ token: token({ iss: "x", exp: soon, groups: ["builds"] }) })],
    ["a token of another group", () => ({ token: token({ iss: issuer, exp: soon, groups: ["x"] }) })],
    ["a token without groups", () => ({ token: token({ iss: issuer, exp: soon }) })],
    ["a token that has ended", () => ({ token: token({ iss: issuer, exp: 1, groups: ["builds"] }) })],
    ["a certificate of another user", () => ({ pair: personOf(people, "eve") })],
    ["a certificate of another authority", () => ({ pair: personOf(servers, "ada") })],
  ] as const)("refuses who has %s", async ([, own]) => {
    expect(await answer(own())).toBe("refused");
  });

  const tokenOf = (sub: string) => ({ token: token({ iss: issuer, exp: soon, groups: ["builds"], sub }) });
  const permissionDenied = 7;

  test.for([
    ["ci", () => tokenOf("ci"), 0],
    ["a person with a token", () => tokenOf("grace"), permissionDenied],
    ["a person with a certificate", () => ({ pair: personOf(people, "ada") }), 0],
  ] as const)("has results written by those who may alone: %s", async ([name, own, code]) => {
    using cache = new RemoteCache(address, { authorities: servers.certificate, ...own() });
    expect(await codeOf(cache.write(`an action of ${name}`))).toBe(code);
    expect(await cache.hasResult(`an action of ${name}`)).toBe(code === 0);
  });

  test("has nothing read by those who may not", async () => {
    using cache = new RemoteCache(address, { authorities: servers.certificate, ...tokenOf("writer") });
    expect(await codeOf(cache.hasResult("anything"))).toBe(permissionDenied);
    expect(await codeOf(cache.readBlob("anything"))).toBe(permissionDenied);
  });

  test.for([
    ["grace", "", /^PERMISSION_DENIED/],
    ["ci", "elsewhere", /^PERMISSION_DENIED/],
    // It may, and there is no worker.
    ["ci", "", /^(UNAVAILABLE|FAILED_PRECONDITION).*No workers exist/],
  ] as const)(
    "has actions run for those who may alone: %s, of the instance %j",
    async ([sub, instanceName, said]) => {
      const result = await smoke(
        {
          address,
          connection: {
            authorities: servers.certificate,
            headers: { authorization: `Bearer ${tokenOf(sub).token}` },
          },
          instanceName,
          platform: [{ name: "OSFamily", value: "linux" }],
          nonce: `${sub}-${instanceName}-${version}`,
          timeoutSeconds: 10,
        },
        systemClock,
        AbortSignal.timeout(20_000),
      );
      expect(result.message).toMatch(said);
    },
  );

  test("lets members of the set, who have no token, do everything", async () => {
    const { client } = world.cluster;
    const { spec } = await client.get(Service, key("frontend-internal"));
    using cache = new RemoteCache(`${spec?.clusterIP}:8979`);
    await cache.write("an action of the set");
    expect(await cache.read("an action of the set")).toBe("hit");
  });
});
