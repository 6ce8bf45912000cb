import { X509Certificate } from "node:crypto";
import { splitBundle } from "./inspect.ts";
import { holds, isFor, isSignedBy, maySign } from "./path-rules.ts";

/** What a server's certificate is held against. */
export interface ServerTrust {
  /** PEM of those that are trusted: authorities, or the certificates of servers themselves. */
  readonly roots: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Whether certificates prove a server, by the rules of Go's `crypto/x509`. OpenSSL is stricter: to
 * it a certificate that is for anything is for no server, and neither is one whose key may only
 * sign certificates, as that of an authority. The name that it is for is not looked at, nor is
 * which names its issuers may sign for.
 *
 * @param chain DER: the server's own, and then those that it sent with it
 */
export function provesServer(chain: readonly Uint8Array[], { roots, now }: ServerTrust): boolean {
  try {
    const [own, ...sent] = chain.map((der) => new X509Certificate(der));
    const trusted = splitBundle(roots).map((pem) => new X509Certificate(pem));
    return own !== undefined && isTrusted(own, sent, { trusted, now });
  } catch {
    // Certificates that cannot be read prove nothing, whatever is wrong with them.
    return false;
  }
}

interface Search {
  readonly trusted: readonly X509Certificate[];
  readonly now: number;
}

function isTrusted(certificate: X509Certificate, sent: readonly X509Certificate[], search: Search): boolean {
  const { trusted, now } = search;
  if (!holds(certificate, now) || !isFor("server", certificate)) return false;
  if (trusted.some(({ raw }) => raw.equals(certificate.raw))) return true;
  const signs = (issuer: X509Certificate) => maySign(issuer) && isSignedBy(certificate, issuer);
  if (trusted.some((root) => holds(root, now) && isFor("server", root) && signs(root))) return true;
  return sent.some((next, index) => signs(next) && isTrusted(next, sent.toSpliced(index, 1), search));
}
