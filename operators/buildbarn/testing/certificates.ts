import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { type Authority, createAuthority, type KeyPair } from "@windlass/certificates";

/** A certificate for a client and a server. */
export function pairOf(by: Authority, name: string): KeyPair {
  return by.issue({ commonName: name, dnsNames: [name], usages: ["server", "client"], validFor: "1h" });
}

/** Who is not of a set, and what they show. */
export function foreignPairsOf(by: Authority, serverName: string) {
  const others = createAuthority({ commonName: "others", validFor: "1h" });
  return [
    ["no certificate", undefined],
    ["one of another authority", pairOf(others, serverName)],
    ["one of the authority for another set", pairOf(by, `another-${serverName}`)],
  ] as const;
}

/** The fingerprint of the certificate that a server shows. */
export function shownBy(
  address: string,
  { authorities, serverName }: { readonly authorities: string; readonly serverName: string },
): Promise<string> {
  const [host = "", port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ca: authorities, servername: serverName }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

export function fingerprintOf({ certificate }: KeyPair): string {
  return new X509Certificate(certificate).fingerprint256;
}
