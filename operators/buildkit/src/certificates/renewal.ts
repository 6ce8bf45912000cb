import { createPrivateKey, X509Certificate } from "node:crypto";
import { SocketAddress } from "node:net";
import { expired, type Inspection, inspect, type KeyPair } from "@windlass/certificates";
import { type Duration, milliseconds } from "@windlass/clock";
import type { ServerNames } from "./names.ts";

/** What a certificate should be like. */
export interface WantedCertificate {
  readonly names: ServerNames;
  /** PEM of the authority that signs now. */
  readonly issuer: string;
  /**
   * How long before its end it is replaced; half of its life at most.
   *
   * @default a third of its life
   */
  readonly rotateBefore?: Duration;
}

/** What to do about a certificate. */
export type CertificateStep =
  | { readonly do: "keep"; readonly until: number }
  /** `why` is for the log. */
  | { readonly do: "issue"; readonly why: "missing" | "unusable" | "expired" | "names" | "issuer" | "due" };

/**
 * Decides whether a certificate is kept. Pure, and never throws: what cannot be read is replaced.
 */
export function certificateStep(
  present: KeyPair | undefined,
  wanted: WantedCertificate,
  now: number,
): CertificateStep {
  if (!present) return { do: "issue", why: "missing" };
  const found = read(present);
  if (!found) return { do: "issue", why: "unusable" };
  if (expired(found.inspection, now)) return { do: "issue", why: "expired" };
  if (!hasNames(found.inspection, wanted.names)) return { do: "issue", why: "names" };
  if (!isSignedBy(found.certificate, wanted.issuer)) return { do: "issue", why: "issuer" };
  const renewAt = renewalOf(found.inspection, wanted.rotateBefore);
  return now < renewAt ? { do: "keep", until: renewAt } : { do: "issue", why: "due" };
}

function read({
  certificate,
  key,
}: KeyPair): { readonly inspection: Inspection; readonly certificate: X509Certificate } | undefined {
  try {
    const parsed = new X509Certificate(certificate);
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return undefined;
    return { inspection: inspect(certificate), certificate: parsed };
  } catch {
    // Whatever is wrong with it, it cannot be used.
    return undefined;
  }
}

function isSignedBy(certificate: X509Certificate, issuer: string): boolean {
  return certificate.verify(new X509Certificate(issuer).publicKey);
}

/** Never before half of its life is over: a certificate must not be due as soon as it is made. */
function renewalOf({ notBefore, notAfter, renewAt }: Inspection, rotateBefore: Duration | undefined): number {
  if (rotateBefore === undefined) return renewAt;
  const wanted = notAfter - milliseconds(rotateBefore, "certificate: rotateBefore");
  return Math.max(wanted, (notBefore + notAfter) / 2);
}

function hasNames(found: Inspection, { dnsNames, ipAddresses }: ServerNames): boolean {
  const canonical = ipAddresses.map(
    (address) => new SocketAddress({ address, family: familyOf(address) }).address,
  );
  const present = found.ipAddresses.map(
    (address) => new SocketAddress({ address, family: familyOf(address) }).address,
  );
  return isSameSet(found.dnsNames, dnsNames) && isSameSet(present, canonical);
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((name) => other.includes(name)) && other.every((name) => one.includes(name));
}
