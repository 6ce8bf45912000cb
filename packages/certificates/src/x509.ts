// The structures of RFC 5280, encoded by asn1js; keys and signatures are node:crypto's, and so is all parsing but that
// of an authority's own name. @peculiar/x509 would do this whole file, but takes over 100 ms to import and asn1js a
// tenth of that: an API server that is ready in a tenth of a second cannot afford the former.
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

const oid = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAlternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  ecPublicKey: "1.2.840.10045.2.1",
  p256: "1.2.840.10045.3.1.7",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  sha256WithRsa: "1.2.840.113549.1.1.11",
  ed25519: "1.3.101.112",
} as const;

/** Extended key usages by the word callers use for them. */
export const usageOids = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;

/** What a certificate is for: to prove who a server is, or who a client is. */
export type Usage = keyof typeof usageOids;

/** A subject alternative name, its value already in the form the encoding wants. */
export type AlternativeName =
  | { readonly type: "dns" | "uri"; readonly value: string }
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
    | { readonly is: "leaf"; readonly usages: readonly Usage[]; readonly names: readonly AlternativeName[] };
}

/** Who a certificate is about. Opaque: made by `name`, or read from an authority's certificate. */
export type Name = Block;

/** A P-256 key as certificates hold it. */
export interface PublicKey {
  /** The uncompressed point. */
  readonly point: Uint8Array;
  /** RFC 5280, 4.2.1.2, method 1: SHA-1 of the key's bits. A name for the key, not a safeguard. */
  readonly identifier: Uint8Array;
}

/** A name: organizations first and the common name last, each in a set of its own, as Go writes them. */
export function name(commonName: string, organizations: readonly string[]): Name {
  const part = (type: string, value: string) =>
    new SetOf({
      value: [sequence(new ObjectIdentifier({ value: type }), new Utf8String({ value }))],
    });
  return sequence(
    ...organizations.map((organization) => part(oid.organization, organization)),
    part(oid.commonName, commonName),
  );
}

/** What a certificate says of a P-256 key. */
export function describeKey(key: KeyObject): PublicKey {
  const { x, y } = key.export({ format: "jwk" });
  const point = Buffer.concat([
    Uint8Array.of(4),
    Buffer.from(x ?? "", "base64url"),
    Buffer.from(y ?? "", "base64url"),
  ]);
  return { point, identifier: createHash("sha1").update(point).digest() };
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
    sequence(
      sequence(new ObjectIdentifier({ value: oid.ecPublicKey }), new ObjectIdentifier({ value: oid.p256 })),
      new BitString({ valueHex: buffer(certificate.publicKey.point), unusedBits: 0 }),
    ),
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
 * @throws CertificateError `NOT_A_CERTIFICATE` when the authority's name cannot be repeated byte for byte, which is what
 * verifiers compare.
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
    // An authority signs leaves only: a path length of 0 keeps a stolen leaf's key from growing a tree.
    extension(
      oid.basicConstraints,
      "critical",
      authority ? sequence(new BooleanValue({ value: true }), new Integer({ value: 0 })) : sequence(),
    ),
    // Bits count from the left: digitalSignature is the first, keyCertSign and cRLSign the sixth and seventh.
    extension(oid.keyUsage, "critical", authority ? bits(0b1000_0110, 1) : bits(0b1000_0000, 7)),
    extension(oid.subjectKeyIdentifier, "plain", new OctetString({ valueHex: buffer(publicKey.identifier) })),
    extension(oid.authorityKeyIdentifier, "plain", sequence(primitive(0, issuerKeyIdentifier))),
  ];
  if (purpose.is === "authority") return list;
  if (purpose.usages.length > 0) {
    const usages = purpose.usages.map((usage) => new ObjectIdentifier({ value: usageOids[usage] }));
    list.push(extension(oid.extendedKeyUsage, "plain", sequence(...usages)));
  }
  if (purpose.names.length > 0) {
    const tags = { dns: 2, uri: 6, ip: 7 } as const;
    const names = purpose.names.map(({ type, value }) =>
      primitive(tags[type], typeof value === "string" ? Buffer.from(value, "latin1") : value),
    );
    list.push(extension(oid.subjectAlternativeName, "plain", sequence(...names)));
  }
  return list;
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

function der(block: Block): Uint8Array {
  return new Uint8Array(block.toBER());
}

function parse(data: Uint8Array): Block {
  const { offset, result } = fromBER(data);
  if (offset < 0) throw new CertificateError("NOT_A_CERTIFICATE", `not DER: ${result.error}`);
  return result;
}

function children(block: Block): Block[] {
  return block instanceof Constructed ? (block.valueBlock.value as Block[]) : [];
}

function buffer(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
