import { ConfigMap, Deployment, Namespace, Service } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { namespaceSet } from "../cache/namespaces.ts";
import { WebApp, webapp } from "../reconcile/model-run.fixture.ts";
import { controller } from "./controller.ts";
import { rbacFor } from "./rbac.ts";
import { watch } from "./watch.ts";

test("a role has exactly the rights that the declaration needs", () => {
  expect(rbacFor([webapp], { name: "webapp-operator" })).toEqual([
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "webapp-operator" },
      rules: [
        {
          apiGroups: [""],
          resources: ["services"],
          verbs: ["get", "list", "watch", "create", "patch", "delete"],
        },
        {
          apiGroups: ["apps"],
          resources: ["deployments"],
          verbs: ["get", "list", "watch", "create", "patch", "delete"],
        },
        { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
        { apiGroups: ["example.com"], resources: ["webapps"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["example.com"], resources: ["webapps/finalizers"], verbs: ["update"] },
        { apiGroups: ["example.com"], resources: ["webapps/status"], verbs: ["patch"] },
      ],
    },
  ]);
});

test("finalizers, watches, reads and permissions each add their own", () => {
  const what = controller(WebApp, {
    reconcile: () => undefined,
    finalize: () => undefined,
    watches: [watch(ConfigMap, () => undefined)],
    reads: [Service],
    permissions: [{ kind: Deployment, verbs: ["patch"], subresources: ["scale"] }],
  });
  const [role] = rbacFor([what], { name: "x" });
  expect(role).toMatchObject({
    rules: [
      { apiGroups: [""], resources: ["configmaps", "services"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["patch"] },
      { apiGroups: ["events.k8s.io"] },
      { apiGroups: ["example.com"], resources: ["webapps"], verbs: ["get", "list", "watch", "patch"] },
      { apiGroups: ["example.com"], resources: ["webapps/status"], verbs: ["patch"] },
    ],
  });
});

test("in namespaces there is a Role in each, and a ClusterRole only for kinds that have no namespace", () => {
  const what = controller(WebApp, { reconcile: () => undefined, reads: [Namespace] });
  const roles = rbacFor([what], {
    name: "x",
    namespaces: ["a", "b"],
    leaderElection: { name: "x", namespace: "system" },
    serviceAccount: { name: "x", namespace: "system" },
  });
  expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`)).toEqual([
    "ClusterRole /x",
    "ClusterRoleBinding /x",
    "Role a/x",
    "RoleBinding a/x",
    "Role b/x",
    "RoleBinding b/x",
    "Role system/x-leader-election",
    "RoleBinding system/x-leader-election",
  ]);
  expect(roles[0]).toMatchObject({ rules: [{ apiGroups: [""], resources: ["namespaces"] }] });
  expect(roles[6]).toMatchObject({
    rules: [{ verbs: ["create"] }, { verbs: ["get", "update"], resourceNames: ["x"] }],
  });
});

test("kinds that are followed may be watched", () => {
  const what = controller(WebApp, { reconcile: () => undefined, follows: [ConfigMap] });
  const [role] = rbacFor([what], { name: "x" });
  expect(role).toMatchObject({
    rules: [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["events.k8s.io"] },
      { apiGroups: ["example.com"], resources: ["webapps"] },
      { apiGroups: ["example.com"], resources: ["webapps/status"] },
    ],
  });
});

test.each([
  ["by label may be any, and are watched themselves", { labelSelector: "team=web" }, ["namespaces"]],
  ["that the program chooses may be any", namespaceSet(["a"]), []],
] as const)("namespaces %s", (_, namespaces, watched) => {
  const what = controller(WebApp, { reconcile: () => undefined });
  const roles = rbacFor([what], { name: "x", namespaces });
  expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`)).toEqual([
    "ClusterRole /x",
  ]);
  const rules = roles.flatMap((role) => ("rules" in role ? role.rules : []));
  expect(rules.find(({ resources }) => resources.includes("webapps"))?.verbs).toEqual([
    "get",
    "list",
    "watch",
  ]);
  expect(rules.filter(({ apiGroups }) => apiGroups[0] === "").flatMap(({ resources }) => resources)).toEqual(
    watched,
  );
});
