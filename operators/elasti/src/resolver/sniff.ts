import type { PortProtocol } from "./targets.ts";

/** What a client speaks, by its first bytes. `unknown`: they are too few to decide. */
export type Spoken = "http1" | "http2" | "tls" | "tcp" | "unknown";

const TLS_HANDSHAKE = 0x16;
const TLS_MAJOR_VERSION = 0x03;
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/**
 * A method and the beginning of a target. Other protocols have words and blanks too, but no path
 * after the first.
 */
const requestStart = /^[A-Z]{3,20} (?:\/|\*|https?:)/;
const requestStartSoFar = /^[A-Z]{0,20}$|^[A-Z]{3,20} (?:h(?:t(?:t(?:ps?)?)?)?)?$/;
const MOST_BYTES = 32;

/** Decides what a client speaks on a port of the given protocol. */
export function spokenIn(bytes: Uint8Array, protocol: PortProtocol): Spoken {
  if (protocol === "tcp") return "tcp";
  if (bytes.length === 0) return "unknown";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MOST_BYTES)).toString(
    "latin1",
  );
  if (text.startsWith(http2Preface)) return "http2";
  if (http2Preface.startsWith(text)) return "unknown";
  if (bytes[0] === TLS_HANDSHAKE) {
    if (bytes.length < 2) return "unknown";
    if (bytes[1] === TLS_MAJOR_VERSION) return "tls";
  }
  if (protocol === "http") return "http1";
  if (requestStart.test(text)) return "http1";
  return requestStartSoFar.test(text) ? "unknown" : "tcp";
}
