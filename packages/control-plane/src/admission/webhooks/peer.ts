import type { X509Certificate } from "node:crypto";
import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";

/**
 * What Node's error about a connection does not contain, found out by connecting once more. Nothing
 * is sent of what was to be sent.
 */
export interface Peer {
  /** What the server proves itself with. */
  readonly certificate?: X509Certificate;
  /** The first bytes of a server that does not speak TLS. */
  readonly greeting?: string;
}

const patienceMs = 1_000;

/** Looks at the certificate of a server that was not trusted. */
export function peerCertificate(target: URL, serverName: string): Promise<Peer> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      host: hostOf(target),
      port: portOf(target),
      ...(serverName === "" ? {} : { servername: serverName }),
      // Only the handshake: nothing is sent.
      rejectUnauthorized: false,
      ALPNProtocols: ["http/1.1"],
    });
    const done = (peer: Peer) => {
      socket.destroy();
      resolve(peer);
    };
    socket.setTimeout(patienceMs, () => done({}));
    socket.once("error", () => done({}));
    socket.once("secureConnect", () => {
      const certificate = socket.getPeerX509Certificate();
      done(certificate === undefined ? {} : { certificate });
    });
  });
}

/** Looks at what a server says that took the start of TLS for something else. */
export function peerGreeting(target: URL): Promise<Peer> {
  return new Promise((resolve) => {
    const socket = connectPlain(portOf(target), hostOf(target));
    const done = (peer: Peer) => {
      socket.destroy();
      resolve(peer);
    };
    socket.setTimeout(patienceMs, () => done({}));
    socket.once("error", () => done({}));
    socket.once("end", () => done({}));
    socket.once("data", (data: Buffer) => done({ greeting: data.toString("latin1") }));
    // The header of a TLS record, as a client's greeting has it.
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x00, 0x0a]));
  });
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function portOf({ port }: URL): number {
  return port === "" ? 443 : Number(port);
}
