// The structures of RFC 5280, encoded by asn1js; keys and signatures are node:crypto's, and so is
// all parsing but that of an authority's own name. @peculiar/x509 would do this whole file, but
// takes over 100 ms to import and asn1js a tenth of that: an API server that is ready in a tenth of
// a second cannot afford the former.
import { createHash, type KeyObject, sign } from "node:crypto";
import {
  BitString,
  type BaseBlock as Block,
  Boolean as BooleanValue,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as SetOf,
  UTCTime,
  Utf8String,
} from "asn1js";
import { CertificateError } from "./errors.ts";

/** The objects of X.509 that are named here. */
export const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAlternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  sha256WithRsa: "1.2.840.113549.1.1.11",
  ed25519: "1.3.101.112",
} as const;

/** Extended key usages by the word callers use for them. */
export const usageOids = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

/** What a certificate is for: to prove who a server is, or who a client is. */
export type Usage = keyof typeof usageOids;

/** What a key may be used for, where that is said beside what the certificate is for. */
export type KeyUsage = "digitalSignature" | "keyEncipherment";

/** A subject alternative name, its value already in the form the encoding wants. */
export type AlternativeName =
  | { readonly type: "dns" | "uri" | "email"; readonly value: string }
  | { readonly type: "ip"; readonly value: Uint8Array };

/** Everything a certificate says. */
export interface Certificate {
  /** At most 20 octets, positive, without leading zeros. */
  readonly serial: Uint8Array;
  readonly issuer: Name;
  readonly subject: Name;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: PublicKey;
  readonly issuerKeyIdentifier: Uint8Array;
  readonly purpose:
    | { readonly is: "authority" }
    | {
        readonly is: "leaf";
        readonly usages: readonly Usage[];
        /** None leaves it open. */
        readonly keyUsages: readonly KeyUsage[];
        readonly names: readonly AlternativeName[];
      };
}

/** Who a certificate is about. Opaque: made by `name`, or read from an authority's certificate. */
export type Name = Block;

/** A key as certificates hold it. */
export interface PublicKey {
  /** Its SubjectPublicKeyInfo. */
  readonly info: Block;
  /** RFC 5280, 4.2.1.2, method 1: SHA-1 of the key's bits. A name for the key, not a safeguard. */
  readonly identifier: Uint8Array;
}

/**
 * A name: organizations first and the common name last, each in a set of its own, so that they keep
 * their order.
 */
export function name(commonName: string, organizations: readonly string[]): Name {
  return sequence(
    ...organizations.map((organization) => new SetOf({ value: [attribute(oid.organization, organization)] })),
    new SetOf({ value: [attribute(oid.commonName, commonName)] }),
  );
}

/**
 * As `name`, with all organizations in one set, in the order that DER gives them: what Go writes.
 */
export function goName(commonName: string, organizations: readonly string[]): Name {
  const set = organizations
    .map((organization) => attribute(oid.organization, organization))
    .sort((a, b) => Buffer.compare(der(a), der(b)));
  return sequence(
    ...(set.length > 0 ? [new SetOf({ value: set })] : []),
    ...(commonName === "" ? [] : [new SetOf({ value: [attribute(oid.commonName, commonName)] })]),
  );
}

function attribute(type: string, value: string): Block {
  return sequence(new ObjectIdentifier({ value: type }), new Utf8String({ value }));
}

/** What a certificate says of a key. */
export function describeKey(key: KeyObject): PublicKey {
  const info = parse(key.export({ type: "spki", format: "der" }));
  const [, bits] = children(info);
  if (!(bits instanceof BitString)) throw new CertificateError("UNSUPPORTED_KEY", "the key has no bits");
  return { info, identifier: createHash("sha1").update(bits.valueBlock.valueHexView).digest() };
}

/** DER of the certificate, signed with the issuer's key. */
export function encodeCertificate(certificate: Certificate, issuerKey: KeyObject): Uint8Array {
  const algorithm = signatureAlgorithm(issuerKey);
  const body = sequence(
    tagged(0, [new Integer({ value: 2 })]),
    new Integer({ valueHex: buffer(certificate.serial) }),
    algorithm.identifier(),
    certificate.issuer,
    sequence(time(certificate.notBefore), time(certificate.notAfter)),
    certificate.subject,
    certificate.publicKey.info,
    tagged(3, [sequence(...extensions(certificate))]),
  );
  const signature = sign(algorithm.digest, der(body), issuerKey);
  return der(
    sequence(body, algorithm.identifier(), new BitString({ valueHex: buffer(signature), unusedBits: 0 })),
  );
}

/** What a leaf repeats of its authority. */
export interface AuthorityNames {
  readonly subject: Name;
  readonly keyIdentifier: Uint8Array;
}

/**
 * Reads, from the DER of an authority's certificate, what its leaves must repeat.
 *
 * @throws CertificateError `NOT_A_CERTIFICATE` when the authority's name cannot be repeated byte
 *   for byte, which is what verifiers compare.
 */
export function authorityNames(certificate: Uint8Array): AuthorityNames {
  const [body] = children(parse(certificate));
  const fields = body ? children(body) : [];
  const [subject, publicKey] = [fields[5], fields[6]];
  const [, key] = publicKey ? children(publicKey) : [];
  if (!subject || !(key instanceof BitString)) {
    throw new CertificateError("NOT_A_CERTIFICATE", "the certificate has no subject or no public key");
  }
  if (Buffer.compare(subject.valueBeforeDecodeView, der(subject)) !== 0) {
    throw new CertificateError(
      "NOT_A_CERTIFICATE",
      "the authority's name is not DER, so no leaf could repeat it",
    );
  }
  return {
    subject,
    keyIdentifier:
      subjectKeyIdentifier(fields) ?? createHash("sha1").update(key.valueBlock.valueHexView).digest(),
  };
}

function subjectKeyIdentifier(fields: Block[]): Uint8Array | undefined {
  const wrapper = fields.find(({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 3);
  const [list] = wrapper ? children(wrapper) : [];
  for (const extension of list ? children(list) : []) {
    const parts = children(extension);
    const [type, value] = [parts[0], parts.at(-1)];
    if (!(type instanceof ObjectIdentifier) || !(value instanceof OctetString)) continue;
    if (type.getValue() !== oid.subjectKeyIdentifier) continue;
    const inner = parse(new Uint8Array(value.getValue()));
    if (inner instanceof OctetString) return new Uint8Array(inner.getValue());
  }
  return undefined;
}

function extensions({ publicKey, issuerKeyIdentifier, purpose }: Certificate): Block[] {
  const authority = purpose.is === "authority";
  const list = [
    // An authority signs leaves only: a path length of 0 keeps a stolen leaf's key from growing a
    // tree.
    extension(
      oid.basicConstraints,
      "critical",
      authority ? sequence(new BooleanValue({ value: true }), new Integer({ value: 0 })) : sequence(),
    ),
    ...keyUsage(purpose),
    extension(oid.subjectKeyIdentifier, "plain", new OctetString({ valueHex: buffer(publicKey.identifier) })),
    extension(oid.authorityKeyIdentifier, "plain", sequence(primitive(0, issuerKeyIdentifier))),
  ];
  if (purpose.is === "authority") return list;
  if (purpose.usages.length > 0) {
    const usages = purpose.usages.map((usage) => new ObjectIdentifier({ value: usageOids[usage] }));
    list.push(extension(oid.extendedKeyUsage, "plain", sequence(...usages)));
  }
  if (purpose.names.length > 0) {
    const tags = { email: 1, dns: 2, uri: 6, ip: 7 } as const;
    const names = purpose.names.map(({ type, value }) =>
      primitive(tags[type], typeof value === "string" ? Buffer.from(value, "latin1") : value),
    );
    list.push(extension(oid.subjectAlternativeName, "plain", sequence(...names)));
  }
  return list;
}

/**
 * Bits count from the left: digitalSignature is the first, keyEncipherment the third, keyCertSign
 * and cRLSign the sixth and seventh.
 */
function keyUsage(purpose: Certificate["purpose"]): Block[] {
  if (purpose.is === "authority") return [extension(oid.keyUsage, "critical", bits(0b1000_0110, 1))];
  const enciphers = purpose.keyUsages.includes("keyEncipherment");
  const octet =
    (purpose.keyUsages.includes("digitalSignature") ? 0b1000_0000 : 0) | (enciphers ? 0b0010_0000 : 0);
  return octet === 0 ? [] : [extension(oid.keyUsage, "critical", bits(octet, enciphers ? 5 : 7))];
}

function signatureAlgorithm(key: KeyObject): { digest: "sha256" | null; identifier: () => Block } {
  const identifier = (type: string, ...parameters: Block[]) =>
    sequence(new ObjectIdentifier({ value: type }), ...parameters);
  switch (key.asymmetricKeyType) {
    case "ec":
      return { digest: "sha256", identifier: () => identifier(oid.ecdsaWithSha256) };
    case "rsa":
      return { digest: "sha256", identifier: () => identifier(oid.sha256WithRsa, new Null()) };
    case "ed25519":
      return { digest: null, identifier: () => identifier(oid.ed25519) };
    default:
      throw new CertificateError(
        "UNSUPPORTED_KEY",
        `an authority signs with an EC, RSA or Ed25519 key, not with ${key.asymmetricKeyType ?? "a secret"}`,
      );
  }
}

/** RFC 5280 wants UTCTime through 2049 and GeneralizedTime from 2050 on. */
function time(date: Date): Block {
  return date.getUTCFullYear() < 2050
    ? new UTCTime({ valueDate: date })
    : new GeneralizedTime({ valueDate: date });
}

function extension(type: string, weight: "critical" | "plain", value: Block): Block {
  return sequence(
    new ObjectIdentifier({ value: type }),
    ...(weight === "critical" ? [new BooleanValue({ value: true })] : []),
    new OctetString({ valueHex: buffer(der(value)) }),
  );
}

function sequence(...value: Block[]): Sequence {
  return new Sequence({ value });
}

function tagged(tagNumber: number, value: Block[]): Block {
  return new Constructed({ idBlock: { tagClass: 3, tagNumber }, value });
}

function primitive(tagNumber: number, value: Uint8Array): Block {
  return new Primitive({ idBlock: { tagClass: 3, tagNumber }, valueHex: buffer(value) });
}

function bits(octet: number, unusedBits: number): Block {
  return new BitString({ valueHex: buffer(Uint8Array.of(octet)), unusedBits });
}

/** The bytes of a structure. */
export function der(block: Block): Uint8Array {
  return new Uint8Array(block.toBER());
}

/** @throws CertificateError `NOT_A_CERTIFICATE` */
export function parse(data: Uint8Array): Block {
  const { offset, result } = fromBER(data);
  if (offset < 0) throw new CertificateError("NOT_A_CERTIFICATE", `not DER: ${result.error}`);
  return result;
}

/** What a structure is made of; nothing where it is a value. */
export function children(block: Block): Block[] {
  return block instanceof Constructed ? (block.valueBlock.value as Block[]) : [];
}

function buffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
