import type { Document } from "./document.ts";
import { profiles, type Version } from "./versions.ts";

/**
 * What the components of a set trust of each other. What they show is in
 * {@link internalTlsDirectory}.
 */
export interface InternalTls {
  /**
   * The authorities that sign certificates of the set, in PEM. They are part of the configuration:
   * others restart its programs.
   */
  readonly authorities: string;
  /**
   * The DNS name in every certificate of the set, whichever component presents it: the name of the
   * set, and not of a host.
   */
  readonly serverName: string;
}

/** Where a program finds the certificate and the key that it shows to others of its set. */
export const internalTlsDirectory = "/internal-tls";

/** Read again every so often: a new certificate restarts nothing. */
const keyPair: Document = {
  files: {
    certificatePath: `${internalTlsDirectory}/tls.crt`,
    privateKeyPath: `${internalTlsDirectory}/tls.key`,
    refreshInterval: "60s",
  },
};

/** How a program reaches another one of its set: by TLS, if the set has it. */
export function clientOf(address: string, tls: InternalTls | undefined) {
  return {
    address,
    tls: tls && {
      serverCertificateAuthorities: tls.authorities,
      serverName: tls.serverName,
      clientKeyPair: keyPair,
    },
  } as const satisfies Document;
}

/**
 * Lets every client in; if the set has TLS, only clients with a certificate of the set.
 *
 * @param known What authorizers receive about each of them.
 */
export function internalListener(
  version: Version,
  port: number,
  tls: InternalTls | undefined,
  known: Readonly<Record<string, Document>> = {},
): Document {
  const listenAddresses = [`:${port}`];
  if (!tls) return { listenAddresses, authenticationPolicy: { allow: known } };
  const { jmespath } = profiles[version];
  return {
    listenAddresses,
    authenticationPolicy: {
      tlsClientCertificate: {
        clientCertificateAuthorities: tls.authorities,
        // An authority may sign for others too: the name identifies members of the set.
        validationJmespathExpression: jmespath(`contains(dnsNames, '${tls.serverName}')`),
        metadataExtractionJmespathExpression: jmespath(`\`${JSON.stringify(known)}\``),
      },
    },
    tls: { serverKeyPair: keyPair },
  };
}
