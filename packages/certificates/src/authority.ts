import { createPrivateKey, generateKeyPairSync, type KeyObject, randomFillSync } from "node:crypto";
import { type Duration, milliseconds } from "@windlass/clock";
import { CertificateError } from "./errors.ts";
import { dnsName, ipAddress, uri } from "./names.ts";
import { parseCertificate } from "./parse-certificate.ts";
import type { SigningRequest } from "./signing-request.ts";
import {
  type AlternativeName,
  type AuthorityNames,
  authorityNames,
  type Certificate,
  describeKey,
  encodeCertificate,
  goName,
  type KeyUsage,
  name,
  type Usage,
} from "./x509.ts";

/** The time that goes into certificates. Any `Clock` will do. */
export interface Now {
  now(): number;
}

/** Where serial numbers come from. Any `Random` will do. */
export interface Bytes {
  bytes(length: number): Uint8Array;
}

/** The world an authority lives in. */
export interface AuthorityDependencies {
  /**
   * What time certificates start from. TLS peers judge them by their own machine's clock, so a
   * clock that is not near theirs makes certificates that only `inspect` accepts.
   *
   * @default the machine's clock
   */
  readonly clock?: Now;
  /**
   * Serial numbers alone come from it. Keys are always the machine's own randomness: a key that a
   * seed can repeat is not a secret.
   *
   * @default the machine's randomness
   */
  readonly random?: Bytes;
}

/** How long a certificate holds: for a span from now, or until a moment in epoch milliseconds. */
export type Validity = { readonly validFor: Duration } | { readonly notAfter: number };

/** What a new authority's certificate says. */
export type AuthorityInit = AuthorityDependencies & Validity & { readonly commonName: string };

/** What a certificate that an authority signs says. */
export type LeafInit = Validity & {
  /** Kubernetes reads it as the user's name when the certificate is a client's. */
  readonly commonName: string;
  /** Kubernetes reads them as the user's groups. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly uris?: readonly string[];
  readonly usages: readonly Usage[];
};

/** A certificate and its private key, in PEM; the key in PKCS#8. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority. Its `certificate` is for everyone, its `key` for its holder alone. */
export interface Authority extends KeyPair {
  /**
   * Signs a certificate for a new EC P-256 key. It starts a few minutes in the past, for peers
   * whose clock is behind, and never outlives the authority: its end is brought forward to the
   * authority's where need be.
   *
   * @throws CertificateError when a name cannot go into a certificate, or the authority has
   *   expired.
   */
  issue(leaf: LeafInit): KeyPair;
  /**
   * Signs a certificate for another party's key: with the subject and the names of their request,
   * and for the uses given here, whatever the request says of those. Holds as `issue`'s do.
   *
   * @returns PEM
   * @throws CertificateError when the authority has expired.
   */
  sign(request: SigningRequest, wish: SigningWish): string;
}

/** What an authority grants a request. */
export type SigningWish = Validity & {
  readonly usages: readonly Usage[];
  readonly keyUsages: readonly KeyUsage[];
};

/** How far in the past certificates start. */
const backdateMs = 5 * 60_000;

/** The last moment X.509 can write; RFC 5280 gives it to certificates with no end. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Makes a self-signed authority with an EC P-256 key, for signing leaves only.
 *
 * @example
 * const authority = createAuthority({ commonName: "my-ca", validFor: 10 * 365 * 86_400_000 });
 * const { certificate, key } = authority.issue({
 *   commonName: "localhost",
 *   dnsNames: ["localhost"],
 *   ipAddresses: ["127.0.0.1", "::1"],
 *   usages: ["server"],
 *   validFor: 86_400_000,
 * });
 */
export function createAuthority(init: AuthorityInit): Authority {
  const dependencies = worldOf(init);
  const { publicKey, privateKey } = newKey();
  const key = describeKey(publicKey);
  const subject = name(...checkedName(init.commonName, []));
  const span = validity(init, dependencies.clock.now());
  const certificate = encodeCertificate(
    {
      serial: serial(dependencies.random),
      issuer: subject,
      subject,
      ...span,
      publicKey: key,
      issuerKeyIdentifier: key.identifier,
      purpose: { is: "authority" },
    },
    privateKey,
  );
  return authority({
    pair: { certificate: pem(certificate), key: exported(privateKey) },
    key: privateKey,
    names: { subject, keyIdentifier: key.identifier },
    expires: span.notAfter,
    dependencies,
  });
}

/**
 * An authority from its PEM, as `createAuthority` or anyone else made it. EC, RSA and Ed25519 keys
 * may sign.
 *
 * @throws CertificateError when the two are not the certificate and the key of one authority.
 */
export function loadAuthority(
  certificatePem: string,
  keyPem: string,
  options: AuthorityDependencies = {},
): Authority {
  const dependencies = worldOf(options);
  const certificate = parseCertificate(certificatePem);
  const key = parseKey(keyPem);
  if (!certificate.ca) {
    throw new CertificateError(
      "NOT_AN_AUTHORITY",
      `the certificate of ${JSON.stringify(certificate.subject)} may not sign others: it is not a CA`,
    );
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new CertificateError(
      "KEY_MISMATCH",
      "the key does not belong to the authority's certificate: were they taken from two rotations?",
    );
  }
  return authority({
    pair: { certificate: certificatePem, key: keyPem },
    key,
    names: authorityNames(certificate.raw),
    expires: certificate.validToDate,
    dependencies,
  });
}

interface Signer {
  readonly pair: KeyPair;
  readonly key: KeyObject;
  readonly names: AuthorityNames;
  readonly expires: Date;
  readonly dependencies: Required<AuthorityDependencies>;
}

function authority({ pair, key, names, expires, dependencies }: Signer): Authority {
  const certify = (
    wish: Validity,
    whose: string,
    content: Pick<Certificate, "subject" | "publicKey"> & { readonly purpose: Certificate["purpose"] },
  ): string => {
    const now = dependencies.clock.now();
    if (now >= expires.getTime()) {
      throw new CertificateError(
        "INVALID_VALIDITY",
        `the authority expired at ${expires.toISOString()}: make a new one to issue "${whose}"`,
      );
    }
    const certificate: Certificate = {
      serial: serial(dependencies.random),
      issuer: names.subject,
      ...validity(wish, now, expires.getTime()),
      issuerKeyIdentifier: names.keyIdentifier,
      ...content,
    };
    return pem(encodeCertificate(certificate, key));
  };
  return {
    ...pair,
    issue(leaf) {
      const subject = name(...checkedName(leaf.commonName, leaf.organizations ?? []));
      const alternatives: AlternativeName[] = [
        ...(leaf.dnsNames ?? []).map(dnsName),
        ...(leaf.ipAddresses ?? []).map(ipAddress),
        ...(leaf.uris ?? []).map(uri),
      ];
      const { publicKey, privateKey } = newKey();
      const certificate = certify(leaf, leaf.commonName, {
        subject,
        publicKey: describeKey(publicKey),
        purpose: {
          is: "leaf",
          usages: leaf.usages,
          keyUsages: ["digitalSignature"],
          names: alternatives,
        },
      });
      return { certificate, key: exported(privateKey) };
    },
    sign(request, wish) {
      const { commonName, organizations } = request.subject;
      return certify(wish, commonName, {
        subject: goName(commonName, organizations),
        publicKey: describeKey(request.publicKey),
        purpose: { is: "leaf", usages: wish.usages, keyUsages: wish.keyUsages, names: request.names },
      });
    },
  };
}

function worldOf({ clock, random }: AuthorityDependencies): Required<AuthorityDependencies> {
  return {
    clock: clock ?? Date,
    random: random ?? { bytes: (length) => randomFillSync(new Uint8Array(length)) },
  };
}

function newKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/**
 * 126 random bits: positive, and never starting with a zero octet, so that DER has nothing to
 * shorten.
 */
function serial(random: Bytes): Uint8Array {
  const octets = Uint8Array.from(random.bytes(16));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return octets;
}

function validity(wish: Validity, now: number, limit = endOfTime): { notBefore: Date; notAfter: Date } {
  const end = "notAfter" in wish ? wish.notAfter : now + milliseconds(wish.validFor, "certificate: validFor");
  if (!(end > now)) {
    throw new CertificateError(
      "INVALID_VALIDITY",
      "a certificate must end after it starts: lengthen validFor",
    );
  }
  return { notBefore: new Date(now - backdateMs), notAfter: new Date(Math.min(end, limit)) };
}

function checkedName(commonName: string, organizations: readonly string[]): [string, readonly string[]] {
  for (const value of [commonName, ...organizations]) {
    // Verifiers have disagreed over names with NULs and newlines in them before; no honest name has
    // one.
    if (value === "" || /\p{Cc}/u.test(value) || !value.isWellFormed()) {
      throw new CertificateError(
        "INVALID_SUBJECT",
        `${JSON.stringify(value)} cannot be a name in a certificate: it is empty or holds control characters`,
      );
    }
  }
  return [commonName, organizations];
}

function parseKey(text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // The cause is left out on purpose: nothing that was made from key material should travel with
    // an error.
    throw new CertificateError("NOT_A_KEY", "not an unencrypted private key in PEM");
  }
}

function exported(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
