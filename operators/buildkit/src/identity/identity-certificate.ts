import { type Authority, inspect, type KeyPair, type SigningRequest } from "@windlass/certificates";
import { z } from "zod";
import { checkKeyLength, poolsIn, poolUri } from "../certificates/index.ts";
import { type PoolName, poolText } from "../pool-name.ts";
import { AuthenticationError } from "./errors.ts";
import { describeIdentity, type Identity, type TokenOrigin, vouching } from "./identity.ts";

const uriPrefix = "buildkit://identity/";
const organization = "BuildKit Client";
/** RFC 5280's upper bound. */
const LONGEST_COMMON_NAME = 64;

const texts = z.array(z.string());
const scope = z.discriminatedUnion("for", [
  z.object({ for: z.literal("all-pools") }),
  z.object({ for: z.literal("pools"), pools: texts }),
]);
const tokenOrigin: z.ZodType<TokenOrigin> = z.discriminatedUnion("is", [
  z.object({
    is: z.literal("oidc"),
    provider: z.string(),
    issuer: z.string(),
    scope,
    pools: texts.optional(),
  }),
  z.object({ is: z.literal("service-account"), namespace: z.string() }),
  z.object({ is: z.literal("static-token"), pool: z.string(), digest: z.string() }),
]);
/**
 * What a certificate says of its identity: all that rules look at, so that each request is decided
 * by the rules of its moment. Those that an earlier release has signed lack it, and are refused.
 */
const carried = z.object({
  user: z.string().min(1),
  id: z.string().min(1),
  groups: texts,
  claims: z.record(z.string(), z.unknown()),
  by: tokenOrigin,
});

/** An identity that a certificate proves. */
export type CertifiedIdentity = Identity & { readonly origin: { readonly is: "certificate" } };

/** What a certificate for an identity is made of. */
export interface IdentityCertificateInit {
  readonly identity: Identity;
  /** What it grants access to. */
  readonly pools: readonly PoolName[];
  /** Epoch milliseconds. */
  readonly notAfter: number;
}

/**
 * A key and a certificate that stand for an identity at the API. They hold no token: no gateway
 * takes them.
 *
 * @param authority Of the client ring.
 */
export function identityCertificate(authority: Authority, init: IdentityCertificateInit): KeyPair {
  const { commonName, uris } = namesOf(init);
  return authority.issue({
    commonName,
    organizations: [organization],
    uris,
    usages: ["client"],
    notAfter: init.notAfter,
  });
}

/**
 * The same for a key that the client keeps to itself.
 *
 * @returns PEM
 * @throws WeakKeyError for RSA of less than 2048 bits.
 */
export function signIdentityCertificate(
  authority: Authority,
  { publicKey }: Pick<SigningRequest, "publicKey">,
  init: IdentityCertificateInit,
): string {
  checkKeyLength(publicKey);
  const { commonName, uris } = namesOf(init);
  return authority.sign(
    {
      subject: { commonName, organizations: [organization] },
      publicKey,
      names: uris.map((value) => ({ type: "uri", value })),
    },
    { usages: ["client"], keyUsages: ["digitalSignature"], notAfter: init.notAfter },
  );
}

/**
 * Whom a client's certificate stands for. That an authority of the client ring has signed it has
 * been verified.
 *
 * @throws AuthenticationError for one that stands for no identity, such as an allocation's.
 */
export function identityIn(certificate: Uint8Array): CertifiedIdentity {
  const inspection = inspect(certificate);
  const encoded = inspection.uris.filter((uri) => uri.startsWith(uriPrefix));
  const [uri] = encoded;
  if (uri === undefined || encoded.length > 1)
    throw new AuthenticationError(
      "the client certificate does not say who you are: use one of POST /api/v1/certs/request, or a bearer token",
      `certificate ${inspection.serialNumber} of ${inspection.subject.commonName}`,
    );
  const { data, error } = carried.safeParse(parseJson(uri.slice(uriPrefix.length)));
  if (error)
    throw new AuthenticationError(
      "the client certificate is of an earlier release, and no longer accepted: have a new one by POST /api/v1/certs/request",
      `certificate ${inspection.serialNumber} of ${inspection.subject.commonName}: ${error.issues[0]?.path.join(".")}`,
    );
  const { by, ...identity } = data;
  const { notAfter } = inspection;
  return { ...identity, origin: { is: "certificate", by, pools: poolsIn(inspection), notAfter } };
}

function parseJson(encoded: string): unknown {
  try {
    return JSON.parse(Buffer.from(encoded, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

function namesOf({ identity, pools }: IdentityCertificateInit): {
  commonName: string;
  uris: readonly string[];
} {
  const { user, id, groups, claims, origin } = identity;
  const by = vouching(origin);
  const encoded = Buffer.from(JSON.stringify({ user, id, groups, claims, by })).toString("base64url");
  const unique = new Map(pools.map((pool) => [poolText(pool), pool]));
  return {
    commonName: describeIdentity(identity).slice(0, LONGEST_COMMON_NAME).trimEnd(),
    uris: [`${uriPrefix}${encoded}`, ...[...unique.values()].map(poolUri)],
  };
}
