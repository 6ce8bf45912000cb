import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { malformedEscape } from "./request-info.ts";

/**
 * An answer of Go's HTTP server itself, sent before the request is routed. The connection is closed
 * after it.
 */
export interface PlainAnswer {
  readonly status: number;
  /** The reason phrase of the status line. */
  readonly reason: string;
  readonly text: string;
}

function refusal(status: number, reason: string): PlainAnswer {
  return { status, reason, text: `${status} ${reason}` };
}

/** For malformed HTTP. */
export const badRequest = refusal(400, "Bad Request");
/** For a request line and headers beyond {@link largestHeader}. */
export const headerTooLarge = refusal(431, "Request Header Fields Too Large");
/** For CONNECT. */
export const noTunnel: PlainAnswer = { status: 404, reason: "Not Found", text: "404 page not found\n" };
/** For a body that is not complete in time. Go sends a Status as text/plain. */
export const bodyTimeout: PlainAnswer = {
  status: 504,
  reason: "Gateway Timeout",
  text: `${JSON.stringify({
    metadata: {},
    status: "Failure",
    message: "Timeout: request did not complete within the allotted timeout",
    reason: "Timeout",
    details: {},
    code: 504,
  })}\n`,
};

/** The limit for the request line and headers together: a megabyte, and Go's read-ahead buffer. */
export const largestHeader = 1024 * 1024 + 4_096;

/**
 * What Go answers to a request that parses as HTTP and is invalid; undefined for a valid request.
 */
export function plainAnswerTo(incoming: IncomingMessage): PlainAnswer | undefined {
  const { url = "", httpVersionMajor, httpVersionMinor, headers } = incoming;
  if (httpVersionMajor !== 1) {
    return refusal(505, "HTTP Version Not Supported: unsupported protocol version");
  }
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") {
    return { status: 501, reason: "Not Implemented", text: "Unsupported transfer encoding" };
  }
  const [host, ...others] = hostsOf(incoming);
  if (host === undefined && httpVersionMinor > 0) {
    return refusal(400, "Bad Request: missing required Host header");
  }
  if (others.length > 0) return badRequest;
  if (host !== undefined && !validHost.test(host)) return refusal(400, "Bad Request: malformed Host header");
  return malformedEscape.test(url.split("?", 1)[0] ?? "") ? badRequest : undefined;
}

/** Node keeps the first of several. */
function hostsOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "host");
}

const validHost = /^[\w!$%&()*+,.:;='[\]~-]*$/;

/** The request target in origin form: path and query, without scheme and host. */
export function originForm(url: string): string {
  const [whole] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i.exec(url) ?? [];
  if (whole === undefined) return url;
  const rest = url.slice(whole.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

const unitMs: { readonly [unit: string]: number } = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The client's `timeout` parameter in milliseconds; undefined where it is not set. */
export function askedTimeoutMs(url: string): number | undefined {
  const asked = new URLSearchParams(url.split("?", 2)[1]).get("timeout") ?? "";
  const parts = [...asked.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy)];
  const ms = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMs[unit] ?? 0), 0);
  return ms > 0 ? ms : undefined;
}

/**
 * How long a client that is still sending is read after the answer. A reset connection may lose the
 * answer.
 */
const lingerMs = 500;

/** Writes an answer directly to the socket, and closes the connection. */
export function answerPlainly(socket: Duplex, { status, reason, text }: PlainAnswer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
  linger(socket);
}

/** Closes a connection after its last answer was sent. */
export function linger(socket: Duplex): void {
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
