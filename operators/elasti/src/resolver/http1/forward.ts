import type { Socket } from "node:net";
import type { RequestHead } from "./request-head.ts";
import type { ResponseHead } from "./response-head.ts";

/** Who sent a request, by its socket. */
export interface Peer {
  /** Its IP address. */
  readonly address: string;
}

/**
 * The IP address of the other end. IPv4 is in its own form, where a socket for both has put it into
 * IPv6's.
 */
export function peerAddress({ remoteAddress = "" }: Socket): string {
  return remoteAddress.startsWith("::ffff:") ? remoteAddress.slice("::ffff:".length) : remoteAddress;
}

/**
 * The head of a request as its target receives it: without what concerned the client's connection
 * alone, and with who the client is.
 */
export function forwardedRequest(head: RequestHead, { address }: Peer): string {
  const { forwarded, host } = head;
  let text = `${head.method} ${head.target} HTTP/1.1\r\n${head.fields}`;
  // HTTP/1.1 has none without. An HTTP/1.0 client may send none.
  if (host === undefined) text += "Host: \r\n";
  if (head.body === "chunked") text += "Transfer-Encoding: chunked\r\n";
  if (head.upgrade !== undefined) text += `Connection: Upgrade\r\nUpgrade: ${head.upgrade}\r\n`;
  const path = forwarded.for === undefined ? address : `${forwarded.for}, ${address}`;
  text += `X-Forwarded-For: ${path}\r\nX-Forwarded-Proto: ${forwarded.proto ?? "http"}\r\n`;
  const firstHost = forwarded.host ?? host;
  if (firstHost !== undefined && firstHost !== "") text += `X-Forwarded-Host: ${firstHost}\r\n`;
  if (forwarded.forwarded !== undefined)
    text += `Forwarded: ${forwarded.forwarded}, ${forwardedElement(address, host)}\r\n`;
  return `${text}\r\n`;
}

/** How the body of a response goes to the client. `raw` ends with the connection. */
export type ResponseFraming = "length" | "chunked" | "raw";

/** How a response's body is framed for a client of HTTP/1.`minorVersion`. */
export function framingFor({ body }: ResponseHead, minorVersion: 0 | 1): ResponseFraming {
  if (typeof body === "number") return "length";
  return minorVersion === 1 ? "chunked" : "raw";
}

/** The head of a response as the client receives it. */
export function forwardedResponse(
  head: ResponseHead,
  framing: ResponseFraming,
  connection: "close" | "keep-alive" | undefined,
): string {
  let text = `HTTP/1.1 ${head.status} ${head.reason}\r\n${head.fields}`;
  if (framing === "chunked") text += "Transfer-Encoding: chunked\r\n";
  if (connection !== undefined) text += `Connection: ${connection}\r\n`;
  return `${text}\r\n`;
}

/** The answer to an upgrade, after which both sides speak what they agreed on. */
export function switchedResponse(head: ResponseHead): string {
  const upgrade = head.upgrade === undefined ? "" : `Upgrade: ${head.upgrade}\r\n`;
  return `HTTP/1.1 101 ${head.reason}\r\n${head.fields}Connection: Upgrade\r\n${upgrade}\r\n`;
}

/** One element of Forwarded (RFC 7239). Addresses of IPv6 are quoted, with brackets. */
export function forwardedElement(address: string, host: string | undefined): string {
  const node = address.includes(":") ? `"[${address}]"` : address;
  return host === undefined || host === ""
    ? `for=${node};proto=http`
    : `for=${node};host="${host}";proto=http`;
}
