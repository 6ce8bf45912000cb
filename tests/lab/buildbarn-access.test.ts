import { generateKeyPairSync, sign } from "node:crypto";
import { createAuthority } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { ConfigMap, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BuildbarnCluster } from "../../operators/buildbarn/src/index.ts";
import { smoke } from "../../operators/buildbarn/src/probe/smoke.ts";
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
  withoutVersion,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";

/** Real Buildbarn behind TLS and tokens. */
const wait = { timeout: 120_000 };
const issuer = "https://ci.example.com";
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const authority = createAuthority({ commonName: "builds", validFor: "1h" });

let world: LabTestEnvironment;
let address: string;
const key = (name: string) => ({ namespace: world.namespace, name });

function token(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "ES256", typ: "JWT", kid: "lab" })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(signed), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

beforeAll(async () => {
  world = await labTestEnvironment("buildbarn-access");
  const { client } = world.cluster;
  const { storage, frontend, scheduler } = labSpecs("2025-02");
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "lab", alg: "ES256", use: "sig" };
  await client.create(ConfigMap, {
    metadata: key("keys"),
    data: { "jwks.json": JSON.stringify({ keys: [jwk] }) },
  });
  await client.create(BuildbarnCluster, {
    metadata: key("bb"),
    spec: {
      version: "2025-02",
      storage: withoutVersion(storage),
      scheduler: withoutVersion(scheduler),
      frontend: {
        ...withoutVersion(frontend),
        tls: { secretName: "cert" },
        authentication: { jwt: { configMapName: "keys", claimsValidation: `iss == '${issuer}'` } },
      },
      workers: [
        {
          name: "linux",
          image: "ghcr.io/buildbarn/bb-worker:2025",
          runnerImage: "build-actions:2025",
          runnerInstallerImage: "ghcr.io/buildbarn/bb-runner-installer:2025",
          volumeInitImage: "busybox:1.35",
          platform,
          replicas: 1,
          minReadySeconds: 1,
          concurrency: 2,
        },
      ],
    },
  });
  await waitFor(client, Service, key("bb-frontend"), ({ spec }) => spec?.clusterIP !== undefined, wait);
  const { clusterIP = "" } = (await client.get(Service, key("bb-frontend"))).spec ?? {};
  address = `${clusterIP}:8980`;
  // Pods wait for it: the address is known only now.
  const pair = authority.issue({
    commonName: "bb-frontend",
    ipAddresses: [clusterIP],
    usages: ["server"],
    validFor: "1h",
  });
  await client.create(Secret, {
    metadata: key("cert"),
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": pair.certificate, "tls.key": pair.key },
  });
  await waitForCondition(client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
}, 300_000);
afterAll(async () => {
  await world?.close();
}, 300_000);

const platform = [{ name: "OSFamily", value: "linux" }];
const soon = Math.floor(Date.now() / 1_000) + 3_600;

/** Runs an action as Bazel would. (Debian's Bazel cannot do TLS: it ends without a word.) */
function probe(claims: object | undefined, authorities = authority.certificate) {
  const headers = claims && { authorization: `Bearer ${token(claims)}` };
  return smoke(
    {
      address,
      instanceName: "",
      platform,
      nonce: `n${Date.now()}`,
      timeoutSeconds: 30,
      connection: { authorities, ...(headers && { headers }) },
    },
    systemClock,
    AbortSignal.timeout(30_000),
  );
}

test("who has a good token runs actions over TLS, and finds what they made", async () => {
  expect(await probe({ iss: issuer, exp: soon })).toMatchObject({ ok: true, cacheHit: true });
});

test.for([
  ["no token", undefined],
  ["a token of another issuer", { iss: "https://elsewhere.example.com", exp: soon }],
  ["a token that has ended", { iss: issuer, exp: 1_000_000_000 }],
] as const)("who has %s is refused", async ([, claims]) => {
  const { ok, message } = await probe(claims);
  expect(ok).toBe(false);
  expect(message).toMatch(/^UNAUTHENTICATED/);
});

test("a client that trusts others does not connect", async () => {
  const other = createAuthority({ commonName: "other", validFor: "1h" });
  const { ok, message } = await probe({ iss: issuer, exp: soon }, other.certificate);
  expect(ok).toBe(false);
  expect(message).toMatch(/certificate/);
});
