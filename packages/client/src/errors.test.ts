import { expect, test } from "vitest";
import * as errors from "./errors.ts";
import {
  ApiError,
  deniedAccess,
  ignoreNotFound,
  isConflict,
  isGone,
  isNotFound,
  isServerTimeout,
  isTimeout,
  statusOf,
} from "./errors.ts";

test.each([
  [404, "NotFound", "API_NOT_FOUND", errors.isNotFound],
  [409, "AlreadyExists", "API_ALREADY_EXISTS", errors.isAlreadyExists],
  [409, "Conflict", "API_CONFLICT", errors.isConflict],
  [410, "Gone", "API_GONE", errors.isGone],
  [410, "Expired", "API_GONE", errors.isGone],
  [403, "Forbidden", "API_FORBIDDEN", errors.isForbidden],
  [401, "Unauthorized", "API_UNAUTHORIZED", errors.isUnauthorized],
  [422, "Invalid", "API_INVALID", errors.isInvalid],
  [400, "BadRequest", "API_BAD_REQUEST", errors.isBadRequest],
  [429, "TooManyRequests", "API_TOO_MANY_REQUESTS", errors.isTooManyRequests],
  [500, "InternalError", "API_INTERNAL", errors.isInternalError],
  [503, "ServiceUnavailable", "API_UNAVAILABLE", errors.isServiceUnavailable],
  [415, "UnsupportedMediaType", "API_UNSUPPORTED_MEDIA_TYPE", errors.isUnsupportedMediaType],
  [504, "Timeout", "API_TIMEOUT", errors.isTimeout],
] as const)(
  "%i %s is recognized by its reason, by its number alone, and as a Status",
  (code, reason, expected, guard) => {
    const status = { kind: "Status", code, reason };
    expect(new ApiError(status).code).toBe(expected);
    expect(guard(new ApiError(status))).toBe(true);
    expect(guard(status)).toBe(true);
    if (reason !== "AlreadyExists") expect(guard(new ApiError({ code }))).toBe(true);
  },
);

test("what is not found can be ignored, and nothing else", async () => {
  const refused = new ApiError({ code: 403 });
  expect(await ignoreNotFound(Promise.resolve(1))).toBe(1);
  expect(await ignoreNotFound(Promise.reject(new ApiError({ code: 404 })))).toBeUndefined();
  await expect(ignoreNotFound(Promise.reject(refused))).rejects.toBe(refused);
});

test("the reason counts for more than the number", () => {
  const error = new ApiError({ code: 500, reason: "Expired" });
  expect(isGone(error)).toBe(true);
  expect(isConflict(new ApiError({ code: 409, reason: "AlreadyExists" }))).toBe(false);
});

test("a server's own timeout is not a gateway's", () => {
  const error = new ApiError({ code: 500, reason: "ServerTimeout" });
  expect(isServerTimeout(error)).toBe(true);
  expect(isTimeout(error)).toBe(false);
});

test("other values are no Status", () => {
  for (const value of [undefined, null, "x", 404, {}, { kind: "Pod", code: 404 }, new Error("404"), []]) {
    expect(statusOf(value)).toBeUndefined();
    expect(isNotFound(value)).toBe(false);
  }
});

test("causes that are not as they should be do no harm", () => {
  const odd = JSON.parse(
    '{"kind":"Status","details":{"causes":[null,{"reason":"ResourceVersionTooLarge"}]}}',
  );
  expect(errors.isResourceVersionTooLarge(odd)).toBe(true);
  expect(errors.isNamespaceTerminating({ kind: "Status", details: { causes: "x" } })).toBe(false);
});

test("every code says what it means in words", () => {
  for (const text of Object.values(errors.errorCodes)) expect(text).toMatch(/^\S.{10,}[.?]$/);
});

const denial = (message: string) => new ApiError({ kind: "Status", code: 403, reason: "Forbidden", message });

test("a missing right names the rule to grant, and to whom", () => {
  const inNamespace = denial(
    'deployments.apps "web" is forbidden: User "system:serviceaccount:shop:operator" cannot patch resource "deployments/status" in API group "apps" in the namespace "prod"',
  );
  expect(deniedAccess(inNamespace)).toEqual({
    user: "system:serviceaccount:shop:operator",
    verb: "patch",
    resource: "deployments/status",
    group: "apps",
    namespace: "prod",
  });
  expect(inNamespace.message).toMatch(
    /the namespace "prod"; grant it: a Role in namespace prod with the rule {apiGroups: \["apps"\], resources: \["deployments\/status"\], verbs: \["patch"\]}, bound to ServiceAccount shop\/operator by a RoleBinding$/,
  );
  const inCluster = denial(
    'secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope: RBAC: clusterrole.rbac.authorization.k8s.io "x" not found',
  );
  expect(deniedAccess(inCluster)).toEqual({ user: "jane", verb: "list", resource: "secrets", group: "" });
  expect(inCluster.message).toContain(
    'grant it: a ClusterRole with the rule {apiGroups: [""], resources: ["secrets"], verbs: ["list"]}, bound to User jane by a ClusterRoleBinding',
  );
});

test("a 403 that no role would cure is left in the server's words", () => {
  for (const message of [
    'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    'pods "x" is forbidden: violates PodSecurity "restricted:latest"',
    'forbidden: User "jane" cannot get path "/metrics"',
  ]) {
    expect(deniedAccess(denial(message))).toBeUndefined();
    expect(denial(message).message).toBe(message);
  }
  expect(deniedAccess(new Error("no"))).toBeUndefined();
});
