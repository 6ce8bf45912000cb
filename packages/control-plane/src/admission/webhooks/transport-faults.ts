/** What Node tells of a connection that failed. */
interface NodeFault {
  readonly code?: string;
  readonly message?: string;
  readonly address?: string;
  readonly port?: number;
  readonly cert?: {
    readonly valid_to?: string;
    readonly valid_from?: string;
    readonly subjectaltname?: string;
  };
  readonly errors?: readonly NodeFault[];
}

/** A failed connection in the words of Go's network packages, which the real server's messages end with. */
export function dialFault(error: unknown, host: string): string {
  const fault = firstOf((typeof error === "object" && error !== null ? error : {}) as NodeFault);
  switch (fault.code) {
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
      return /hang up|closed|disconnected/.test(fault.message ?? "")
        ? "EOF"
        : "read: connection reset by peer";
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "CERT_SIGNATURE_FAILURE":
      return untrusted("certificate signed by unknown authority");
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return untrusted("certificate has expired or is not yet valid");
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return untrusted(nameFault(fault, host));
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "EPROTO":
      return "http: server gave HTTP response to HTTPS client";
    default:
      return fault.message ?? String(error);
  }
}

/** Of several addresses that were tried, the first one's failure is told. */
function firstOf(fault: NodeFault): NodeFault {
  return fault.errors?.[0] ?? fault;
}

function addressOf({ address = "", port }: NodeFault): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port ?? ""}`;
}

function untrusted(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`;
}

function nameFault({ cert }: NodeFault, host: string): string {
  const names = (cert?.subjectaltname ?? "").split(", ").filter((name) => name !== "");
  const of = (kind: string) =>
    names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  const addresses = of("IP Address:");
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
