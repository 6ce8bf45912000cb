import type { TLSSocket } from "node:tls";

/** What HTTP/2 allows. AES-128 comes first: no weaker in practice, and faster. */
export const ciphers = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384",
].join(":");

/** The oldest version of TLS that is spoken. */
export const minVersion = "TLSv1.2";

/** Often enough for any load balancer, and to notice that a peer is gone. */
const KEEP_ALIVE_MS = 30_000;

/** A socket with what gRPC wants of TCP: nothing is held back, and silence is noticed. */
export function tuned(socket: TLSSocket): TLSSocket {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}
