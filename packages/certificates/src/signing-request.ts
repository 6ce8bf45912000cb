import { createPublicKey, type KeyObject, verify } from "node:crypto";
import {
  BaseStringBlock,
  BitString,
  type BaseBlock as Block,
  ObjectIdentifier,
  OctetString,
  Primitive,
} from "asn1js";
import { CertificateError } from "./errors.ts";
import type { Subject } from "./inspect.ts";
import { type AlternativeName, children, der, oid, parse } from "./x509.ts";

/** What a client asks an authority to certify. That they hold the key has been checked. */
export interface SigningRequest {
  readonly subject: Subject;
  readonly publicKey: KeyObject;
  /** Every name that the certificate should hold beside the subject. */
  readonly names: readonly AlternativeName[];
}

const extensionRequest = "1.2.840.113549.1.9.14";

/** The digests behind the signature algorithms that are understood; null where the key says it. */
const digests: ReadonlyMap<string, string | null> = new Map([
  [oid.ecdsaWithSha256, "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
  [oid.sha256WithRsa, "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
  [oid.ed25519, null],
]);

/**
 * Reads a PKCS#10 request in PEM, and checks that it is signed with the key that it is for.
 *
 * @throws CertificateError `NOT_A_REQUEST`, and nothing else, whatever the input.
 */
export function readSigningRequest(pem: string): SigningRequest {
  try {
    return read(pem);
  } catch (cause) {
    if (cause instanceof CertificateError && cause.code === "NOT_A_REQUEST") throw cause;
    throw new CertificateError("NOT_A_REQUEST", "not a PKCS#10 certificate request in PEM", { cause });
  }
}

function read(pem: string): SigningRequest {
  const [, body] =
    /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----([^-]+)-----END (?:NEW )?CERTIFICATE REQUEST-----/.exec(
      pem,
    ) ?? [];
  if (body === undefined)
    throw new CertificateError("NOT_A_REQUEST", "there is no CERTIFICATE REQUEST block");
  const [info, algorithm, signature] = children(parse(Buffer.from(body, "base64")));
  const [, name, key, ...attributes] = info ? children(info) : [];
  const [type] = algorithm ? children(algorithm) : [];
  if (!info || !name || !key || !(type instanceof ObjectIdentifier) || !(signature instanceof BitString)) {
    throw new CertificateError("NOT_A_REQUEST", "the request has no subject, no key or no signature");
  }
  const publicKey = createPublicKey({ key: Buffer.from(der(key)), format: "der", type: "spki" });
  const digest = digests.get(type.getValue());
  const signed = info.valueBeforeDecodeView;
  if (digest === undefined || !verify(digest, signed, publicKey, signature.valueBlock.valueHexView)) {
    throw new CertificateError("NOT_A_REQUEST", "the request is not signed with the key that it is for");
  }
  return { subject: subjectOf(name), publicKey, names: attributes.flatMap(requestedNames) };
}

function subjectOf(name: Block): Subject {
  const parts = children(name)
    .flatMap(children)
    .map((part) => {
      const [type, value] = children(part);
      return {
        type: type instanceof ObjectIdentifier ? type.getValue() : "",
        text: value instanceof BaseStringBlock ? value.getValue() : "",
      };
    });
  return {
    commonName: parts.findLast(({ type }) => type === oid.commonName)?.text ?? "",
    organizations: parts.filter(({ type }) => type === oid.organization).map(({ text }) => text),
  };
}

/** The alternative names among the extensions that a request asks for. */
function requestedNames(attributes: Block): AlternativeName[] {
  return children(attributes).flatMap((attribute) => {
    const [type, values] = children(attribute);
    if (!(type instanceof ObjectIdentifier) || type.getValue() !== extensionRequest || !values) return [];
    return children(values)
      .flatMap(children)
      .flatMap((extension) => {
        const parts = children(extension);
        const [id, value] = [parts[0], parts.at(-1)];
        if (!(id instanceof ObjectIdentifier) || id.getValue() !== oid.subjectAlternativeName) return [];
        if (!(value instanceof OctetString)) return [];
        return children(parse(new Uint8Array(value.getValue()))).flatMap(alternativeName);
      });
  });
}

function alternativeName(block: Block): AlternativeName[] {
  if (!(block instanceof Primitive)) return [];
  const bytes = new Uint8Array(block.valueBlock.valueHexView);
  const value = Buffer.from(bytes).toString("latin1");
  switch (block.idBlock.tagNumber) {
    case 1:
      return [{ type: "email", value }];
    case 2:
      return [{ type: "dns", value }];
    case 6:
      return [{ type: "uri", value }];
    case 7:
      return [{ type: "ip", value: bytes }];
    default:
      return [];
  }
}
