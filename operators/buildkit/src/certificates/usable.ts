import { createPrivateKey, X509Certificate } from "node:crypto";
import { expired, inspect, type KeyPair, splitBundle } from "@windlass/certificates";

/** Credentials that cannot be used. The message names the part, and holds no key material. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
  /** `out-of-date`: it has ended, or is not valid yet. */
  readonly fault: "unusable" | "out-of-date";

  constructor(message: string, fault: "unusable" | "out-of-date" = "unusable") {
    super(message);
    this.fault = fault;
  }
}

/**
 * Makes sure that a certificate and its key can be served. TLS itself takes an empty file for no
 * certificate, and refuses every client.
 *
 * @returns when the certificate ends, in epoch milliseconds.
 * @throws CredentialsError that says what is wrong.
 */
export function checkPair({ certificate, key }: KeyPair, what: string, now: number): number {
  const inspection = tried(() => inspect(certificate), `${what} cannot be read`);
  const privateKey = tried(() => createPrivateKey(key), `the key of ${what} cannot be read`);
  if (!new X509Certificate(certificate).checkPrivateKey(privateKey))
    throw new CredentialsError(`${what} and its key do not belong together`);
  if (expired(inspection, now)) {
    const end = new Date(inspection.notAfter).toISOString();
    const message = now > inspection.notAfter ? `${what} ended at ${end}` : `${what} is not valid yet`;
    throw new CredentialsError(message, "out-of-date");
  }
  return inspection.notAfter;
}

/**
 * Makes sure that a PEM bundle has authorities, and nothing else.
 *
 * @throws CredentialsError that says what is wrong.
 */
export function checkTrust(bundle: string, what: string): void {
  const certificates = splitBundle(bundle);
  if (certificates.length === 0) throw new CredentialsError(`${what}: there is no certificate`);
  for (const pem of certificates) {
    const { authority } = tried(() => inspect(pem), `${what} cannot be read`);
    if (!authority) throw new CredentialsError(`${what}: one of the certificates is not an authority's`);
  }
}

/** The cause is left out: nothing that was made from key material should travel with an error. */
function tried<T>(read: () => T, fault: string): T {
  try {
    return read();
  } catch {
    throw new CredentialsError(fault);
  }
}
