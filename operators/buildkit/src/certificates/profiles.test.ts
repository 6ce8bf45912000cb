import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { inspect } from "@windlass/certificates";
import { ManualClock, systemRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { addKey, issueToken, newAllocationId, poolKeyring, tokenIn } from "../tokens/index.ts";
import { addAuthority, signingAuthority } from "./authorities.ts";
import { gatewayNames, poolsIn, workerNames, workerServerName } from "./names.ts";
import {
  allocationCertificate,
  gatewayCertificate,
  gatewayClientCertificate,
  signAllocationCertificate,
  WeakKeyError,
  workerCertificate,
} from "./profiles.ts";

const clock = new ManualClock(Date.UTC(2026, 0, 1));
const authority = signingAuthority(addAuthority([], "clients", clock), clock);
if (!authority) throw new Error("an authority that signs");
const pool = {
  namespace: "a-namespace-with-quite-a-long-name-as-teams-like-them",
  name: "continuous-integration",
};
const worker = { namespace: pool.namespace, name: "continuous-integration-worker-x7k2p" };
const validFor = 8_760 * 3_600_000;
const issued = issueToken(poolKeyring(addKey([], clock.now(), systemRandom), pool), {
  allocationId: newAllocationId(systemRandom),
  now: clock.now(),
});

test("a client's certificate carries its token twice and its pool, and ends with the token", () => {
  const found = inspect(allocationCertificate(authority, { pool, issued }).certificate);
  expect(found).toMatchObject({
    subject: { commonName: `alloc:${issued.token}`, organizations: ["BuildKit Client"] },
    uris: [`buildkit://allocation/${issued.token}`, `buildkit://pool/${pool.namespace}/${pool.name}`],
    usages: ["client"],
    authority: false,
    notBefore: clock.now() - 5 * 60_000,
    notAfter: issued.expiresAt,
  });
  expect(tokenIn(found)).toEqual({ has: "token", token: issued.token });
  expect(poolsIn(found)).toEqual([`${pool.namespace}/${pool.name}`]);
});

test("of a client's own request only the key counts", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = signAllocationCertificate(authority, { publicKey }, { pool, issued });
  const made = inspect(allocationCertificate(authority, { pool, issued }).certificate);
  const { serialNumber, fingerprint } = inspect(pem);
  expect(inspect(pem)).toEqual({ ...made, serialNumber, fingerprint });
  expect(new X509Certificate(pem).publicKey.equals(publicKey)).toBe(true);
});

test("a weak key is refused", () => {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
  expect(() => signAllocationCertificate(authority, { publicKey }, { pool, issued })).toThrow(WeakKeyError);
});

test("a gateway is certified for its Service and for what else leads there", () => {
  const names = gatewayNames(pool, ["buildkit.example.com", "203.0.113.7", "2001:DB8::7", "localhost"]);
  const { certificate } = gatewayCertificate(authority, { pool, names, validFor });
  const { namespace, name } = pool;
  expect(inspect(certificate)).toMatchObject({
    subject: { commonName: name, organizations: ["BuildKit Pool"] },
    dnsNames: [
      name,
      `${name}.${namespace}`,
      `${name}.${namespace}.svc`,
      `${name}.${namespace}.svc.cluster.local`,
      "localhost",
      "buildkit.example.com",
    ],
    usages: ["server"],
    notAfter: clock.now() + validFor,
  });
  const parsed = new X509Certificate(certificate);
  for (const address of ["127.0.0.1", "::1", "203.0.113.7", "2001:db8::7"])
    expect(parsed.checkIP(address)).toBe(address);
});

test("a worker is certified for itself and no other", () => {
  const { certificate } = workerCertificate(authority, { worker, pool, validFor });
  const parsed = new X509Certificate(certificate);
  expect(parsed.checkHost(workerServerName(worker))).toBe(workerServerName(worker));
  expect(parsed.checkHost(workerServerName({ ...worker, name: "other" }))).toBeUndefined();
  expect(parsed.checkHost(workerServerName({ ...worker, namespace: "other" }))).toBeUndefined();
  expect(inspect(certificate)).toMatchObject({ usages: ["server"], dnsNames: workerNames(worker).dnsNames });
});

test("no common name is longer than 64 characters, and no two serial numbers are the same", () => {
  const names = gatewayNames(pool);
  const long = { namespace: pool.namespace, name: "n".repeat(63) };
  const made = Array.from({ length: 25 }).flatMap(() => [
    allocationCertificate(authority, { pool: long, issued }),
    gatewayCertificate(authority, { pool: long, names, validFor }),
    gatewayClientCertificate(authority, { pool: long, validFor }),
    workerCertificate(authority, { worker: long, pool: long, validFor }),
  ]);
  const found = made.map(({ certificate }) => inspect(certificate));
  expect(found.map(({ subject }) => subject.commonName).filter((name) => name.length > 64)).toEqual([]);
  expect(new Set(found.map(({ serialNumber }) => serialNumber)).size).toBe(100);
});
