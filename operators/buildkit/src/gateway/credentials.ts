import { createPrivateKey, X509Certificate } from "node:crypto";
import { expired, inspect, type KeyPair, splitBundle } from "@windlass/certificates";
import type { Keyring } from "../tokens/index.ts";
import type { WorkerCredentials } from "./dialer.ts";

/**
 * Everything that a gateway proves itself and others with. It can be replaced while the gateway
 * runs.
 */
export interface GatewayCredentials {
  /** What clients are shown, and whose certificates are taken from them. */
  readonly clients: {
    readonly pair: KeyPair;
    /** PEM bundle. */
    readonly trust: string;
  };
  readonly workers: WorkerCredentials;
  /** The pool's own, from `poolKeyring`. */
  readonly keys: Keyring;
}

/** Credentials that cannot be used. The message names the part, and holds no key material. */
export class CredentialsError extends Error {
  override readonly name = "CredentialsError";
}

/**
 * Makes sure that credentials can be used.
 *
 * @returns when the certificates end, in epoch milliseconds.
 * @throws CredentialsError that says what is wrong.
 */
export function checkCredentials(
  { clients, workers, keys }: GatewayCredentials,
  now: number,
): { readonly serverEnd: number; readonly workerClientEnd: number } {
  checkTrust(clients.trust, "the authorities of clients");
  checkTrust(workers.trust, "the authorities of workers");
  if (keys.length === 0) throw new CredentialsError("there is no key for tokens");
  return {
    serverEnd: checkPair(clients.pair, "the certificate for clients", now),
    workerClientEnd: checkPair(workers.pair, "the certificate for workers", now),
  };
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
    throw new CredentialsError(
      now > inspection.notAfter ? `${what} ended at ${end}` : `${what} is not valid yet`,
    );
  }
  return inspection.notAfter;
}

function checkTrust(bundle: string, what: string): void {
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
