import { TransportError, type TransportErrorCode } from "../errors.ts";
import { MalformedResponseError } from "./response-parser.ts";

interface Failure {
  readonly code: TransportErrorCode;
  /** The text for the reader: the fault, then the way out. */
  readonly says: string;
}

const refused: Failure = {
  code: "CONNECTION_REFUSED",
  says: "connection refused: nothing listens there; is the API server up, and its address right?",
};
const unknownHost: Failure = {
  code: "HOST_NOT_FOUND",
  says: "the host name does not resolve; check the name, the DNS and the network",
};
const unreachable: Failure = {
  code: "HOST_UNREACHABLE",
  says: "no route to the host; check the network, the VPN and the firewall",
};
const reset: Failure = {
  code: "CONNECTION_RESET",
  says: "the connection was closed before the whole answer had come",
};
const untrusted: Failure = {
  code: "CERTIFICATE_UNTRUSTED",
  says: "the server's certificate is not signed by a CA that is trusted here; set certificate-authority (or -data) to the cluster's CA",
};
const rejected: Failure = {
  code: "CLIENT_CERTIFICATE_REJECTED",
  says: "the server refused the client certificate; renew it",
};
const noTls: Failure = {
  code: "TLS_FAILED",
  says: "TLS could not be agreed upon; is it a port that speaks TLS?",
};

const failures = new Map<string, Failure>([
  ["ECONNREFUSED", refused],
  ["ENOENT", refused],
  ["ENOTFOUND", unknownHost],
  ["EAI_AGAIN", unknownHost],
  ["EAI_NODATA", unknownHost],
  ["EHOSTUNREACH", unreachable],
  ["ENETUNREACH", unreachable],
  ["EHOSTDOWN", unreachable],
  ["ENETDOWN", unreachable],
  ["ECONNRESET", reset],
  ["ECONNABORTED", reset],
  ["EPIPE", reset],
  ["ERR_STREAM_PREMATURE_CLOSE", reset],
  ["ERR_STREAM_DESTROYED", reset],
  [
    "ETIMEDOUT",
    {
      code: "TIMEOUT_CONNECT",
      says: "the host does not answer; check the address, the network and the firewall",
    },
  ],
  [
    "CERT_HAS_EXPIRED",
    {
      code: "CERTIFICATE_EXPIRED",
      says: "the server's certificate has expired; renew it, or correct this machine's clock",
    },
  ],
  [
    "CERT_NOT_YET_VALID",
    {
      code: "CERTIFICATE_EXPIRED",
      says: "the server's certificate is not valid yet; correct this machine's clock",
    },
  ],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", untrusted],
  ["SELF_SIGNED_CERT_IN_CHAIN", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", untrusted],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", untrusted],
  ["CERT_UNTRUSTED", untrusted],
  ["CERT_SIGNATURE_FAILURE", untrusted],
  ["INVALID_CA", untrusted],
  [
    "ERR_TLS_CERT_ALTNAME_INVALID",
    {
      code: "CERTIFICATE_NAME_MISMATCH",
      says: "the server's certificate is for other names; use one of them as server, or set tls-server-name",
    },
  ],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", rejected],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", rejected],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN", rejected],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED", rejected],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", rejected],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", rejected],
  ["ERR_SSL_WRONG_VERSION_NUMBER", noTls],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", noTls],
  ["EPROTO", noTls],
]);

/** Where a failure happened, for its message. */
export interface FailureContext {
  /** E.g. `GET https://10.0.0.1:6443/api/v1/pods`. */
  readonly request: string;
  /**
   * False as long as no byte of the request was handed to a socket. What the error is has no say in
   * it.
   */
  readonly mayHaveBeenSent: boolean;
}

/**
 * The error of this package that an error of Node's stands for. One of ours passes unchanged.
 * Node's own text is not repeated where the code is known: it is written for the library's authors,
 * not its users.
 */
export function failureFrom(error: unknown, { request, mayHaveBeenSent }: FailureContext): TransportError {
  if (error instanceof TransportError) return error;
  const code = errorCode(error);
  const known = failures.get(code);
  const options = { cause: error, mayHaveBeenSent };
  if (known) return new TransportError(known.code, `${request}: ${known.says}`, options);
  if (error instanceof MalformedResponseError || code.startsWith("Z_"))
    return new TransportError(
      "RESPONSE_MALFORMED",
      `${request}: the answer is not valid HTTP (${code || (error as Error).message}); is it an API server that answers there?`,
      options,
    );
  if (code.startsWith("ERR_SSL_"))
    return new TransportError("TLS_FAILED", `${request}: TLS failed (${code})`, options);
  const said = code || (error instanceof Error ? error.message : "unknown fault");
  return new TransportError("CONNECTION_FAILED", `${request}: the connection failed (${said})`, options);
}

/** The error of a connection that ended without one of its own. */
export function closedEarly(): Error {
  return Object.assign(new Error("the connection was closed"), { code: "ECONNRESET" });
}

/** With happy eyeballs Node reports an AggregateError; its parts say the same of each address. */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError && !("code" in error && error.code)) return errorCode(error.errors[0]);
  if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "string")
    return error.code;
  return "";
}
