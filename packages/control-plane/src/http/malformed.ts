import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { malformedEscape } from "./request-info.ts";

/** An answer of Go's HTTP server itself, from before anybody looks at what a request is about. The connection ends with it. */
export interface PlainAnswer {
  readonly status: number;
  /** What the status line says after the number. */
  readonly reason: string;
  readonly text: string;
}

function refusal(status: number, reason: string): PlainAnswer {
  return { status, reason, text: `${status} ${reason}` };
}

/** For what cannot be read as HTTP at all. */
export const badRequest = refusal(400, "Bad Request");
/** For a request line and headers beyond {@link largestHeader}. */
export const headerTooLarge = refusal(431, "Request Header Fields Too Large");
/** For a method that asks for a tunnel. */
export const noTunnel: PlainAnswer = { status: 404, reason: "Not Found", text: "404 page not found\n" };
/** For a body that does not come to its end in time. Go sends a Status, and calls it text. */
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

/** What the request line and all headers may take: a megabyte, and what Go reads ahead. */
export const largestHeader = 1024 * 1024 + 4_096;

/** What Go answers to a request that is HTTP and yet not right; undefined where there is nothing to say. */
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

/** Where a request goes: of an address with a scheme and a host, the path and the query. */
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

/** How long a client wants to wait at most, by its `timeout`; undefined where it does not say. */
export function askedTimeoutMs(url: string): number | undefined {
  const asked = new URLSearchParams(url.split("?", 2)[1]).get("timeout") ?? "";
  const parts = [...asked.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy)];
  const ms = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMs[unit] ?? 0), 0);
  return ms > 0 ? ms : undefined;
}

/** How long a client that still sends is listened to after it was answered: to one that is cut off the answer may be lost. */
const lingerMs = 500;

/** Writes an answer past Node, and ends the connection. */
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

/** Ends a connection whose last answer is on its way. */
export function linger(socket: Duplex): void {
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
