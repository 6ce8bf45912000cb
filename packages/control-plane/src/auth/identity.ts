import { inspect, provesClient } from "@windlass/certificates";
import type { JsonObject } from "../json.ts";
import { StatusError } from "../status.ts";

/** Who makes a request, as authorization, admission and audit see it. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The user of a request without credentials. */
export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

const authenticatedGroup = "system:authenticated";
/** The group of requests without credentials. */
export const unauthenticatedGroup = "system:unauthenticated";
const credentialId = "authentication.kubernetes.io/credential-id";

/** The result of verifying a bearer token: its user and audiences, or why it is invalid. */
export type TokenVerdict =
  | { readonly user: User; readonly audiences: readonly string[] }
  | { readonly user?: undefined; readonly error: string };

/** Verifies a bearer token. */
export interface TokenAuthenticator {
  /**
   * @param audiences of which the token must be meant for at least one; the API server's own when
   *   absent.
   */
  verify(token: string, audiences?: readonly string[]): Promise<TokenVerdict>;
}

/** The credentials of a request. */
export interface Credentials {
  /**
   * The user of the connection's client certificate, from `certificateUser`: once per connection,
   * as reading a certificate costs more than the rest of a request. "rejected" for an invalid
   * certificate.
   */
  readonly certificate?: User | "rejected" | undefined;
  /** The Authorization header. */
  readonly authorization?: string | undefined;
}

/**
 * Authenticates a request. A valid certificate comes before a token; an invalid one does not
 * invalidate a good token; a request without credentials is anonymous.
 *
 * @param strangers how requests without credentials are treated
 * @throws StatusError 401 for invalid credentials.
 */
export async function authenticate(
  credentials: Credentials,
  tokens: TokenAuthenticator,
  strangers: "anonymous" | "refused" = "anonymous",
): Promise<User> {
  const { certificate } = credentials;
  if (certificate !== undefined && certificate !== "rejected") return certificate;
  const token = bearerToken(credentials.authorization);
  if (token !== undefined) {
    const verdict = await tokens.verify(token);
    if (verdict.user) return withAuthenticatedGroup(verdict.user);
    throw unauthorized();
  }
  if (certificate === "rejected" || strangers === "refused") throw unauthorized();
  return anonymous;
}

/** The 401 of the real server, which does not say why. */
export function unauthorized(): StatusError {
  return new StatusError({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/**
 * The token of an `Authorization: Bearer …` header; undefined for any other, and for an empty
 * token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (authorization ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** How client certificates are verified. */
export interface ClientCertificates {
  /** PEM of the authorities that sign them, one or more, or of clients' own certificates. */
  readonly authority: string;
  readonly clock: { now(): number };
  /**
   * Whether TLS has found a chain to one of them.
   *
   * @default false
   */
  readonly isChained?: boolean;
}

/**
 * The user that a client certificate names: its common name, with its organizations as groups.
 * "rejected" when the authority did not sign it, it is out of date, or it is not for clients;
 * undefined when it has no common name.
 *
 * Take the bytes from `socket.getPeerX509Certificate()`, which leaves the reading to this function.
 * Node's ready-made form, `toLegacyObject`, takes the process down on a certificate whose key is of
 * no known kind.
 */
export function certificateUser(
  der: Uint8Array,
  { authority, clock, isChained = false }: ClientCertificates,
): User | "rejected" | undefined {
  if (!provesClient(der, { roots: authority, now: clock.now(), isChained })) return "rejected";
  const seen = inspect(der);
  if (seen.subject.commonName === "") return undefined;
  const fingerprint = seen.fingerprint.replaceAll(":", "").toLowerCase();
  return withAuthenticatedGroup({
    name: seen.subject.commonName,
    groups: seen.subject.organizations,
    extra: { [credentialId]: [`X509SHA256=${fingerprint}`] },
  });
}

/** Every user but the anonymous one is in `system:authenticated`. */
export function withAuthenticatedGroup(user: User): User {
  if (user.name === anonymous.name) return user;
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...user.groups, authenticatedGroup] };
}

/** The user a service account acts as. */
export function serviceAccountUser(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
  };
}

/** The service account behind a user's name; undefined for other users. */
export function serviceAccountOf(name: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/.exec(name);
  return match?.[1] && match[2] ? { namespace: match[1], name: match[2] } : undefined;
}

/** A user as reviews and admission requests write it. Empty parts are left out. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  const info: JsonObject = { username: name };
  if (uid) info.uid = uid;
  if (groups.length > 0) info.groups = [...groups];
  if (extra && Object.keys(extra).length > 0) {
    info.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  }
  return info;
}
