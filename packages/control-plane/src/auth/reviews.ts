import type { Clock } from "@windlass/clock";
import { isInteger, isObject, type JsonObject, stringify } from "../json.ts";
import { objectAt, textAt, textsAt } from "../json-fields.ts";
import { badRequest, type Cause, namespaceMismatch, StatusError } from "../status.ts";
import { type User, userInfo, withAuthenticatedGroup } from "./identity.ts";
import { omit } from "./object-identity.ts";
import { type Attributes, type Authorizer, aggregate, rolesNotFound } from "./rbac.ts";
import { ruleToJson } from "./rules.ts";
import { selectorCauses } from "./selector-causes.ts";
import type { Tokens } from "./tokens.ts";

const authorization = "authorization.k8s.io";

/**
 * Answers a SubjectAccessReview: may that user do that?
 *
 * @throws StatusError 422 without attributes, with both kinds of attributes, or without a user.
 */
export function reviewSubjectAccess(review: JsonObject, authorizer: Authorizer): JsonObject {
  const spec = objectAt(review.spec);
  refuse([...subjectCauses(spec), ...metadataCauses(review)]);
  return answer("SubjectAccessReview", review, accessStatus(subjectOf(spec), spec, authorizer));
}

/**
 * Answers a SelfSubjectAccessReview: may I do that?
 *
 * @throws StatusError 422 without attributes, or with both kinds of attributes.
 */
export function reviewOwnAccess(review: JsonObject, user: User, authorizer: Authorizer): JsonObject {
  const spec = objectAt(review.spec);
  refuse([
    ...attributeCauses(spec),
    ...selectorCauses(objectAt(spec.resourceAttributes)),
    ...metadataCauses(review),
  ]);
  return answer("SelfSubjectAccessReview", review, accessStatus(user, spec, authorizer));
}

/**
 * Answers a LocalSubjectAccessReview: may that user do that in this namespace?
 *
 * @throws StatusError 400 when the object names another namespace, 422 without attributes or a
 *   user, or for another namespace.
 */
export function reviewLocalAccess(review: JsonObject, namespace: string, authorizer: Authorizer): JsonObject {
  const spec = objectAt(review.spec);
  const metadata = objectAt(review.metadata);
  if (textAt(metadata.namespace) !== "" && metadata.namespace !== namespace) throw namespaceMismatch();
  const causes = [...subjectCauses(spec), ...metadataCauses(review)];
  if (isObject(spec.resourceAttributes) && textAt(spec.resourceAttributes.namespace) !== namespace) {
    causes.push(
      invalidValue(
        "spec.resourceAttributes.namespace",
        JSON.stringify(textAt(spec.resourceAttributes.namespace)),
        "must match metadata.namespace",
      ),
    );
  }
  if (isObject(spec.nonResourceAttributes)) {
    causes.push(
      invalidValue(
        "spec.nonResourceAttributes",
        pathAttributes(spec.nonResourceAttributes),
        "disallowed on this kind of request",
      ),
    );
  }
  refuse(causes);
  const named = { ...review, metadata: { ...metadata, namespace } };
  return answer("LocalSubjectAccessReview", named, accessStatus(subjectOf(spec), spec, authorizer));
}

/**
 * Answers a SelfSubjectRulesReview: what may I do here?
 *
 * @throws StatusError 400 when it names no namespace.
 */
export function reviewOwnRules(review: JsonObject, user: User, authorizer: Authorizer): JsonObject {
  const namespace = textAt(objectAt(review.spec).namespace);
  if (namespace === "") throw badRequest("no namespace on request");
  const held = authorizer.rulesFor(user, namespace);
  const forResources = held.rules.filter(({ resources }) => resources && resources.length > 0);
  const forPaths = held.rules.filter(({ nonResourceURLs }) => nonResourceURLs && nonResourceURLs.length > 0);
  const status: JsonObject = {
    resourceRules: forResources.map((rule) => omit(ruleToJson(rule), "nonResourceURLs")),
    nonResourceRules: forPaths.map(({ verbs, nonResourceURLs = [] }) =>
      ruleToJson({ verbs, nonResourceURLs }),
    ),
    incomplete: false,
  };
  if (held.missing.length > 0) status.evaluationError = rolesNotFound(held.missing);
  return {
    kind: "SelfSubjectRulesReview",
    apiVersion: `${authorization}/v1`,
    metadata: {},
    spec: {},
    status,
  };
}

/**
 * Answers a SelfSubjectReview: who am I? Whatever else the object held is dropped, as the real
 * server does.
 */
export function reviewSelf(user: User, clock: Clock): JsonObject {
  return {
    kind: "SelfSubjectReview",
    apiVersion: "authentication.k8s.io/v1",
    metadata: { creationTimestamp: timestamp(clock.now()) },
    status: { userInfo: userInfo(user) },
  };
}

/**
 * Answers a TokenReview: whose token is this?
 *
 * @throws StatusError 400 when it holds no token.
 */
export async function reviewToken(review: JsonObject, tokens: Tokens): Promise<JsonObject> {
  const spec = objectAt(review.spec);
  const token = textAt(spec.token);
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const wanted = textsAt(spec.audiences);
  const verdict = await tokens.verify(token, wanted.length > 0 ? wanted : undefined);
  const status: JsonObject = verdict.user
    ? {
        authenticated: true,
        user: userInfo(withAuthenticatedGroup(verdict.user)),
        audiences: [...verdict.audiences],
      }
    : { user: {}, error: verdict.error };
  return {
    kind: "TokenReview",
    apiVersion: "authentication.k8s.io/v1",
    metadata: objectAt(review.metadata),
    spec,
    status,
  };
}

/**
 * Answers a TokenRequest: a token for this service account.
 *
 * @param serviceAccount as it is stored; that it exists is the caller's to check.
 * @throws StatusError 400 when the object names another namespace, 422 when it names another
 *   account or a lifetime out of bounds, and what `Tokens.issue` throws.
 */
export async function requestToken(
  request: JsonObject,
  serviceAccount: JsonObject,
  { tokens, clock }: { readonly tokens: Tokens; readonly clock: Clock },
): Promise<JsonObject> {
  const account = objectAt(serviceAccount.metadata);
  const metadata = objectAt(request.metadata);
  const spec = objectAt(request.spec);
  if (textAt(metadata.namespace) !== "" && metadata.namespace !== account.namespace)
    throw namespaceMismatch();
  if (textAt(metadata.name) !== "" && metadata.name !== account.name) {
    const why = "must match the service account name if specified";
    throw invalidRequest(textAt(account.name), [
      invalidValue("metadata.name", JSON.stringify(metadata.name), why),
    ]);
  }
  const given = isInteger(spec.expirationSeconds) ? spec.expirationSeconds : 3600;
  const field = "spec.expirationSeconds";
  if (given < 600) {
    const why = "may not specify a duration less than 10 minutes";
    throw invalidRequest("", [invalidValue(field, String(given), why)]);
  }
  if (given > 2 ** 32) {
    const why = "may not specify a duration larger than 2^32 seconds";
    throw invalidRequest("", [invalidValue(field, String(given), why)]);
  }
  const expirationSeconds = Number(given);
  const asked = textsAt(spec.audiences);
  const audiences = asked.length > 0 ? asked : [...tokens.audiences];
  const bound = isObject(spec.boundObjectRef) ? spec.boundObjectRef : undefined;
  const { token, expiresAt } = await tokens.issue({
    serviceAccount,
    audiences,
    expirationSeconds,
    bound: bound && {
      kind: textAt(bound.kind),
      apiVersion: textAt(bound.apiVersion),
      name: textAt(bound.name),
      uid: textAt(bound.uid),
    },
  });
  return {
    kind: "TokenRequest",
    apiVersion: "authentication.k8s.io/v1",
    metadata: {
      ...metadata,
      name: textAt(account.name),
      namespace: textAt(account.namespace),
      uid: textAt(account.uid),
      creationTimestamp: timestamp(clock.now()),
    },
    spec: { audiences, expirationSeconds, boundObjectRef: bound ?? null },
    status: { token, expirationTimestamp: timestamp(expiresAt) },
  };
}

function accessStatus(user: User, spec: JsonObject, authorizer: Authorizer): JsonObject {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(spec));
  return reason === "" ? { allowed } : { allowed, reason };
}

function attributesOf(spec: JsonObject): Attributes {
  if (isObject(spec.nonResourceAttributes)) {
    return { verb: textAt(spec.nonResourceAttributes.verb), path: textAt(spec.nonResourceAttributes.path) };
  }
  const wanted = objectAt(spec.resourceAttributes);
  return {
    verb: textAt(wanted.verb),
    group: textAt(wanted.group),
    resource: textAt(wanted.resource),
    subresource: textAt(wanted.subresource),
    name: textAt(wanted.name),
    namespace: textAt(wanted.namespace),
  };
}

/** The user a review speaks of: as given, with no group added, as the real server does. */
function subjectOf(spec: JsonObject): User {
  const extra = isObject(spec.extra)
    ? Object.fromEntries(Object.entries(spec.extra).map(([key, values]) => [key, textsAt(values)]))
    : undefined;
  return {
    name: textAt(spec.user),
    groups: textsAt(spec.groups),
    ...(textAt(spec.uid) === "" ? {} : { uid: textAt(spec.uid) }),
    ...(extra ? { extra } : {}),
  };
}

function subjectCauses(spec: JsonObject): Cause[] {
  const causes = attributeCauses(spec);
  if (textAt(spec.user) === "" && textsAt(spec.groups).length === 0) {
    causes.push(invalidValue("spec.user", '""', "at least one of user or group must be specified"));
  }
  return [...causes, ...selectorCauses(objectAt(spec.resourceAttributes))];
}

function attributeCauses(spec: JsonObject): Cause[] {
  const [resource, path] = [spec.resourceAttributes, spec.nonResourceAttributes];
  if (isObject(resource) && isObject(path)) {
    const why = "cannot be specified in combination with resourceAttributes";
    return [invalidValue("spec.nonResourceAttributes", pathAttributes(path), why)];
  }
  if (!isObject(resource) && !isObject(path)) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    return [invalidValue("spec.resourceAttributes", "null", why)];
  }
  return [];
}

/**
 * Reviews are not stored, so they have no metadata but a namespace and what the server itself put
 * there.
 */
function metadataCauses(review: JsonObject): Cause[] {
  const metadata = omit(objectAt(review.metadata), "namespace");
  const counted = omit(metadata, "managedFields", "creationTimestamp");
  if (Object.keys(counted).length === 0) return [];
  return [invalidValue("metadata", stringify(metadata), "must be empty")];
}

/** The real server shows its internal struct here. */
function pathAttributes(attributes: JsonObject): string {
  return JSON.stringify({ Path: textAt(attributes.path), Verb: textAt(attributes.verb) });
}

function invalidValue(field: string, value: string, why: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${value}: ${why}`, field };
}

/** The real server leaves the kind out of these, to a message that starts with a dot. */
function refuse(causes: readonly Cause[]): void {
  if (causes.length === 0) return;
  throw new StatusError({
    code: 422,
    reason: "Invalid",
    message: `.${authorization} "" is invalid: ${list(causes)}`,
    details: { group: authorization, causes },
  });
}

function invalidRequest(name: string, causes: readonly Cause[]): StatusError {
  const group = "authentication.k8s.io";
  return new StatusError({
    code: 422,
    reason: "Invalid",
    message: `TokenRequest.${group} "${name}" is invalid: ${list(causes)}`,
    details: { ...(name === "" ? {} : { name }), group, kind: "TokenRequest", causes },
  });
}

function list(causes: readonly Cause[]): string {
  return aggregate(causes.map(({ field, message }) => `${field}: ${message}`));
}

function answer(kind: string, review: JsonObject, status: JsonObject): JsonObject {
  return {
    kind,
    apiVersion: `${authorization}/v1`,
    metadata: objectAt(review.metadata),
    spec: objectAt(review.spec),
    status,
  };
}

function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
