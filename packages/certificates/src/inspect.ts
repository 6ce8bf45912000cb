import { parseCertificate } from "./parse-certificate.ts";
import { type Usage, usageOids } from "./x509.ts";

/** Who a certificate speaks of, or who signed it. */
export interface Subject {
  /** Empty when the certificate has none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** What a certificate says. Times are epoch milliseconds. */
export interface Inspection {
  readonly subject: Subject;
  readonly issuer: Subject;
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
  /**
   * When two thirds of its life are over: time enough to replace it, and to fail at that a few
   * times.
   */
  readonly renewAt: number;
  readonly authority: boolean;
  /** Those of its extended key usages that this package can issue. */
  readonly usages: readonly Usage[];
  /** SHA-256 of the whole certificate, in upper-case hex with colons. */
  readonly fingerprint: string;
}

/**
 * Reads a certificate; of a bundle, the first.
 *
 * @throws CertificateError `NOT_A_CERTIFICATE`, and nothing else, whatever the input.
 */
export function inspect(pemOrDer: string | Uint8Array): Inspection {
  const certificate = parseCertificate(pemOrDer);
  const names = alternativeNames(certificate.subjectAltName ?? "");
  const notBefore = certificate.validFromDate.getTime();
  const notAfter = certificate.validToDate.getTime();
  const usages = certificate.keyUsage ?? [];
  return {
    subject: subject(certificate.subject),
    issuer: subject(certificate.issuer),
    serialNumber: certificate.serialNumber,
    dnsNames: names.filter(({ type }) => type === "DNS").map(({ value }) => value),
    ipAddresses: names.filter(({ type }) => type === "IP Address").map(({ value }) => value),
    uris: names.filter(({ type }) => type === "URI").map(({ value }) => value),
    notBefore,
    notAfter,
    renewAt: notBefore + Math.floor(((notAfter - notBefore) * 2) / 3),
    authority: certificate.ca,
    usages: (Object.keys(usageOids) as Usage[]).filter((usage) => usages.includes(usageOids[usage])),
    fingerprint: certificate.fingerprint256,
  };
}

/** Whether the certificate does not hold at `now`: it is over, or has not begun. */
export function expired(certificate: Inspection, now: number): boolean {
  return now > certificate.notAfter || now < certificate.notBefore;
}

/** Whether it is time to replace the certificate. An expired one always wants it. */
export function needsRenewal(certificate: Inspection, now: number): boolean {
  return now >= certificate.renewAt || expired(certificate, now);
}

/** The certificates of a PEM bundle, one string each, whatever stands between them left out. */
export function splitBundle(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => `${block}\n`);
}

/**
 * Reads Node's text of a name: a line for each part, parts of one set joined by " + ", escaped as
 * RFC 2253 says, so that no value can pass for a line of its own. `toLegacyObject` has it
 * ready-made, but on a certificate whose key is of no known kind it takes the process down.
 */
function subject(text: string | undefined): Subject {
  const parts = (text ?? "").split(/\n|(?<!\\) \+ /).map((part) => {
    const at = part.indexOf("=");
    return { type: part.slice(0, at), value: unescaped(part.slice(at + 1)) };
  });
  const valuesOf = (wanted: string) => parts.filter(({ type }) => type === wanted).map(({ value }) => value);
  return { commonName: valuesOf("CN").at(-1) ?? "", organizations: valuesOf("O") };
}

function unescaped(value: string): string {
  return value.replaceAll(/\\([0-9A-F]{2}|.)/gs, (_, code: string) =>
    code.length === 2 ? String.fromCharCode(Number.parseInt(code, 16)) : code,
  );
}

/**
 * Splits Node's one-line form. A value that could be mistaken for syntax comes as a JSON string.
 */
function alternativeNames(line: string): { type: string; value: string }[] {
  return [...line.matchAll(/(?:^|, )([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)/g)].map(
    ([, type = "", value = ""]) => ({ type, value: value.startsWith('"') ? unquoted(value) : value }),
  );
}

function unquoted(value: string): string {
  try {
    return String(JSON.parse(value));
  } catch {
    return value;
  }
}
