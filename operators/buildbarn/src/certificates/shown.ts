import type { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect } from "node:tls";
import type { GrpcServer } from "../grpc/index.ts";

/** What a server shows to those who connect, and why others of its set would not take it. */
export interface Shown {
  readonly certificate: X509Certificate;
  /** Undefined if it is taken, or if it is not known who would have signed it. */
  readonly refusal?: string;
}

/**
 * The certificate that a server shows. Nothing is asked of it.
 *
 * @throws Error if it cannot be reached, or does not show one.
 * @throws the signal's reason.
 */
export function shownBy(
  { address, authorities, serverName, certificate, key }: GrpcServer,
  signal: AbortSignal,
): Promise<Shown> {
  const colon = address.lastIndexOf(":");
  const host = address.slice(0, colon);
  // There is no name in TLS that is an address.
  const servername = serverName ?? (isIP(host) === 0 ? host : undefined);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({
      host,
      port: Number(address.slice(colon + 1)),
      ALPNProtocols: ["h2"],
      // The fault is reported, and no message follows.
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
      ...(authorities !== undefined && { ca: authorities }),
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
    });
    const abort = () => socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    socket.on("error", reject);
    socket.on("close", () => {
      signal.removeEventListener("abort", abort);
      reject(new Error(`${address} closed the connection before it showed a certificate`));
    });
    socket.on("secureConnect", () => {
      const shown = socket.getPeerX509Certificate();
      if (!shown) reject(new Error(`${address} showed no certificate`));
      else if (authorities === undefined || socket.authorized) resolve({ certificate: shown });
      else resolve({ certificate: shown, refusal: String(socket.authorizationError) });
      socket.destroy();
    });
  });
}
