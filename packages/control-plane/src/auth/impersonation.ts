import { badRequest, type StatusError } from "../status.ts";
import {
  anonymous,
  serviceAccountOf,
  serviceAccountUser,
  type User,
  unauthenticatedGroup,
  withAuthenticatedGroup,
} from "./identity.ts";
import { type Authorizer, forbiddenRequest, type ResourceRequest } from "./rbac.ts";

/**
 * Headers by lower-case name with every value apart, as `IncomingMessage.headersDistinct` gives
 * them.
 */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * The effective user of a request: the one its Impersonate-* headers name, if the sender may
 * impersonate each part of it, or the sender without such headers.
 *
 * @throws StatusError 400 when parts are named but no user, 403 when the sender may not.
 */
export function impersonate(sender: User, headers: DistinctHeaders, authorizer: Authorizer): User {
  const name = headers["impersonate-user"]?.[0] ?? "";
  const groups = headers["impersonate-group"] ?? [];
  const uid = headers["impersonate-uid"]?.[0] ?? "";
  const extra = extraOf(headers);
  if (name === "") {
    if (groups.length > 0 || uid !== "" || extra.size > 0) throw noUser(groups, uid, extra);
    return sender;
  }
  const account = serviceAccountOf(name);
  const wanted: ResourceRequest[] = [
    account
      ? impersonation("", "serviceaccounts", account.name, { namespace: account.namespace })
      : impersonation("", "users", name),
    ...groups.map((group) => impersonation("", "groups", group)),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) =>
        impersonation("authentication.k8s.io", "userextras", value, { subresource: key }),
      ),
    ),
    ...(uid === "" ? [] : [impersonation("authentication.k8s.io", "uids", uid)]),
  ];
  for (const request of wanted) {
    const decision = authorizer.authorize(sender, request);
    if (!decision.allowed) throw forbiddenRequest(sender, request, decision.reason);
  }
  const named =
    account && groups.length === 0 ? serviceAccountUser(account.namespace, account.name).groups : groups;
  const user: User = {
    name,
    groups:
      name === anonymous.name && !named.includes(unauthenticatedGroup)
        ? [...named, unauthenticatedGroup]
        : named,
    ...(uid === "" ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
  return withAuthenticatedGroup(user);
}

function impersonation(
  group: string,
  resource: string,
  name: string,
  more: { namespace?: string; subresource?: string } = {},
): ResourceRequest {
  return { verb: "impersonate", group, resource, name, ...more };
}

function extraOf(headers: DistinctHeaders): Map<string, readonly string[]> {
  const prefix = "impersonate-extra-";
  const extra = new Map<string, readonly string[]>();
  for (const [header, values] of Object.entries(headers)) {
    if (header.startsWith(prefix) && values) extra.set(decoded(header.slice(prefix.length)), values);
  }
  return extra;
}

/**
 * Keys may be percent-encoded, as header names cannot hold a slash; one that is not well encoded is
 * taken literally.
 */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    return key;
  }
}

/** The real server prints the references it made of the headers; this is how Go prints them. */
function noUser(
  groups: readonly string[],
  uid: string,
  extra: ReadonlyMap<string, readonly string[]>,
): StatusError {
  const api = "authentication.k8s.io/v1";
  const references = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...[...extra].flatMap(([key, values]) => values.map((value) => `{UserExtra  ${value}  ${api}  ${key}}`)),
    ...(uid === "" ? [] : [`{UID  ${uid}  ${api}  }`]),
  ];
  return badRequest(`requested [${references.join(" ")}] without impersonating a user`);
}
