import type { X509Certificate } from "node:crypto";
import { Agent, type AgentOptions, type RequestOptions } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";
import { provesServer } from "@windlass/certificates";

/** What a server must prove itself by. */
export interface ServerProof {
  /** PEM of those that are trusted. */
  readonly roots: string;
  /** The name or address that its certificate must have. */
  readonly host: string;
}

/**
 * Connections to servers that OpenSSL does not accept and Go does, such as one that proves itself
 * with the certificate of an authority. Nothing is sent before that is proven.
 */
export class LenientAgent extends Agent {
  readonly #proof: ServerProof;

  constructor(options: AgentOptions, proof: ServerProof) {
    super(options);
    this.#proof = proof;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const socket = connect({ ...(options as AgentOptions), rejectUnauthorized: false });
    const fail = (error: Error) => callback?.(error, socket);
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      socket.off("error", fail);
      const fault = faultOf(socket, this.#proof);
      if (fault) socket.destroy();
      callback?.(fault ?? null, socket);
    });
  }
}

const purposeFault = "INVALID_PURPOSE";
const nameFault = "ERR_TLS_CERT_ALTNAME_INVALID";

function faultOf(socket: TLSSocket, { roots, host }: ServerProof): Error | undefined {
  const code = socket.authorizationError && String(socket.authorizationError);
  if (!code) return undefined;
  // Node gives it once.
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined || (code !== purposeFault && code !== nameFault)) return coded(code);
  if (code === purposeFault && !provesServer(chainOf(certificate), { roots, now: Date.now() }))
    return coded(code);
  const fits =
    isIP(host) === 0 ? certificate.checkHost(host, { subject: "never" }) : certificate.checkIP(host);
  if (fits !== undefined) return undefined;
  const [, name = ""] = /^CN=(.*)$/m.exec(certificate.subject) ?? [];
  const { subjectAltName: subjectaltname } = certificate;
  return Object.assign(coded(nameFault), { cert: { subject: { CN: name }, subjectaltname } });
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** What the server sent: its own certificate, and those that signed one another. */
function chainOf(certificate: X509Certificate): Uint8Array[] {
  const chain: Uint8Array[] = [];
  for (
    let next: X509Certificate | undefined = certificate;
    next !== undefined;
    next = next.issuerCertificate
  ) {
    const { raw } = next;
    if (chain.some((der) => raw.equals(der))) break;
    chain.push(raw);
  }
  return chain;
}
