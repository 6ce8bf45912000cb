import { generateKeyPairSync, type KeyPairKeyObjectResult, sign, X509Certificate } from "node:crypto";
import { connect, createServer, type TLSSocket } from "node:tls";
import { ManualClock, seededRandom } from "@windlass/clock";
import {
  BitString,
  Constructed,
  fromBER,
  Null,
  ObjectIdentifier,
  PrintableString,
  Sequence,
  Set as SetOf,
} from "asn1js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Authority, CertificateError, createAuthority, inspect, loadAuthority } from "./index.ts";

const hour = 3_600_000;

function serverLeaf(authority: Authority) {
  return authority.issue({
    commonName: "localhost",
    dnsNames: ["localhost", "*.svc.example"],
    ipAddresses: ["127.0.0.1", "::1"],
    usages: ["server"],
    validFor: hour,
  });
}

/** What the two ends of a handshake say of each other. */
async function handshake(options: {
  server: Authority;
  clientTrusts: string;
  client?: { certificate: string; key: string };
}): Promise<{ server: boolean; client: boolean; subject: unknown }> {
  const { certificate, key } = serverLeaf(options.server);
  const server = createServer({
    cert: certificate,
    key,
    ca: options.server.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const accepted = new Promise<TLSSocket>((resolve) => server.once("secureConnection", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const socket = connect({
    host: "127.0.0.1",
    port,
    ca: options.clientTrusts,
    rejectUnauthorized: false,
    ...(options.client ? { cert: options.client.certificate, key: options.client.key } : {}),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", reject);
    });
    const peer = await accepted;
    return {
      server: socket.authorized,
      client: peer.authorized,
      subject: { ...peer.getPeerCertificate().subject },
    };
  } finally {
    socket.destroy();
    server.close();
  }
}

/**
 * An authority's certificate as another program might make it: another kind of key, another kind of
 * string.
 */
function foreignAuthority(keys: KeyPairKeyObjectResult, algorithm: string): string {
  const own = new X509Certificate(createAuthority({ commonName: "ca", validFor: hour }).certificate);
  const { result } = fromBER(own.raw);
  const body = result instanceof Constructed ? result.valueBlock.value[0] : undefined;
  if (!(body instanceof Sequence)) throw new Error("a certificate is a sequence");
  const name = new Sequence({
    value: [
      new SetOf({
        value: [
          new Sequence({
            value: [new ObjectIdentifier({ value: "2.5.4.3" }), new PrintableString({ value: "Foreign CA" })],
          }),
        ],
      }),
    ],
  });
  const identifier = new Sequence({
    value: [
      new ObjectIdentifier({ value: algorithm }),
      ...(keys.publicKey.asymmetricKeyType === "rsa" ? [new Null()] : []),
    ],
  });
  const key = fromBER(keys.publicKey.export({ type: "spki", format: "der" })).result;
  const [version, serial, , , validity] = body.valueBlock.value;
  if (!version || !serial || !validity)
    throw new Error("a certificate has a version, a serial and a validity");
  const [constraints] = extensionsOf(body);
  if (!constraints) throw new Error("an authority has basic constraints");
  const extensions = new Constructed({
    idBlock: { tagClass: 3, tagNumber: 3 },
    value: [new Sequence({ value: [constraints] })],
  });
  const fields = new Sequence({
    value: [version, serial, identifier, name, validity, name, key, extensions],
  });
  const digest = keys.publicKey.asymmetricKeyType === "ed25519" ? null : "sha256";
  const signature = sign(digest, new Uint8Array(fields.toBER()), keys.privateKey);
  const bits = new BitString({ valueHex: Uint8Array.from(signature).buffer, unusedBits: 0 });
  return new X509Certificate(
    new Uint8Array(new Sequence({ value: [fields, identifier, bits] }).toBER()),
  ).toString();
}

function extensionsOf(body: Sequence) {
  const wrapper = body.valueBlock.value.at(-1);
  const list = wrapper instanceof Constructed ? wrapper.valueBlock.value[0] : undefined;
  return list instanceof Constructed ? list.valueBlock.value : [];
}

describe("an authority", () => {
  test("is trusted in a TLS handshake for its server and its client certificates", async () => {
    const authority = createAuthority({ commonName: "test-ca", validFor: 24 * hour });
    const client = authority.issue({
      commonName: "jane",
      organizations: ["devs", "system:masters"],
      usages: ["client"],
      validFor: hour,
    });
    expect(await handshake({ server: authority, clientTrusts: authority.certificate, client })).toEqual({
      server: true,
      client: true,
      subject: { CN: "jane", O: ["devs", "system:masters"] },
    });
  });

  test("is not trusted when another of the same name signed", async () => {
    const [one, other] = [1, 2].map(() => createAuthority({ commonName: "ca", validFor: hour }));
    if (!one || !other) throw new Error("two authorities");
    const client = other.issue({ commonName: "jane", usages: ["client"], validFor: hour });
    const seen = await handshake({ server: one, clientTrusts: other.certificate, client });
    expect(seen).toMatchObject({ server: false, client: false });
  });

  test("refuses a server's certificate where a client's is wanted", async () => {
    const authority = createAuthority({ commonName: "ca", validFor: hour });
    const seen = await handshake({
      server: authority,
      clientTrusts: authority.certificate,
      client: serverLeaf(authority),
    });
    expect(seen).toMatchObject({ server: true, client: false });
  });

  test("loads again from its own PEM and issues certificates that chain to it", () => {
    const made = createAuthority({ commonName: "ca", validFor: hour });
    const leaf = new X509Certificate(serverLeaf(loadAuthority(made.certificate, made.key)).certificate);
    const parent = new X509Certificate(made.certificate);
    expect(leaf.checkIssued(parent)).toBe(true);
    expect(leaf.verify(parent.publicKey)).toBe(true);
  });

  test("never issues a certificate that outlives it", () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1));
    const authority = createAuthority({ commonName: "ca", validFor: hour, clock });
    const leaf = authority.issue({ commonName: "x", usages: ["client"], validFor: 10 * hour });
    expect(inspect(leaf.certificate).notAfter).toBe(Date.UTC(2026, 0, 1, 1));
  });

  test("issues nothing once it has expired", async () => {
    const clock = new ManualClock();
    const authority = createAuthority({ commonName: "ca", validFor: hour, clock });
    await clock.advance(hour);
    expect(() => authority.issue({ commonName: "x", usages: ["client"], validFor: hour })).toThrow(
      /expired at 2026-01-01T01:00:00.000Z/,
    );
  });

  test("writes years from 2050 on so that they read back the same", () => {
    const clock = new ManualClock(Date.UTC(2049, 11, 31, 23));
    const { certificate } = createAuthority({ commonName: "ca", notAfter: Date.UTC(9999, 11, 31), clock });
    const { notBefore, notAfter } = inspect(certificate);
    expect([notBefore, notAfter]).toEqual([Date.UTC(2049, 11, 31, 22, 55), Date.UTC(9999, 11, 31)]);
    const [before, after] = [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)].map(
      (end) => inspect(createAuthority({ commonName: "ca", notAfter: end, clock }).certificate).notAfter,
    );
    expect([before, after]).toEqual([Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)]);
  });

  test("takes serial numbers from the randomness it is given, and keys never", () => {
    const make = () => createAuthority({ commonName: "ca", validFor: hour, random: seededRandom(7) });
    const [one, two] = [make(), make()];
    expect(inspect(one.certificate).serialNumber).toBe(inspect(two.certificate).serialNumber);
    expect(inspect(one.certificate).serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    expect(one.key).not.toBe(two.key);
  });

  test("marks itself as an authority for leaves only, and its leaves as none", () => {
    const authority = createAuthority({ commonName: "ca", validFor: hour });
    expect(inspect(authority.certificate)).toMatchObject({ authority: true, usages: [] });
    expect(inspect(serverLeaf(authority).certificate)).toMatchObject({
      authority: false,
      usages: ["server"],
    });
  });
});

describe("an authority that is not ours", () => {
  test("is refused when the key is another's", () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const { certificate } = createAuthority({ commonName: "ca", validFor: hour });
    expect(() => loadAuthority(certificate, key)).toThrow(expect.objectContaining({ code: "KEY_MISMATCH" }));
  });

  test.each([
    {
      kind: "RSA",
      algorithm: "1.2.840.113549.1.1.11",
      keys: generateKeyPairSync("rsa", { modulusLength: 2048 }),
    },
    {
      kind: "EC P-384",
      algorithm: "1.2.840.10045.4.3.2",
      keys: generateKeyPairSync("ec", { namedCurve: "P-384" }),
    },
    { kind: "Ed25519", algorithm: "1.3.101.112", keys: generateKeyPairSync("ed25519") },
  ])("signs leaves that verify with its $kind key", ({ keys, algorithm }) => {
    const certificate = foreignAuthority(keys, algorithm);
    const parent = new X509Certificate(certificate);
    expect(parent.verify(keys.publicKey)).toBe(true);
    const key = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const issued = serverLeaf(loadAuthority(certificate, key)).certificate;
    const leaf = new X509Certificate(issued);
    expect(leaf.checkIssued(parent)).toBe(true);
    expect(leaf.verify(parent.publicKey)).toBe(true);
    expect(inspect(issued).issuer).toEqual({ commonName: "Foreign CA", organizations: [] });
  });

  test.each([
    ["a leaf", "NOT_AN_AUTHORITY", (a: Authority) => Object.values(serverLeaf(a))],
    ["no certificate", "NOT_A_CERTIFICATE", (a: Authority) => ["", a.key]],
    ["a key for a certificate", "NOT_A_CERTIFICATE", (a: Authority) => [a.key, a.key]],
    ["a certificate for a key", "NOT_A_KEY", (a: Authority) => [a.certificate, a.certificate]],
  ])("is refused when it is %s", (_, code, parts) => {
    const [certificate = "", key = ""] = parts(createAuthority({ commonName: "ca", validFor: hour }));
    expect(() => loadAuthority(certificate, key)).toThrow(expect.objectContaining({ code }));
  });
});

describe("names", () => {
  const authority = createAuthority({ commonName: "ca", validFor: hour });
  const leaf = { commonName: "x", usages: ["server" as const], validFor: hour };

  test.each([
    [{ dnsNames: ["a b"] }, "INVALID_NAME"],
    [{ dnsNames: ["ex\u00e4mple.com"] }, "INVALID_NAME"],
    [{ dnsNames: ["a.*.b"] }, "INVALID_NAME"],
    [{ dnsNames: ["*"] }, "INVALID_NAME"],
    [{ dnsNames: [""] }, "INVALID_NAME"],
    [{ ipAddresses: ["300.1.1.1"] }, "INVALID_NAME"],
    [{ ipAddresses: ["fe80::1%eth0"] }, "INVALID_NAME"],
    [{ ipAddresses: ["localhost"] }, "INVALID_NAME"],
    [{ uris: ["not a uri"] }, "INVALID_NAME"],
    [{ commonName: "" }, "INVALID_SUBJECT"],
    [{ commonName: "jane\0" }, "INVALID_SUBJECT"],
    [{ organizations: ["devs\nCN=admin"] }, "INVALID_SUBJECT"],
    [{ validFor: 0 }, "INVALID_VALIDITY"],
    [{ notAfter: Number.NaN }, "INVALID_VALIDITY"],
  ])("%j is refused with %s", (wish, code) => {
    expect(() => authority.issue({ ...leaf, ...wish })).toThrow(expect.objectContaining({ code }));
  });

  test("any subject goes into a certificate and comes out of it unchanged, or is refused", () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(text, fc.uniqueArray(text, { maxLength: 3 }), (commonName, organizations) => {
        let issued: { certificate: string };
        try {
          issued = authority.issue({ ...leaf, commonName, organizations });
        } catch (error) {
          expect(error).toBeInstanceOf(CertificateError);
          return;
        }
        expect(inspect(issued.certificate).subject).toEqual({ commonName, organizations });
      }),
      { numRuns: 200 },
    );
  });

  test("any address goes into a certificate and comes out of it as the same address", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const { certificate } = authority.issue({ ...leaf, ipAddresses: [address] });
        expect(new X509Certificate(certificate).checkIP(address)).toBe(address);
      }),
      { numRuns: 200 },
    );
  });
});
