import type { KeyPair } from "@windlass/certificates";
import { CredentialsError, checkPair, checkTrust } from "../certificates/index.ts";
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
