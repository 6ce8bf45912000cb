import { X509Certificate } from "node:crypto";
import { readRawCertificate } from "./der.ts";
import { splitBundle } from "./inspect.ts";
import { usageOids } from "./x509.ts";

/** What a client's certificate is held against. */
export interface ClientTrust {
  /** PEM of those that are trusted: authorities, or the certificates of clients themselves. */
  readonly roots: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /**
   * Whether TLS has found a chain from it to one of these, by way of certificates that the client
   * sent with it. Node does not tell which those were.
   *
   * @default false
   */
  readonly isChained?: boolean;
}

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

/**
 * Whether a certificate proves a client, by the rules of Go's `crypto/x509`, which are those of the
 * real API server. Where OpenSSL is stricter: a certificate that omits what it is for is
 * for clients too, and so is one that is for anything; a certificate that is trusted itself needs
 * no issuer.
 *
 * @param der the client's own certificate
 */
export function provesClient(der: Uint8Array, { roots, now, isChained = false }: ClientTrust): boolean {
  try {
    const certificate = new X509Certificate(der);
    if (!holds(certificate, now) || !isForClients(certificate)) return false;
    const trusted = splitBundle(roots).map((pem) => new X509Certificate(pem));
    if (isChained || trusted.some(({ raw }) => raw.equals(certificate.raw))) return true;
    return trusted.some(
      (root) => holds(root, now) && isForClients(root) && maySign(root) && isSignedBy(certificate, root),
    );
  } catch {
    // A certificate that cannot be read proves nothing, whatever is wrong with it.
    return false;
  }
}

function holds(certificate: X509Certificate, now: number): boolean {
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime()) return false;
  return readRawCertificate(certificate.raw).criticalExtensions.every((type) => understood.has(type));
}

function isForClients({ keyUsage: usages }: X509Certificate): boolean {
  return (
    usages === undefined ||
    usages.length === 0 ||
    usages.includes(anyUsage) ||
    usages.includes(usageOids.client)
  );
}

/** Only an authority may sign; version 1 had no way to say so. */
function maySign(certificate: X509Certificate): boolean {
  return certificate.ca || readRawCertificate(certificate.raw).version === 1;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const { signatureAlgorithm } = readRawCertificate(certificate.raw);
  if (brokenSignatures.has(signatureAlgorithm)) return false;
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
