import { createAuthority, inspect } from "@windlass/certificates";
import { ManualClock, seededRandom } from "@windlass/clock";
import type { ObjectOf } from "@windlass/runtime";
import { Secret } from "@windlass/runtime/kinds";
import { describe, expect, test } from "vitest";
import { AuthoritySecretError, readAuthorities } from "../certificates/index.ts";
import { CredentialStore } from "../credentials.ts";
import { textData } from "../secret-data.ts";
import { SecretsInMemory } from "../secrets.fixture.ts";
import { readKeyring } from "../tokens/index.ts";
import { poolCertificates } from "./certificates.ts";
import { BuildKitPool } from "./pool.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

function setUp(tls: object = {}) {
  const clock = new ManualClock(Date.parse("2026-11-16T10:00:00Z"));
  const secrets = new SecretsInMemory();
  const credentials = new CredentialStore({
    operatorNamespace: "buildkit-system",
    clock,
    random: seededRandom(1),
  });
  const pool = BuildKitPool.make({ namespace: "builds", name: "ci", uid: "1" }, { tls });
  const look = async (hosts: readonly string[] = []) => {
    const made = await poolCertificates(pool, {
      client: secrets.client,
      credentials,
      clock,
      hosts,
      apiNames: [],
    });
    const byName = made.children.map(({ object }) => {
      const { metadata } = object as ObjectOf<typeof Secret>;
      const stored = secrets.put({ ...object, metadata: { ...metadata, namespace: "builds" } } as ObjectOf<
        typeof Secret
      >);
      return [metadata.name, textData(stored)] as const;
    });
    return { ...made, data: Object.fromEntries(byName) };
  };
  return { clock, secrets, look };
}

test("a pool's certificates are of two authorities, and are kept until they are due", async () => {
  const { clock, look } = setUp();
  const first = await look();
  const server = inspect(first.data["ci-tls"]?.["tls.crt"] ?? "");
  const client = inspect(first.data["ci-client-certs"]?.["client.crt"] ?? "");
  expect(server.subject.organizations).toEqual(["BuildKit Pool"]);
  expect(server.dnsNames).toContain("ci.builds.svc.cluster.local");
  expect(first.data["ci-tls"]?.["ca.crt"]).not.toBe(first.data["ci-client-certs"]?.["ca.crt"]);
  expect(first.data["ci-tls"]?.["server-ca.crt"]).toBe(first.data["ci-tls"]?.["ca.crt"]);
  expect(client.issuer).not.toEqual(server.issuer);
  expect(readKeyring(first.data["ci-token-keys"]?.["keys.json"] ?? "")).toHaveLength(1);
  await clock.advance(300 * day);
  const later = await look();
  expect(later.data["ci-tls"]?.["tls.crt"]).toBe(first.data["ci-tls"]?.["tls.crt"]);
  // 30 days before the end of its year.
  await clock.advance(36 * day);
  const renewed = await look();
  expect(renewed.data["ci-tls"]?.["tls.crt"]).not.toBe(first.data["ci-tls"]?.["tls.crt"]);
  expect(renewed.data["ci-client-certs"]?.["client.crt"]).not.toBe(
    first.data["ci-client-certs"]?.["client.crt"],
  );
});

test("short certificates are renewed as long before their end as the pool says", async () => {
  const { clock, look } = setUp({ auto: { serverCertDuration: "10m", rotateBeforeExpiry: "4m" } });
  const first = await look();
  expect(first.until).toBeLessThanOrEqual(clock.now() + 6 * minute);
  await clock.advance(6 * minute - 1_000);
  expect((await look()).server?.notAfter).toBe(first.server?.notAfter);
  await clock.advance(1_000);
  expect((await look()).server?.notAfter).toBeGreaterThan(first.server?.notAfter ?? Number.NaN);
});

test("a new name by which the gateway is called is on its certificate at once", async () => {
  const { look } = setUp();
  await look();
  const { data } = await look(["builds.example.com", "203.0.113.7"]);
  const { dnsNames, ipAddresses } = inspect(data["ci-tls"]?.["tls.crt"] ?? "");
  expect(dnsNames).toContain("builds.example.com");
  expect(ipAddresses).toContain("203.0.113.7");
});

test("a certificate that a person makes is shown as it is, and its authority is what clients are given", async () => {
  const { clock, secrets, look } = setUp({
    mode: "manual",
    manual: { serverCertSecret: "theirs", caSecret: "their-ca" },
  });
  expect(await look()).toMatchObject({
    server: undefined,
    fault: { reason: "CertificateMissing", message: expect.stringContaining("theirs") },
  });
  const authority = createAuthority({ commonName: "corporate", validFor: day, clock });
  const pair = authority.issue({
    commonName: "ci",
    dnsNames: ["ci.example.com"],
    usages: ["server"],
    validFor: day,
  });
  const secret = (name: string, stringData: Record<string, string>) =>
    secrets.put({ metadata: { namespace: "builds", name }, stringData });
  secret("theirs", { "tls.crt": pair.certificate, "tls.key": pair.key });
  secret("their-ca", { "ca.crt": authority.certificate });
  const { data } = await look();
  expect(data["ci-tls"]?.["tls.crt"]).toBe(pair.certificate);
  expect(data["ci-tls"]?.["server-ca.crt"]).toBe(authority.certificate);
  // Who may connect is not the corporation's to say.
  expect(data["ci-tls"]?.["ca.crt"]).not.toContain(authority.certificate);
});

describe("a person's certificate that cannot be used", () => {
  const setUpManual = async () => {
    const { clock, secrets, look } = setUp({
      mode: "manual",
      manual: { serverCertSecret: "theirs", caSecret: "their-ca" },
    });
    const authority = createAuthority({ commonName: "corporate", validFor: 300 * day, clock });
    const issue = () => authority.issue({ commonName: "ci", usages: ["server"], validFor: day });
    const secret = (name: string, stringData: Record<string, string>) =>
      secrets.put({ metadata: { namespace: "builds", name }, stringData });
    const pair = issue();
    secret("theirs", { "tls.crt": pair.certificate, "tls.key": pair.key });
    secret("their-ca", { "ca.crt": authority.certificate });
    await look();
    return { clock, look, secret, pair, other: issue() };
  };
  type Manual = Awaited<ReturnType<typeof setUpManual>>;

  test.for<[string, string, (on: Manual) => unknown]>([
    ["is gone", "CertificateMissing", ({ secret }) => secret("theirs", {})],
    ["has ended", "CertificateExpired", ({ clock }) => clock.advance(2 * day)],
    [
      "does not fit its key",
      "CertificateUnusable",
      ({ secret, pair, other }) => secret("theirs", { "tls.crt": other.certificate, "tls.key": pair.key }),
    ],
    [
      "is none",
      "CertificateUnusable",
      ({ secret, pair }) => secret("theirs", { "tls.crt": "hello", "tls.key": pair.key }),
    ],
    [
      "comes with an empty list of authorities",
      "CertificateUnusable",
      ({ secret }) => secret("their-ca", { "ca.crt": "" }),
    ],
    ["has no authority", "CertificateMissing", ({ secret }) => secret("their-ca", {})],
  ])(
    "because it %s: what clients are shown stays, and everything else goes on",
    async ([, reason, spoil]) => {
      const on = await setUpManual();
      await spoil(on);
      // The cluster's keys and authorities rotate in the meantime.
      await on.clock.advance(31 * day);
      if (reason !== "CertificateExpired") expect((await on.look()).fault).toBeDefined();
      const { fault, data, until } = await on.look();
      expect(fault?.message).not.toContain("PRIVATE");
      expect(until).toBeGreaterThanOrEqual(on.clock.now() + 30_000);
      expect(data["ci-tls"]?.["tls.crt"]).toBe(on.pair.certificate);
      expect(data["ci-tls"]?.["tls.key"]).toBe(on.pair.key);
      expect(readKeyring(data["ci-token-keys"]?.["keys.json"] ?? "")).toHaveLength(2);
      expect(data["ci-client-certs"]?.["client.crt"]).toContain("BEGIN CERTIFICATE");
      if (reason === "CertificateExpired") expect(fault?.reason).toBe(reason);
    },
  );

  test.for<[string, string, (on: Manual) => unknown]>([
    ["has ended", "CertificateExpired", ({ clock }) => clock.advance(2 * day)],
    [
      "does not fit its key",
      "CertificateUnusable",
      ({ secret, pair, other }) => secret("theirs", { "tls.crt": other.certificate, "tls.key": pair.key }),
    ],
  ])("has a reason: it %s", async ([, reason, spoil]) => {
    const on = await setUpManual();
    await spoil(on);
    expect((await on.look()).fault).toMatchObject({
      reason,
      message: expect.stringContaining("spec.tls.manual.serverCertSecret: Secret theirs"),
    });
  });
});

test("authorities that cannot be read are an error, and are never replaced", async () => {
  const { secrets, look } = setUp();
  secrets.put({
    metadata: { namespace: "buildkit-system", name: "buildkit-ca" },
    data: { "authorities.json": Buffer.from("[]").toString("base64") },
  });
  const before = secrets.writes;
  await expect(look()).rejects.toThrow(AuthoritySecretError);
  const kept = textData(
    await secrets.client.get(Secret, { namespace: "buildkit-system", name: "buildkit-ca" }),
  );
  expect(kept["authorities.json"]).toBe("[]");
  expect(secrets.writes).toBeLessThanOrEqual(before + 2);
});

test("of replicas that make the first authorities at a time, all use those that were written first", async () => {
  const clock = new ManualClock(Date.parse("2026-11-16T10:00:00Z"));
  const secrets = new SecretsInMemory();
  const stores = [1, 2, 3].map(
    (seed) =>
      new CredentialStore({ operatorNamespace: "buildkit-system", clock, random: seededRandom(seed) }),
  );
  const rings = await Promise.all(stores.map((store) => store.clientAuthorities(secrets.client)));
  const stored = readAuthorities(
    textData(await secrets.client.get(Secret, { namespace: "buildkit-system", name: "buildkit-ca" })),
  );
  for (const ring of rings)
    expect(ring.map(({ certificate }) => certificate)).toEqual(stored.map((one) => one.certificate));
});
