import { type Document, leastRecentlyUsed } from "./document.ts";
import { ports } from "./ports.ts";
import { profiles, type Version } from "./versions.ts";

const allow: Document = { allow: {} };

/** Who may use a frontend, and how they reach it. */
export interface Access {
  /** Whether it shows a certificate, which is in {@link tlsDirectory}. */
  readonly hasTls: boolean;
  /** Tokens are checked by the keys in {@link jwksPath}. */
  readonly jwt?: { readonly claimsValidation: string };
  /** Client certificates must be signed by one of them. */
  readonly clientCertificates?: { readonly authorities: string; readonly validation: string };
  /** Who of those that are let in may do what. @default all of them, everything */
  readonly authorization?: Authorization;
}

/** What a client of a frontend may be allowed to do, by an expression for each. */
export type Authorization = Partial<Readonly<Record<(typeof verbs)[number], string>>>;

/** What may be allowed apart. */
export const verbs = ["read", "writeBlobs", "writeResults", "execute"] as const;

/** Where a frontend finds its certificate and key. */
export const tlsDirectory = "/tls";
/** Where a frontend finds the keys that sign tokens. */
export const jwksDirectory = "/jwks";
const jwksPath = `${jwksDirectory}/jwks.json`;

/**
 * What Bazel connects to. Files are read again every so often: a new certificate or key restarts
 * nothing.
 */
export function entrance(
  version: Version,
  { hasTls, jwt, clientCertificates, authorization }: Access,
): Document {
  const { jmespath, onClaims, claims } = profiles[version];
  // What is known of a client is kept only where it is asked for.
  const extraction = (name: string, what: string) => ({
    metadataExtractionJmespathExpression: jmespath(
      authorization ? `{"private": {"${name}": ${what}}}` : "`{}`",
    ),
  });
  const policies: readonly Document[] = [
    ...(jwt
      ? [
          {
            jwt: {
              jwksFile: jwksPath,
              maximumCacheSize: 1_000,
              cacheReplacementPolicy: leastRecentlyUsed,
              claimsValidationJmespathExpression: onClaims(jwt.claimsValidation),
              ...extraction("claims", claims),
            },
          },
        ]
      : []),
    ...(clientCertificates
      ? [
          {
            tlsClientCertificate: {
              clientCertificateAuthorities: clientCertificates.authorities,
              validationJmespathExpression: jmespath(clientCertificates.validation),
              ...extraction("certificate", "@"),
            },
          },
        ]
      : []),
  ];
  const [first = allow, ...others] = policies;
  const files = {
    certificatePath: `${tlsDirectory}/tls.crt`,
    privateKeyPath: `${tlsDirectory}/tls.key`,
    refreshInterval: "60s",
  };
  return {
    listenAddresses: [`:${ports.frontend}`],
    authenticationPolicy: others.length === 0 ? first : { any: { policies } },
    tls: hasTls ? { serverKeyPair: { files } } : undefined,
  };
}

/**
 * What each client of a frontend may do. The expressions see `claims` of a token, `certificate` of
 * a client and `instanceName`. Members of the set, who come by a way of their own, may do
 * everything: the scheduler reads what others have sent.
 */
export function authorizers(version: Version, access: Access | undefined) {
  const { jmespath } = profiles[version];
  const { authorization } = access ?? {};
  const authorizer = (verb: (typeof verbs)[number]): Document => {
    const rule = authorization?.[verb];
    if (rule === undefined) return allow;
    const known = "authenticationMetadata.private";
    const seen = `{"claims": ${known}.claims, "certificate": ${known}.certificate, "instanceName": instanceName}`;
    return { jmespathExpression: jmespath(`${known}.member || (${seen} | (${rule}))`) };
  };
  return {
    read: authorizer("read"),
    writeBlobs: authorizer("writeBlobs"),
    writeResults: authorizer("writeResults"),
    execute: authorizer("execute"),
    /** What is known of members of the set, for those who ask. */
    members: authorization && { private: { member: true } },
  };
}
