import type { KeyPair } from "@windlass/certificates";
import type { Reader, Writer } from "@windlass/client";
import type { Clock, Random } from "@windlass/clock";
import type { Cache } from "../cache/contract.ts";
import type { Logger } from "../logging/logger.ts";
import type { Registry } from "../metrics/registry.ts";
import type { TrustTarget } from "./trust-target.ts";

/** What the source of a server's certificates has to work with. */
export interface CertificateDependencies {
  /** The operator's name. */
  readonly name: string;
  readonly namespace: string;
  /** The names by which the API server calls. */
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** The objects that must trust the certificates. */
  readonly targets: readonly TrustTarget[];
  /** Whether those objects are the operator's to make, rather than a manifest's. */
  readonly install: boolean;
  readonly client: Reader & Writer;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Has the server use a certificate from the next connection on. */
  readonly use: (pair: KeyPair) => void;
}

/** Certificates under management. */
export interface CertificateKeeper {
  /** Why the server cannot be called yet, or any more; undefined when it can. */
  fault(): string | undefined;
  close(): void | Promise<void>;
}

/** Where a webhook server has its certificate from: {@link selfManaged} or {@link fromFiles}. */
export interface Certificates {
  /**
   * The Secret that the certificates' authority is kept in; undefined if they come from elsewhere.
   */
  secretFor(name: string): string | undefined;
  /**
   * Begins to look after the server's certificate. Resolves when the first one is in use, or could
   * not be had.
   */
  keep(dependencies: CertificateDependencies): Promise<CertificateKeeper>;
}

/**
 * What an operator's authority is called: its Secret, its certificates' issuer, and who says that
 * it is to be trusted.
 */
export function authorityName(operator: string): string {
  return `${operator}-webhook-ca`;
}
