import type { Pool } from "../pool/pool.ts";
import { spanMs } from "../span.ts";
import { longestTtlMs } from "../tokens/index.ts";

/**
 * The longest that a worker lives, but for who has it then: it must be gone before the authorities
 * that it trusts have changed.
 */
export const longestLifeMs = 6 * 24 * 3_600_000;

/**
 * How long a worker's own certificate holds: until the last allocation that it may have has ended.
 * buildkitd reads it once, so a shorter one that the pool asks for is for gateways, which read
 * theirs again.
 */
export function workerCertificateMs({ spec }: Pool): number {
  const wanted = spanMs(spec.tls.auto.serverCertDuration, "spec.tls.auto.serverCertDuration");
  return Math.max(wanted, longestLifeMs + 2 * longestTtlMs);
}
