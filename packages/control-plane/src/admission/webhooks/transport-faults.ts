import { X509Certificate } from "node:crypto";
import type { Peer } from "./peer.ts";

/** Node's error for a connection that failed. */
interface NodeFault {
  readonly code?: string;
  readonly message?: string;
  readonly address?: string;
  readonly port?: number;
  readonly cert?: {
    readonly subject?: { readonly CN?: string };
    readonly subjectaltname?: string;
  };
  readonly errors?: readonly NodeFault[];
}

/** What else there is to know of a connection that failed. */
export interface FaultContext {
  /** The host that was to be reached. */
  readonly host: string;
  /** PEM of what was trusted. */
  readonly authorities?: string | undefined;
  readonly now: number;
  readonly peer: Peer;
}

/**
 * What must be known of the peer to name a failure: nothing, its certificate, or how it begins to
 * speak.
 */
export function detailOf(error: unknown): "certificate" | "greeting" | undefined {
  const fault = firstOf(error);
  const { message = "" } = fault;
  const code = codeOf(fault);
  if (untrustedCodes.has(code) || datedCodes.has(code)) return "certificate";
  return isPlaintext(code, message) ? "greeting" : undefined;
}

const untrustedCodes = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CA_MD_TOO_WEAK",
  "KEYUSAGE_NO_CERTSIGN",
]);
/** Faults that Node has no code for, by OpenSSL's words. */
const codeByWords: ReadonlyMap<string, string> = new Map([
  ["CA signature digest algorithm too weak", "CA_MD_TOO_WEAK"],
  ["key usage does not include certificate signing", "KEYUSAGE_NO_CERTSIGN"],
  ["permitted subtree violation", "PERMITTED_VIOLATION"],
  ["unhandled critical extension", "UNHANDLED_CRITICAL_EXTENSION"],
]);

function codeOf({ code = "", message = "" }: NodeFault): string {
  return codeByWords.get(message) ?? code;
}

const datedCodes = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);

function isPlaintext(code: string, message: string): boolean {
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") return true;
  return code === "EPROTO" && !alertIn(message);
}

/**
 * A failed connection in the words of Go's network packages, which the real server's messages end
 * with.
 */
export function dialFault(error: unknown, context: FaultContext): string {
  const fault = firstOf(error);
  const { message = "" } = fault;
  const code = codeOf(fault);
  const { host, peer } = context;
  if (untrustedCodes.has(code)) {
    return untrusted(`certificate signed by unknown authority${candidate(context, code)}`);
  }
  if (datedCodes.has(code)) {
    return untrusted(`certificate has expired or is not yet valid${dates(context)}`);
  }
  const alert = alertIn(message);
  if (alert !== undefined) return `remote error: tls: ${alert}`;
  if (isPlaintext(code, message)) {
    return peer.greeting === undefined || peer.greeting.startsWith("HTTP/")
      ? "http: server gave HTTP response to HTTPS client"
      : "tls: first record does not look like a TLS handshake";
  }
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${addressOf(fault)}: connect: connection refused`;
    case "EHOSTUNREACH":
      return `dial tcp ${addressOf(fault)}: connect: no route to host`;
    case "ENETUNREACH":
      return `dial tcp ${addressOf(fault)}: connect: network is unreachable`;
    case "ETIMEDOUT":
      return `dial tcp ${addressOf(fault)}: i/o timeout`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${host}: no such host`;
    case "ECONNRESET":
    case "EPIPE":
      // Node's own word for a peer that hung up without an answer.
      return /hang up|closed|disconnected/.test(message) ? "EOF" : "read: connection reset by peer";
    case "UNHANDLED_CRITICAL_EXTENSION":
      return untrusted("unhandled critical extension");
    case "PERMITTED_VIOLATION":
      return untrusted(
        `a root or intermediate certificate is not authorized to sign for this name: IP address ${JSON.stringify(host)} is not permitted by any constraint`,
      );
    case "INVALID_PURPOSE":
      return untrusted("certificate specifies an incompatible key usage");
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return untrusted(nameFault(fault, host));
    default:
      return message === "" ? String(error) : message;
  }
}

/** Of several addresses that were tried, the first one's failure is reported. */
function firstOf(error: unknown): NodeFault {
  const fault = (typeof error === "object" && error !== null ? error : {}) as NodeFault;
  return fault.errors?.[0] ?? fault;
}

function addressOf({ address = "", port }: NodeFault): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port ?? ""}`;
}

function untrusted(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`;
}

/** An authority of the right name and the wrong key is said to be one. */
function candidate({ authorities = "", peer }: FaultContext, code: string): string {
  const { certificate } = peer;
  if (certificate === undefined) return "";
  const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
  const namesake = (authorities.match(pem) ?? [])
    .map((text) => new X509Certificate(text))
    .find(({ subject }) => subject === certificate.issuer);
  if (namesake === undefined) return "";
  const isRsa = namesake.publicKey.asymmetricKeyType === "rsa";
  const why =
    code === "CA_MD_TOO_WEAK"
      ? `x509: cannot verify signature: insecure algorithm ${isRsa ? "SHA1-RSA" : "ECDSA-SHA1"}`
      : code === "KEYUSAGE_NO_CERTSIGN"
        ? "x509: invalid signature: parent certificate cannot sign this kind of certificate"
        : isRsa
          ? "crypto/rsa: verification error"
          : "x509: ECDSA verification failure";
  const name = /^CN=(.*)$/m.exec(namesake.subject)?.[1] ?? "";
  return ` (possibly because of ${JSON.stringify(why)} while trying to verify candidate authority certificate ${JSON.stringify(name)})`;
}

function dates({ now, peer: { certificate } }: FaultContext): string {
  if (certificate === undefined) return "";
  const shown = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`;
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (now < from) return `: current time ${shown(now)} is before ${shown(from)}`;
  return now > to ? `: current time ${shown(now)} is after ${shown(to)}` : "";
}

function nameFault({ cert }: NodeFault, host: string): string {
  const names = (cert?.subjectaltname ?? "").split(", ").filter((name) => name !== "");
  if (names.length === 0 && cert?.subject?.CN === host) {
    return "certificate relies on legacy Common Name field, use SANs instead";
  }
  const of = (kind: string) =>
    names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  const addresses = of("IP Address:").map(shortAddress);
  const isAddress = /^[\d.]+$|:/.test(host);
  if (isAddress && addresses.length === 0) {
    return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  }
  const dnsNames = of("DNS:");
  if (!isAddress && dnsNames.length === 0) {
    return `certificate is not valid for any names, but wanted to match ${host}`;
  }
  return `certificate is valid for ${(isAddress ? addresses : dnsNames).join(", ")}, not ${host}`;
}

/** `0:0:0:0:0:0:0:1` as people write it. */
function shortAddress(address: string): string {
  if (!address.includes(":")) return address;
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address;
}

/** What a peer said before it hung up, in Go's words. */
function alertIn(message: string): string | undefined {
  const number = /SSL alert number (\d+)/.exec(message)?.[1];
  return number === undefined ? undefined : (alerts.get(Number(number)) ?? `alert(${number})`);
}

const alerts: ReadonlyMap<number, string> = new Map([
  [10, "unexpected message"],
  [20, "bad record MAC"],
  [21, "decryption failed"],
  [22, "record overflow"],
  [30, "decompression failure"],
  [40, "handshake failure"],
  [42, "bad certificate"],
  [43, "unsupported certificate"],
  [44, "revoked certificate"],
  [45, "expired certificate"],
  [46, "unknown certificate"],
  [47, "illegal parameter"],
  [48, "unknown certificate authority"],
  [49, "access denied"],
  [50, "error decoding message"],
  [51, "error decrypting message"],
  [60, "export restriction"],
  [70, "protocol version not supported"],
  [71, "insufficient security level"],
  [80, "internal error"],
  [86, "inappropriate fallback"],
  [90, "user canceled"],
  [100, "no renegotiation"],
  [109, "missing extension"],
  [110, "unsupported extension"],
  [111, "certificate unobtainable"],
  [112, "unrecognized name"],
  [113, "bad certificate status response"],
  [114, "bad certificate hash value"],
  [115, "unknown PSK identity"],
  [116, "certificate required"],
  [120, "no application protocol"],
]);
