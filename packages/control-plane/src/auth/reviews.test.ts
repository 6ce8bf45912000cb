import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { type Authorizer, createAuthorizer } from "./rbac.ts";
import { reviewLocalAccess, reviewOwnAccess, reviewOwnRules, reviewSubjectAccess } from "./reviews.ts";

const rules = [
  { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
  { verbs: ["get"], nonResourceURLs: ["/metrics"] },
];
const authorizer: Authorizer = createAuthorizer({
  revision: () => 1,
  clusterRoles: () => [{ metadata: { name: "r" }, rules }],
  clusterRoleBindings: () => [
    {
      metadata: { name: "b" },
      roleRef: { kind: "ClusterRole", name: "r" },
      subjects: [{ kind: "User", name: "bob" }],
    },
    {
      metadata: { name: "c" },
      roleRef: { kind: "ClusterRole", name: "no" },
      subjects: [{ kind: "User", name: "bob" }],
    },
  ],
  roles: () => [],
  roleBindings: () => [],
});
const bob = { name: "bob", groups: [] };
const pods = { verb: "get", resource: "pods", name: "a", namespace: "ns" };

describe("an access review", () => {
  test("keeps what was asked and adds the answer", () => {
    const spec = { user: "bob", resourceAttributes: pods };
    expect(reviewSubjectAccess({ spec }, authorizer)).toEqual({
      kind: "SubjectAccessReview",
      apiVersion: "authorization.k8s.io/v1",
      metadata: {},
      spec,
      status: {
        allowed: true,
        reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "bob"',
      },
    });
  });

  test("of oneself is about the sender", () => {
    const asked = { spec: { nonResourceAttributes: { verb: "get", path: "/metrics" } } };
    expect(reviewOwnAccess(asked, bob, authorizer).status).toMatchObject({ allowed: true });
    expect(reviewOwnAccess(asked, { ...bob, name: "eve" }, authorizer).status).toEqual({ allowed: false });
  });

  const invalid = (message: string) =>
    expect.objectContaining({ code: 422, message: `.authorization.k8s.io "" is invalid: ${message}` });

  test.each([
    [
      {},
      "[spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, " +
        'spec.user: Invalid value: "": at least one of user or group must be specified]',
    ],
    [
      { user: "x", resourceAttributes: pods, nonResourceAttributes: { path: "/x", verb: "get" } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      { user: "x", resourceAttributes: { ...pods, labelSelector: {} } },
      "spec.resourceAttributes.labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required",
    ],
  ])("of %j is invalid", (spec, message) => {
    expect(() => reviewSubjectAccess({ spec: spec as JsonObject }, authorizer)).toThrow(invalid(message));
  });

  test("has no metadata", () => {
    const review = { metadata: { name: "a" }, spec: { user: "x", resourceAttributes: pods } };
    expect(() => reviewSubjectAccess(review, authorizer)).toThrow(
      invalid('metadata: Invalid value: {"name":"a"}: must be empty'),
    );
  });

  test("that is local stays in its namespace", () => {
    const review = (namespace: string) => ({
      spec: { user: "bob", resourceAttributes: { ...pods, namespace } },
    });
    expect(reviewLocalAccess(review("ns"), "ns", authorizer)).toMatchObject({
      kind: "LocalSubjectAccessReview",
      metadata: { namespace: "ns" },
      status: { allowed: true },
    });
    expect(() => reviewLocalAccess(review("other"), "ns", authorizer)).toThrow(
      invalid('spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'),
    );
    expect(() =>
      reviewLocalAccess({ ...review("ns"), metadata: { namespace: "z" } }, "ns", authorizer),
    ).toThrow(expect.objectContaining({ code: 400 }));
  });
});

describe("a rules review", () => {
  test("lists rules for resources and for paths apart, and what could not be resolved", () => {
    expect(reviewOwnRules({ spec: { namespace: "ns" } }, bob, authorizer)).toMatchObject({
      spec: {},
      status: {
        resourceRules: [rules[0]],
        nonResourceRules: [rules[1]],
        incomplete: false,
        evaluationError: 'clusterrole.rbac.authorization.k8s.io "no" not found',
      },
    });
  });

  test("needs a namespace", () => {
    expect(() => reviewOwnRules({ spec: {} }, bob, authorizer)).toThrow("no namespace on request");
  });
});
