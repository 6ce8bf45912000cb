import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { checkEscalation, type RbacWrite } from "./escalation.ts";
import type { User } from "./identity.ts";
import { createAuthorizer } from "./rbac.ts";

const api = "rbac.authorization.k8s.io";
const readPods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const deletePods = { verbs: ["delete"], apiGroups: [""], resources: ["pods"] };
const big = { metadata: { name: "big" }, rules: [deletePods] };

/** The outcome of a write by bob, who has these rules cluster-wide. */
function write(rules: JsonObject[], wish: RbacWrite, groups: readonly string[] = ["devs"]): string {
  const bob: User = { name: "bob", groups };
  const authorizer = createAuthorizer({
    revision: () => 1,
    clusterRoles: () => [{ metadata: { name: "held" }, rules }, big],
    clusterRoleBindings: () => [
      {
        metadata: { name: "b" },
        roleRef: { kind: "ClusterRole", name: "held" },
        subjects: [{ kind: "User", name: "bob" }],
      },
    ],
    roles: () => [],
    roleBindings: () => [],
  });
  try {
    checkEscalation(bob, wish, authorizer);
    return "allowed";
  } catch (error) {
    return (error as Error).message;
  }
}

const roleWith = (...rules: JsonObject[]): RbacWrite => ({
  resource: "roles",
  object: { metadata: { name: "new", namespace: "ns" }, rules },
});
const bindingTo = (name: string): RbacWrite => ({
  resource: "rolebindings",
  object: { metadata: { name: "new", namespace: "ns" }, roleRef: { kind: "ClusterRole", name } },
});

describe("a role", () => {
  test("may hold what its writer holds", () => {
    expect(write([readPods], roleWith(readPods))).toBe("allowed");
  });

  test("may hold no more, and the missing rules are listed", () => {
    expect(write([readPods], roleWith(readPods, deletePods))).toBe(
      `roles.${api} "new" is forbidden: user "bob" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`,
    );
  });

  test("may hold anything when its writer may escalate it, or is a superuser", () => {
    const escalate = { verbs: ["escalate"], apiGroups: [api], resources: ["roles"] };
    expect(write([escalate], roleWith(deletePods))).toBe("allowed");
    expect(write([], roleWith(deletePods), ["system:masters"])).toBe("allowed");
  });

  test("may hold anything by a right to its name only where the request's address has that name", () => {
    const escalate = { verbs: ["escalate"], apiGroups: [api], resources: ["roles"], resourceNames: ["new"] };
    expect(write([escalate], { ...roleWith(deletePods), addressed: "new" })).toBe("allowed");
    expect(write([escalate], { ...roleWith(deletePods), addressed: "other" })).toContain(
      "is attempting to grant",
    );
    expect(write([escalate], roleWith(deletePods))).toContain("is attempting to grant");
  });

  test("may lose a finalizer by the hand of one who holds none of it", () => {
    const old = { metadata: { name: "new", namespace: "ns", finalizers: ["x/y"] }, rules: [deletePods] };
    expect(write([], { ...roleWith(deletePods), old })).toBe("allowed");
  });

  test("may aggregate only by who holds everything", () => {
    const wish: RbacWrite = {
      resource: "clusterroles",
      object: { metadata: { name: "new" }, aggregationRule: { clusterRoleSelectors: [] }, rules: [] },
    };
    const all = [
      { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
      { verbs: ["*"], nonResourceURLs: ["*"] },
    ];
    expect(write(all, wish)).toBe("allowed");
    expect(write(all.slice(1), wish)).toBe(
      `clusterroles.${api} "new" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    );
  });
});

describe("a binding", () => {
  test("may refer to a role its writer holds all of, or may bind", () => {
    expect(write([deletePods], bindingTo("big"))).toBe("allowed");
    const bind = { verbs: ["bind"], apiGroups: [api], resources: ["clusterroles"], resourceNames: ["big"] };
    expect(write([bind], bindingTo("big"))).toBe("allowed");
  });

  test("may not refer to a greater one", () => {
    expect(write([readPods], bindingTo("big"))).toMatch(
      /^rolebindings\.rbac.* "new" is forbidden: user "bob"/,
    );
  });

  test("to a role that does not exist is not found under the role's name", () => {
    expect(write([readPods], bindingTo("nope"))).toBe(`rolebindings.${api} "nope" not found`);
  });
});
