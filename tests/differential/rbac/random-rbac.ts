import type { Random } from "@windlass/clock";
import type { Attributes, User } from "../../../packages/control-plane/src/auth/index.ts";
import type { JsonObject } from "../../../packages/control-plane/src/json.ts";

const api = "rbac.authorization.k8s.io";

/** Roles and bindings that overlap a lot, so that most questions have an interesting answer. */
export interface RandomRbac {
  readonly clusterRoles: JsonObject[];
  readonly clusterRoleBindings: JsonObject[];
  readonly roles: JsonObject[];
  readonly roleBindings: JsonObject[];
}

const verbs = ["get", "list", "create", "delete", "patch", "*"];
const groups = ["", "apps", "example.com", "*"];
const resources = [
  "pods",
  "pods/log",
  "*/log",
  "*/status",
  "deployments",
  "deployments/status",
  "widgets",
  "*",
];
const names = ["a", "b", "c"];
const urls = ["/metrics", "/metrics/*", "/api*", "/probe", "*"];

/** Makes a set under the given prefix and namespace. */
export function randomRbac(random: Random, prefix: string, namespace: string): RandomRbac {
  const pick = picker(random);
  const rule = (scope: "cluster" | "namespace"): JsonObject => {
    if (scope === "cluster" && random.next() < 0.3) {
      return { verbs: some(random, verbs), nonResourceURLs: some(random, urls) };
    }
    return {
      verbs: some(random, verbs),
      apiGroups: some(random, groups),
      resources: some(random, resources),
      ...(random.next() < 0.3 ? { resourceNames: some(random, names) } : {}),
    };
  };
  const role = (kind: "ClusterRole" | "Role", index: number): JsonObject => ({
    apiVersion: `${api}/v1`,
    kind,
    metadata: { name: `${prefix}-${index}`, ...(kind === "Role" ? { namespace } : {}) },
    rules: Array.from({ length: 1 + Math.floor(random.next() * 2) }, () =>
      rule(kind === "Role" ? "namespace" : "cluster"),
    ),
  });
  const binding = (kind: "ClusterRoleBinding" | "RoleBinding", index: number): JsonObject => ({
    apiVersion: `${api}/v1`,
    kind,
    metadata: { name: `${prefix}-${index}`, ...(kind === "RoleBinding" ? { namespace } : {}) },
    roleRef: {
      apiGroup: api,
      kind: kind === "RoleBinding" && random.next() < 0.6 ? "Role" : "ClusterRole",
      // More than there are: some bindings refer to nothing.
      name: `${prefix}-${Math.floor(random.next() * 8)}`,
    },
    subjects: Array.from({ length: 1 + Math.floor(random.next() * 2) }, () =>
      pick([
        { kind: "User", apiGroup: api, name: `${prefix}-user-${Math.floor(random.next() * 4)}` },
        { kind: "Group", apiGroup: api, name: `${prefix}-group-${Math.floor(random.next() * 3)}` },
        { kind: "ServiceAccount", namespace, name: `sa-${Math.floor(random.next() * 2)}` },
      ]),
    ),
  });
  return {
    clusterRoles: range(6).map((index) => role("ClusterRole", index)),
    clusterRoleBindings: range(4).map((index) => binding("ClusterRoleBinding", index)),
    roles: range(6).map((index) => role("Role", index)),
    roleBindings: range(8).map((index) => binding("RoleBinding", index)),
  };
}

/** A question about a user who may or may not be bound. */
export function randomQuestion(
  random: Random,
  prefix: string,
  namespace: string,
): { user: User; attributes: Attributes } {
  const pick = picker(random);
  const account = random.next() < 0.3;
  const user: User = {
    name: account
      ? `system:serviceaccount:${namespace}:sa-${Math.floor(random.next() * 3)}`
      : `${prefix}-user-${Math.floor(random.next() * 5)}`,
    groups: range(3)
      .filter(() => random.next() < 0.3)
      .map((index) => `${prefix}-group-${index}`),
  };
  if (random.next() < 0.2) {
    const path = pick(["/metrics", "/metrics/x", "/api", "/apis/apps", "/probe", "/probe/x", "/"]);
    return { user, attributes: { verb: pick(["get", "post", "list"]), path } };
  }
  return {
    user,
    attributes: {
      verb: pick(["get", "list", "create", "delete", "patch", "watch"]),
      group: pick(["", "apps", "example.com", "other"]),
      resource: pick(["pods", "deployments", "widgets", "nodes"]),
      subresource: pick(["", "", "log", "status"]),
      name: pick(["", "a", "b", "z"]),
      namespace: pick([namespace, namespace, "", "default"]),
    },
  };
}

function picker(random: Random) {
  return <T>(from: readonly T[]): T => {
    const item = from[Math.floor(random.next() * from.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
}

function some(random: Random, from: readonly string[]): string[] {
  const picked = from.filter(() => random.next() < 0.3);
  return picked.length > 0 ? picked : [picker(random)(from)];
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
