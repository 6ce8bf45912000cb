import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { readBootstrap } from "./bootstrap.ts";
import type { User } from "./identity.ts";
import { type Attributes, createAuthorizer, forbiddenRequest, type RoleSource } from "./rbac.ts";

const api = "rbac.authorization.k8s.io";

function role(name: string, rules: JsonObject[], namespace?: string): JsonObject {
  return { metadata: { name, ...(namespace ? { namespace } : {}) }, rules };
}

function binding(name: string, to: [string, string], subjects: JsonObject[], namespace?: string): JsonObject {
  const [kind, roleName] = to;
  return {
    metadata: { name, ...(namespace ? { namespace } : {}) },
    roleRef: { apiGroup: api, kind, name: roleName },
    subjects,
  };
}

function sourceOf(
  objects: Partial<Record<"clusterRoles" | "clusterRoleBindings" | "roles" | "roleBindings", JsonObject[]>>,
) {
  const local = (list: JsonObject[] = [], namespace: string) =>
    list.filter(({ metadata }) => (metadata as JsonObject).namespace === namespace);
  let revision = 0;
  const source: RoleSource & { touch(): void } = {
    revision: () => revision,
    touch: () => {
      revision += 1;
    },
    clusterRoles: () => objects.clusterRoles ?? [],
    clusterRoleBindings: () => objects.clusterRoleBindings ?? [],
    roles: (namespace) => local(objects.roles, namespace),
    roleBindings: (namespace) => local(objects.roleBindings, namespace),
  };
  return source;
}

const bob: User = { name: "bob", groups: ["devs", "system:authenticated"] };
const readPods: Attributes = { verb: "get", group: "", resource: "pods", name: "a", namespace: "ns" };

/** Whether bob may, when this is his only rule, cluster-wide. */
function allows(rule: JsonObject, attributes: Attributes): boolean {
  const source = sourceOf({
    clusterRoles: [role("r", [rule])],
    clusterRoleBindings: [binding("b", ["ClusterRole", "r"], [{ kind: "User", name: "bob" }])],
  });
  return createAuthorizer(source).authorize(bob, attributes).allowed;
}

describe("a rule", () => {
  const pods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };

  test.each([
    [pods, readPods, true],
    [pods, { ...readPods, verb: "list" }, false],
    [pods, { ...readPods, group: "apps" }, false],
    [pods, { ...readPods, subresource: "log" }, false],
    [{ ...pods, verbs: ["*"] }, { ...readPods, verb: "anything" }, true],
    [{ ...pods, apiGroups: ["*"] }, { ...readPods, group: "apps" }, true],
    [{ ...pods, resources: ["*"] }, { ...readPods, subresource: "log" }, true],
    [{ ...pods, resources: ["pods/log"] }, { ...readPods, subresource: "log" }, true],
    [{ ...pods, resources: ["*/log"] }, { ...readPods, subresource: "log" }, true],
    [{ ...pods, resources: ["pods/*"] }, { ...readPods, subresource: "log" }, false],
    [{ ...pods, resourceNames: ["a"] }, readPods, true],
    [{ ...pods, resourceNames: ["b"] }, readPods, false],
    [{ ...pods, resourceNames: ["a"] }, { ...readPods, name: "" }, false],
    [{ ...pods, resourceNames: ["*"] }, readPods, false],
    [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }, { verb: "get", path: "/metrics" }, true],
    [{ verbs: ["get"], nonResourceURLs: ["/metrics"] }, { verb: "get", path: "/metrics/x" }, false],
    [{ verbs: ["get"], nonResourceURLs: ["/metrics/*"] }, { verb: "get", path: "/metrics/x" }, true],
    [{ verbs: ["get"], nonResourceURLs: ["/metrics/*"] }, { verb: "get", path: "/metrics" }, false],
    [{ verbs: ["get"], nonResourceURLs: ["*"] }, { verb: "post", path: "/x" }, false],
    [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }, { verb: "get", path: "/x" }, false],
  ])("%j on %j: %j", (rule, attributes, expected) => {
    expect(allows(rule, attributes)).toBe(expected);
  });
});

describe("a binding", () => {
  const roles = [role("reader", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }], "ns")];
  const decide = (subjects: JsonObject[], user: User, attributes: Attributes = readPods) =>
    createAuthorizer(
      sourceOf({ roles, roleBindings: [binding("b", ["Role", "reader"], subjects, "ns")] }),
    ).authorize(user, attributes);

  test("a binding reaches users, groups and service accounts, and the reason names it", () => {
    const account: User = { name: "system:serviceaccount:ns:runner", groups: [] };
    const by = 'RBAC: allowed by RoleBinding "b/ns" of Role "reader" to';
    expect(decide([{ kind: "User", name: "bob" }], bob).reason).toBe(`${by} User "bob"`);
    expect(decide([{ kind: "Group", name: "devs" }], bob).reason).toBe(`${by} Group "devs"`);
    expect(decide([{ kind: "ServiceAccount", name: "runner", namespace: "ns" }], account).reason).toBe(
      `${by} ServiceAccount "runner/ns"`,
    );
  });

  test("names the first of its subjects that reaches the user", () => {
    const subjects = [
      { kind: "Group", name: "devs" },
      { kind: "User", name: "bob" },
    ];
    expect(decide(subjects, bob).reason).toMatch(/to Group "devs"$/);
    expect(decide(subjects.toReversed(), bob).reason).toMatch(/to User "bob"$/);
  });

  test("holds in its namespace only", () => {
    const subjects = [{ kind: "User", name: "bob" }];
    expect(decide(subjects, bob, { ...readPods, namespace: "other" }).allowed).toBe(false);
    expect(decide(subjects, bob, { ...readPods, namespace: undefined }).allowed).toBe(false);
  });

  test("a binding to a missing role allows nothing and reports it", () => {
    const authorizer = createAuthorizer(
      sourceOf({
        roleBindings: [
          binding("b", ["Role", "nope"], [{ kind: "User", name: "bob" }], "ns"),
          binding("c", ["ClusterRole", "nil"], [{ kind: "Group", name: "devs" }], "ns"),
        ],
      }),
    );
    expect(authorizer.authorize(bob, readPods)).toEqual({
      allowed: false,
      reason: `RBAC: [role.${api} "nope" not found, clusterrole.${api} "nil" not found]`,
    });
  });
});

test("members of system:masters may do everything without any role", () => {
  const root: User = { name: "root", groups: ["system:masters"] };
  expect(createAuthorizer(sourceOf({})).authorize(root, { verb: "x", path: "/y" })).toEqual({
    allowed: true,
    reason: "",
  });
});

test("a change of roles shows in the next decision", () => {
  const clusterRoleBindings: JsonObject[] = [];
  const source = sourceOf({
    clusterRoles: [role("r", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }])],
    clusterRoleBindings,
  });
  const authorizer = createAuthorizer(source);
  expect(authorizer.authorize(bob, readPods).allowed).toBe(false);
  clusterRoleBindings.push(binding("b", ["ClusterRole", "r"], [{ kind: "User", name: "bob" }]));
  source.touch();
  expect(authorizer.authorize(bob, readPods).allowed).toBe(true);
});

test("keys such as __proto__ grant nothing", () => {
  const odd = JSON.parse(
    '{"metadata":{"name":"__proto__"},"rules":[{"verbs":["*"],"__proto__":{"resources":["*"]}}]}',
  ) as JsonObject;
  const source = sourceOf({
    clusterRoles: [odd],
    clusterRoleBindings: [binding("b", ["ClusterRole", "__proto__"], [{ kind: "User", name: "bob" }])],
  });
  expect(createAuthorizer(source).authorize(bob, readPods).allowed).toBe(false);
  expect(createAuthorizer(source).authorize(bob, { verb: "get", path: "/" }).allowed).toBe(false);
});

describe("a refusal", () => {
  test.each([
    [
      { verb: "list", group: "", resource: "pods", namespace: "ns" },
      'pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "ns"',
      { kind: "pods" },
    ],
    [
      { verb: "get", group: "apps", resource: "deployments", subresource: "status", name: "x" },
      'deployments.apps "x" is forbidden: User "bob" cannot get resource "deployments/status" in API group "apps" at the cluster scope',
      { name: "x", group: "apps", kind: "deployments" },
    ],
    [{ verb: "get", path: "/metrics" }, 'forbidden: User "bob" cannot get path "/metrics"', {}],
  ])("of %j reads as the real server's", (attributes, message, details) => {
    const status = forbiddenRequest(bob, attributes).toStatus();
    expect(status).toMatchObject({ code: 403, reason: "Forbidden", message });
    expect(status.details).toEqual(details);
  });

  test("ends with the reason when there is one", () => {
    expect(forbiddenRequest(bob, readPods, "RBAC: gone").message).toMatch(
      /in the namespace "ns": RBAC: gone$/,
    );
  });
});

describe("a new cluster's roles", () => {
  const bootstrap = readBootstrap();
  const authorizer = createAuthorizer(
    sourceOf({
      ...bootstrap,
      clusterRoles: [...bootstrap.clusterRoles],
      clusterRoleBindings: [...bootstrap.clusterRoleBindings],
      roles: [...bootstrap.roles],
      roleBindings: [...bootstrap.roleBindings],
    }),
  );

  test("let anyone see the version and signed-in users discover the API", () => {
    const nobody: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
    const may = (user: User, path: string) => authorizer.authorize(user, { verb: "get", path }).allowed;
    expect([may(nobody, "/version"), may(nobody, "/apis"), may(bob, "/apis")]).toEqual([true, false, true]);
  });

  test("give bob the rules every signed-in user has", () => {
    expect(authorizer.rulesFor(bob, "default").rules.flatMap(({ resources = [] }) => resources)).toEqual([
      "selfsubjectaccessreviews",
      "selfsubjectrulesreviews",
      "selfsubjectreviews",
    ]);
  });
});
