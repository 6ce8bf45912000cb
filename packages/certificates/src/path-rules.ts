import type { X509Certificate } from "node:crypto";
import { readRawCertificate } from "./der.ts";
import { usageOids } from "./x509.ts";

const anyUsage = "2.5.29.37.0";

/** MD2, MD5 and SHA-1 with RSA, DSA or ECDSA, as the content of their object identifiers. */
const brokenSignatures: ReadonlySet<string> = new Set([
  "2a864886f70d010102",
  "2a864886f70d010104",
  "2a864886f70d010105",
  "2a8648ce380403",
  "2a8648ce3d0401",
]);

/** The critical extensions that are understood: those of 2.5.29 (55 1d) that RFC 5280 names. */
const understood: ReadonlySet<string> = new Set(
  [14, 15, 17, 19, 30, 31, 32, 33, 35, 36, 37, 54].map((arc) => `551d${arc.toString(16).padStart(2, "0")}`),
);

/** Whether a certificate is valid at a time, and no critical part of it is unknown. */
export function holds(certificate: X509Certificate, now: number): boolean {
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime()) return false;
  return readRawCertificate(certificate.raw).criticalExtensions.every((type) => understood.has(type));
}

/** Whether it is for clients, or for servers: one that omits what it is for is for both. */
export function isFor(usage: keyof typeof usageOids, { keyUsage: usages }: X509Certificate): boolean {
  return (
    usages === undefined ||
    usages.length === 0 ||
    usages.includes(anyUsage) ||
    usages.includes(usageOids[usage])
  );
}

/** Only an authority may sign; version 1 had no way to say so. */
export function maySign(certificate: X509Certificate): boolean {
  return certificate.ca || readRawCertificate(certificate.raw).version === 1;
}

/** Whether one certificate signed another, with what is not broken. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const { signatureAlgorithm } = readRawCertificate(certificate.raw);
  if (brokenSignatures.has(signatureAlgorithm)) return false;
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
