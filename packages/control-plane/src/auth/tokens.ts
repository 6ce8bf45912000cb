import type { KeyObject } from "node:crypto";
import { type Clock, type Random, uuid } from "@windlass/clock";
import { isObject, type Json, type JsonObject } from "../json.ts";
import { objectAt, textAt } from "../json-fields.ts";
import { goQuote } from "../schema/go-text.ts";
import { badRequest, conflict, notFound } from "../status.ts";
import { serviceAccountUser, type TokenAuthenticator, type TokenVerdict, type User } from "./identity.ts";
import { identityOf } from "./object-identity.ts";
import { quoteList } from "./quote.ts";
import { type SigningKeys, signingKeys, webKey } from "./signing-keys.ts";

/** Looks up what tokens are bound to, as it is stored now. */
export type FindBound = (
  resource: "serviceaccounts" | "pods" | "secrets" | "nodes",
  namespace: string,
  name: string,
) => JsonObject | undefined;

export interface TokensInit {
  readonly clock: Clock;
  readonly random: Random;
  readonly find: FindBound;
  /**
   * Who issues tokens: the first of them. Tokens of the others are accepted.
   *
   * @default "https://kubernetes.default.svc.cluster.local"
   */
  readonly issuers?: readonly string[];
  /**
   * Audiences this API server answers to.
   *
   * @default the issuers
   */
  readonly audiences?: readonly string[];
  /** Static tokens, and their users. */
  readonly staticTokens?: ReadonlyMap<string, User>;
  /**
   * The RSA or EC key that signs. Tokens outlive a restart only if it does.
   *
   * @default a new one
   */
  readonly key?: KeyObject;
  /**
   * Public keys by which signatures are checked.
   *
   * @default the public half of the key that signs
   */
  readonly publicKeys?: readonly KeyObject[];
}

/** What a token should be. */
export interface TokenWish {
  readonly serviceAccount: JsonObject;
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundReference | undefined;
}

/** The object that the token is bound to: the token is valid while it exists. */
export interface BoundReference {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
  readonly uid: string;
}

/** Issues and verifies service account tokens. */
export interface Tokens extends TokenAuthenticator {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /**
   * A signed token.
   *
   * @throws StatusError 404, 409 or 400 when it cannot be bound to the object it should be.
   */
  issue(wish: TokenWish): Promise<{ token: string; expiresAt: number }>;
  /**
   * A signed token that never expires, as Secrets of type `kubernetes.io/service-account-token`
   * hold. It counts as long as the Secret has it.
   */
  issueForSecret(serviceAccount: JsonObject, secret: JsonObject): Promise<string>;
  /** Calls back whenever a token of a Secret was used. @returns ends the subscription */
  onSecretUse(told: (secret: { readonly namespace: string; readonly name: string }) => void): () => void;
  /** The public keys, for `/openid/v1/jwks`. */
  keySet(): JsonObject;
  /** The document of `/.well-known/openid-configuration`. */
  discovery(server: string): JsonObject;
}

/**
 * What pods ask for; such tokens are made to live a year, as clients that never reload them exist.
 */
const podExpirationSeconds = 3607;
const yearSeconds = 365 * 24 * 3600;

/** How far clocks may be apart. */
const leewaySeconds = 60;

/** How many tokens' signatures are remembered as good. */
const remembered = 1_000;

/** Who issues the tokens that Secrets hold. */
const secretIssuer = "kubernetes/serviceaccount";

interface Claims {
  readonly audiences: readonly string[];
  readonly notBefore: number;
  readonly expires: number;
  readonly id: string;
  readonly namespace: string;
  readonly serviceAccount: Reference;
  readonly pod?: Reference | undefined;
  readonly secret?: Reference | undefined;
  readonly node?: Reference | undefined;
}

interface Reference {
  readonly name: string;
  readonly uid: string;
}

/**
 * Issues the tokens of service accounts, and verifies all bearer tokens. The JWT library is loaded
 * when the first one is made or shown: its import takes as long as a third of the server's whole
 * start.
 */
export function createTokens(init: TokensInit): Tokens {
  const { issuers = ["https://kubernetes.default.svc.cluster.local"] } = init;
  const [issuer = ""] = issuers;
  const own = init.audiences ?? issuers;
  const { clock, random, find } = init;
  const staticTokens = init.staticTokens ?? new Map<string, User>();
  const good = new Map<string, Claims | SecretClaims>();
  const listeners = new Set<(secret: { namespace: string; name: string }) => void>();
  let made: SigningKeys | undefined;
  const keys = () => {
    made ??= signingKeys(init);
    return made;
  };

  async function signed(token: string): Promise<Claims | SecretClaims | { error: string }> {
    const known = good.get(token);
    if (known) return known;
    const { decodeJwt, compactVerify } = await import("jose");
    let payload: JsonObject;
    try {
      payload = decodeJwt(token) as JsonObject;
    } catch {
      // Not a JWT: a token of another issuer, or garbage.
      return { error: invalidToken };
    }
    if (!issuers.includes(textAt(payload.iss)) && payload.iss !== secretIssuer)
      return { error: invalidToken };
    const { trusted } = keys();
    const checks = trusted.map(({ key, algorithm }) =>
      compactVerify(token, key, { algorithms: [algorithm] }),
    );
    try {
      await Promise.any(checks);
    } catch {
      return { error: reasoned("go-jose/go-jose: error in cryptographic primitive") };
    }
    const claims = payload.iss === secretIssuer ? secretClaims(payload) : claimsOf(payload);
    if (!claims) return { error: invalidToken };
    const [oldest] = good.keys();
    if (good.size >= remembered && oldest !== undefined) good.delete(oldest);
    good.set(token, claims);
    return claims;
  }

  return {
    issuer,
    audiences: own,

    async issue({ serviceAccount, audiences, expirationSeconds, bound }) {
      const account = identityOf(serviceAccount);
      const issuedAt = Math.floor(clock.now() / 1000);
      const references = bound ? boundTo(bound, account, find) : {};
      const extended =
        "pod" in references &&
        expirationSeconds === podExpirationSeconds &&
        audiences.some((audience) => own.includes(audience));
      const { SignJWT } = await import("jose");
      const token = await new SignJWT({
        aud: [...audiences],
        exp: issuedAt + (extended ? yearSeconds : expirationSeconds),
        iat: issuedAt,
        iss: issuer,
        jti: uuid(random),
        "kubernetes.io": {
          namespace: account.namespace,
          ...references,
          serviceaccount: { name: account.name, uid: account.uid },
          ...(extended ? { warnafter: issuedAt + expirationSeconds } : {}),
        },
        nbf: issuedAt,
        sub: serviceAccountUser(account.namespace, account.name).name,
      })
        .setProtectedHeader({ alg: keys().own.algorithm, kid: keys().own.id })
        .sign(keys().private);
      return { token, expiresAt: (issuedAt + expirationSeconds) * 1000 };
    },

    async issueForSecret(serviceAccount, secret) {
      const account = identityOf(serviceAccount);
      const { SignJWT } = await import("jose");
      return await new SignJWT({
        iss: secretIssuer,
        "kubernetes.io/serviceaccount/namespace": account.namespace,
        "kubernetes.io/serviceaccount/secret.name": identityOf(secret).name,
        "kubernetes.io/serviceaccount/service-account.name": account.name,
        "kubernetes.io/serviceaccount/service-account.uid": account.uid,
        sub: serviceAccountUser(account.namespace, account.name).name,
      })
        .setProtectedHeader({ alg: keys().own.algorithm, kid: keys().own.id })
        .sign(keys().private);
    },

    onSecretUse(told) {
      listeners.add(told);
      return () => {
        listeners.delete(told);
      };
    },

    async verify(token, audiences = own): Promise<TokenVerdict> {
      const fixed = staticTokens.get(token);
      if (fixed) {
        const common = own.filter((audience) => audiences.includes(audience));
        return common.length > 0 ? { user: fixed, audiences: common } : { error: invalidToken };
      }
      const claims = await signed(token);
      if ("error" in claims) return claims;
      const meant = "secretName" in claims ? own : claims.audiences;
      const common = meant.filter((audience) => audiences.includes(audience));
      if (common.length === 0) {
        const [has, wants] = [quoteList(meant), quoteList(audiences)];
        return { error: reasoned(`token audiences ${has} is invalid for the target audiences ${wants}`) };
      }
      if ("secretName" in claims) {
        const wrong = secretFault(claims, token, find);
        if (wrong !== undefined) return { error: reasoned(wrong) };
        const { namespace, serviceAccount, secretName } = claims;
        for (const told of listeners) told({ namespace, name: secretName });
        const user = { ...serviceAccountUser(namespace, serviceAccount.name), uid: serviceAccount.uid };
        return { user, audiences: common };
      }
      const fault = faultOf(claims, clock.now() / 1000, find);
      return fault ? { error: reasoned(fault) } : { user: userOf(claims), audiences: common };
    },

    keySet() {
      return { keys: keys().trusted.map(webKey) };
    },

    discovery: (server) => ({
      issuer,
      jwks_uri: `${server.replace(/\/$/, "")}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [
        ...new Set(keys().trusted.map(({ algorithm }) => algorithm)),
      ].sort(),
    }),
  };
}

const invalidToken = "invalid bearer token";

function reasoned(why: string): string {
  return `[${invalidToken}, ${why}]`;
}

/** What is wrong with a token whose signature is good, in the real server's words. */
function faultOf(claims: Claims, now: number, find: FindBound): string | undefined {
  if (now > claims.expires + leewaySeconds) return "service account token has expired";
  if (now < claims.notBefore - leewaySeconds) return "service account token is not valid yet";
  const { namespace, serviceAccount } = claims;
  const account = find("serviceaccounts", namespace, serviceAccount.name);
  if (!account) return `serviceaccounts ${goQuote(serviceAccount.name)} not found`;
  const uid = identityOf(account).uid;
  if (uid !== serviceAccount.uid) {
    return `service account UID (${uid}) does not match claim (${serviceAccount.uid})`;
  }
  if (isDeletedAt(account, now - leewaySeconds)) {
    return `service account ${namespace}/${serviceAccount.name} has been deleted`;
  }
  // A token bound to a pod carries its node for information only.
  const bound = [
    ["secret", "secrets", claims.secret],
    ["pod", "pods", claims.pod],
    ["node", "nodes", claims.pod ? undefined : claims.node],
  ] as const;
  for (const [kind, resource, reference] of bound) {
    if (!reference) continue;
    const object = find(resource, kind === "node" ? "" : namespace, reference.name);
    if (!object) return "service account token has been invalidated";
    const current = identityOf(object).uid;
    if (current !== reference.uid) {
      return `${kind} UID (${current}) does not match service account ${kind} ref claim (${reference.uid})`;
    }
    if (isDeletedAt(object, now - leewaySeconds)) return "service account token has been invalidated";
  }
  return undefined;
}

/**
 * Whether an object that finalizers or its containers still hold was to be gone before a time, in
 * seconds.
 */
function isDeletedAt(object: JsonObject, seconds: number): boolean {
  const { deletionTimestamp } = objectAt(object.metadata);
  return typeof deletionTimestamp === "string" && Date.parse(deletionTimestamp) / 1000 < seconds;
}

function userOf({ namespace, serviceAccount, id, pod, node }: Claims): User {
  const prefix = "authentication.kubernetes.io/";
  return {
    ...serviceAccountUser(namespace, serviceAccount.name),
    uid: serviceAccount.uid,
    extra: {
      ...(id === "" ? {} : { [`${prefix}credential-id`]: [`JTI=${id}`] }),
      ...(node ? { [`${prefix}node-name`]: [node.name] } : {}),
      ...(node && node.uid !== "" ? { [`${prefix}node-uid`]: [node.uid] } : {}),
      ...(pod ? { [`${prefix}pod-name`]: [pod.name], [`${prefix}pod-uid`]: [pod.uid] } : {}),
    },
  };
}

function boundTo(
  bound: BoundReference,
  account: { namespace: string; name: string },
  find: FindBound,
): Record<string, JsonObject> {
  const { kind, apiVersion, name, uid } = bound;
  const slash = apiVersion.indexOf("/");
  const [group, version] =
    slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
  const resource =
    group === "" && Object.hasOwn(bindable, kind) ? bindable[kind as keyof typeof bindable] : undefined;
  if (!resource) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  if (name === "") throw badRequest("Name parameter required.");
  const object = find(resource, resource === "nodes" ? "" : account.namespace, name);
  if (!object) throw notFound({ group: "", resource }, name);
  const spec = isObject(object.spec) ? object.spec : {};
  if (resource === "pods" && textAt(spec.serviceAccountName) !== account.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuote(account.name)} to pod running with different serviceaccount name.`,
    );
  }
  const current = identityOf(object).uid;
  if (uid !== "" && uid !== current) {
    throw conflict(
      { group: "", resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  const reference = { name, uid: current };
  if (resource !== "pods") return { [kind.toLowerCase()]: reference };
  const nodeName = textAt(spec.nodeName);
  if (nodeName === "") return { pod: reference };
  const node = find("nodes", "", nodeName);
  return { node: { name: nodeName, ...(node ? { uid: identityOf(node).uid } : {}) }, pod: reference };
}

const bindable = { Pod: "pods", Secret: "secrets", Node: "nodes" } as const;

/** What a token that a Secret holds says. */
interface SecretClaims {
  readonly namespace: string;
  readonly serviceAccount: Reference;
  readonly secretName: string;
}

function secretClaims(payload: JsonObject): SecretClaims | undefined {
  const part = (name: string) => textAt(payload[`kubernetes.io/serviceaccount/${name}`]);
  const [namespace, secretName] = [part("namespace"), part("secret.name")];
  const serviceAccount = { name: part("service-account.name"), uid: part("service-account.uid") };
  const whole = namespace !== "" && secretName !== "" && serviceAccount.name !== "";
  return whole ? { namespace, secretName, serviceAccount } : undefined;
}

/** What is wrong with such a token whose signature is good, in the real server's words. */
function secretFault(claims: SecretClaims, token: string, find: FindBound): string | undefined {
  const { namespace, serviceAccount, secretName } = claims;
  const secret = find("secrets", namespace, secretName);
  if (!secret || isDeleting(secret)) return "Token has been invalidated";
  const kept = isObject(secret.data) ? textAt(secret.data.token) : "";
  if (Buffer.from(kept, "base64").toString() !== token) return "Token does not match server's copy";
  const account = find("serviceaccounts", namespace, serviceAccount.name);
  if (!account) return `serviceaccounts ${goQuote(serviceAccount.name)} not found`;
  if (isDeleting(account)) return `ServiceAccount ${namespace}/${serviceAccount.name} has been deleted`;
  const { uid } = identityOf(account);
  return uid === serviceAccount.uid
    ? undefined
    : `ServiceAccount UID (${uid}) does not match claim (${serviceAccount.uid})`;
}

function isDeleting(object: JsonObject): boolean {
  return objectAt(object.metadata).deletionTimestamp !== undefined;
}

function claimsOf(payload: JsonObject): Claims | undefined {
  const { aud, exp, nbf, jti } = payload;
  const bound = payload["kubernetes.io"];
  if (!isObject(bound) || typeof exp !== "number") return undefined;
  const serviceAccount = referenceOf(bound.serviceaccount);
  if (!serviceAccount) return undefined;
  return {
    audiences: (Array.isArray(aud) ? aud : [aud]).filter((item) => typeof item === "string"),
    expires: exp,
    notBefore: typeof nbf === "number" ? nbf : 0,
    id: textAt(jti),
    namespace: textAt(bound.namespace),
    serviceAccount,
    pod: referenceOf(bound.pod),
    secret: referenceOf(bound.secret),
    node: referenceOf(bound.node),
  };
}

function referenceOf(value: Json | undefined): Reference | undefined {
  return isObject(value) ? { name: textAt(value.name), uid: textAt(value.uid) } : undefined;
}
