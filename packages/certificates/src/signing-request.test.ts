import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAuthority } from "./authority.ts";
import { CertificateError } from "./errors.ts";
import { inspect } from "./inspect.ts";
import { readSigningRequest } from "./signing-request.ts";

/**
 * Made by `openssl req -new -subj /O=devs/O=ops/CN=jane -addext
 * subjectAltName=DNS:fake,IP:10.0.0.9,email:a@b.c`.
 */
const request = `-----BEGIN CERTIFICATE REQUEST-----
MIIBFTCBvQIBADAsMQ0wCwYDVQQKDARkZXZzMQwwCgYDVQQKDANvcHMxDTALBgNV
BAMMBGphbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARHQvatZWU4n3Z8afvN
lumktITTs8gzTDUVrQqZ9KvbA8pwQZ9VgOOp+hVzuHZXfAwVRzWy1fBeH6tq8ydj
fgc0oC8wLQYJKoZIhvcNAQkOMSAwHjAcBgNVHREEFTATggRmYWtlhwQKAAAJgQVh
QGIuYzAKBggqhkjOPQQDAgNHADBEAiAegzZDZuyEaqzMaxZJtpI4sSNhEUkxdsri
adF48cfeRwIgEjWV2BD4tHvlx3S3mkquDN1BDI0alnGhwMeGFUZXV6A=
-----END CERTIFICATE REQUEST-----
`;

test("a request says whose it is, and for which names", () => {
  const { subject, names, publicKey } = readSigningRequest(request);
  expect(subject).toEqual({ commonName: "jane", organizations: ["devs", "ops"] });
  expect(names).toEqual([
    { type: "dns", value: "fake" },
    { type: "ip", value: Uint8Array.of(10, 0, 0, 9) },
    { type: "email", value: "a@b.c" },
  ]);
  expect(publicKey.asymmetricKeyType).toBe("ec");
});

test("an authority signs a request for its key, its names, and the uses that are granted", () => {
  const authority = createAuthority({ commonName: "ca", validFor: 86_400_000 });
  const wanted = readSigningRequest(request);
  const certificate = authority.sign(wanted, {
    usages: ["client"],
    keyUsages: ["digitalSignature", "keyEncipherment"],
    validFor: 3_600_000,
  });
  const read = new X509Certificate(certificate);
  expect(read.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(read.publicKey.equals(wanted.publicKey)).toBe(true);
  // Go puts all organizations into one set, and sets are sorted.
  expect(inspect(certificate)).toMatchObject({
    subject: { commonName: "jane", organizations: ["ops", "devs"] },
    dnsNames: ["fake"],
    ipAddresses: ["10.0.0.9"],
    usages: ["client"],
  });
});

test("what is no request, or not signed by its key, is refused with the one error", () => {
  const bytes = Buffer.from(request.replaceAll(/-----[^-]+-----|\s/g, ""), "base64");
  const wrapped = (der: Uint8Array) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${Buffer.from(der).toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ flip;
      try {
        readSigningRequest(wrapped(changed));
      } catch (error) {
        expect(error).toBeInstanceOf(CertificateError);
        expect((error as CertificateError).code).toBe("NOT_A_REQUEST");
      }
    }),
  );
  expect(() => readSigningRequest("")).toThrow(CertificateError);
  expect(() => readSigningRequest(wrapped(Uint8Array.of(0x30, 0)))).toThrow(CertificateError);
});
