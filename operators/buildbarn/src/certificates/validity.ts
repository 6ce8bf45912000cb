import { X509Certificate } from "node:crypto";
import { condition, type WantedCondition } from "@windlass/runtime";
import type { Shown } from "./shown.ts";

/**
 * The last part of its life, by which a certificate should have been renewed. cert-manager does so
 * at the beginning of the last third.
 */
const LAST_PART = 1 / 6;
/** Long-lived certificates are spoken of no earlier than this. */
const EARLIEST_MS = 30 * 24 * 3_600_000;

/** For how long a certificate is taken, and from when on that should be looked at. */
export interface Validity {
  /** Whose validity ends first: the certificate's, or that of the authority that signed it. */
  readonly of: string;
  readonly untilMs: number;
  /** From when on it should have been renewed. */
  readonly dueMs: number;
}

/** What is known of the validity of a certificate by those who check it with these authorities. */
export function validityOf(
  name: string,
  certificate: X509Certificate,
  authorities: string | undefined,
): Validity {
  const issuers = authoritiesIn(authorities ?? "").filter((one) => certificate.checkIssued(one));
  // Of an authority that was renewed, both certificates may be there: the later one counts.
  const [issuer] = issuers.toSorted((a, b) => timeOf(b.validTo) - timeOf(a.validTo));
  const own = spanOf(name, certificate);
  const above = issuer && spanOf(`the authority that signed ${name}`, issuer);
  return above && above.untilMs < own.untilMs ? above : own;
}

function spanOf(of: string, { validFrom, validTo }: X509Certificate): Validity {
  const [from, untilMs] = [timeOf(validFrom), timeOf(validTo)];
  return { of, untilMs, dueMs: untilMs - Math.min((untilMs - from) * LAST_PART, EARLIEST_MS) };
}

function timeOf(text: string): number {
  return Date.parse(text);
}

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates in a bundle. What is none is left out: programs report it with their
 * configuration.
 */
function authoritiesIn(bundle: string): readonly X509Certificate[] {
  return (bundle.match(pem) ?? []).flatMap((one) => {
    try {
      return [new X509Certificate(one)];
    } catch {
      return [];
    }
  });
}

/** What a component's status reports of its certificate. */
export function certificateCondition(
  { of, untilMs, dueMs }: Validity,
  { refusal }: Pick<Shown, "refusal">,
  now: number,
): WantedCondition {
  const is = (status: boolean, reason: string, message: string) =>
    condition("CertificateValid", status, reason, message);
  const until = new Date(untilMs).toISOString();
  if (untilMs <= now) return is(false, "CertificateExpired", `${of} ran out at ${until}`);
  if (refusal !== undefined)
    return is(false, "CertificateRefused", `others of the set do not take ${of}: ${refusal}`);
  if (dueMs <= now)
    return is(false, "CertificateExpiring", `${of} runs out at ${until}, and has not been renewed`);
  return is(true, "CertificateValid", `${of} is valid until ${until}`);
}
