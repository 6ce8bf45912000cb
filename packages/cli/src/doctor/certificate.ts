import { X509Certificate } from "node:crypto";
import { type Finding, fault, fine, warning } from "./finding.ts";

const day = 86_400_000;
/** Certificates that end within it are warned of. */
const soonMs = 7 * day;

/**
 * Whether at least one of the certificates of a bundle is valid now, and for how long.
 *
 * @param pem one or several certificates
 * @param remedy what makes a new one
 */
export function certificateFinding(about: string, pem: string, now: number, remedy: string): Finding {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  let ends: readonly number[];
  try {
    ends = blocks.map((block) => Date.parse(new X509Certificate(block).validTo));
  } catch (error) {
    return fault(about, `is not a certificate: ${(error as Error).message}`, remedy);
  }
  const end = Math.max(...ends);
  if (ends.length === 0) return fault(about, "has no certificate in it", remedy);
  const date = new Date(end).toISOString().slice(0, 10);
  if (end < now) return fault(about, `the certificate ended on ${date}`, remedy);
  if (end < now + soonMs) return warning(about, `the certificate ends on ${date}`, remedy);
  return fine(about, `valid until ${date}`);
}
