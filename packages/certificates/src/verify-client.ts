import { X509Certificate } from "node:crypto";
import { splitBundle } from "./inspect.ts";
import { holds, isFor, isSignedBy, maySign } from "./path-rules.ts";

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
    if (!holds(certificate, now) || !isFor("client", certificate)) return false;
    const trusted = splitBundle(roots).map((pem) => new X509Certificate(pem));
    if (isChained || trusted.some(({ raw }) => raw.equals(certificate.raw))) return true;
    return trusted.some(
      (root) => holds(root, now) && isFor("client", root) && maySign(root) && isSignedBy(certificate, root),
    );
  } catch {
    // A certificate that cannot be read proves nothing, whatever is wrong with it.
    return false;
  }
}
