import type { JsonObject } from "../json.ts";
import type { Store } from "../storage/store.ts";
import type { RoleSource } from "./rbac.ts";

/** RBAC's objects as they are stored now. */
export function rolesIn(store: Store): RoleSource {
  const group = "rbac.authorization.k8s.io";
  let revision = 0;
  for (const plural of ["clusterroles", "clusterrolebindings", "roles", "rolebindings"]) {
    store.subscribe(`${plural}.${group}`, (record) => {
      revision = record.revision;
    });
  }
  const all = (plural: string, prefix = ""): JsonObject[] =>
    store.list(`${plural}.${group}`, { prefix }).entries.map(({ object }) => object);
  return {
    revision: () => revision,
    clusterRoles: () => all("clusterroles"),
    clusterRoleBindings: () => all("clusterrolebindings"),
    roles: (namespace) => all("roles", `${namespace}/`),
    roleBindings: (namespace) => all("rolebindings", `${namespace}/`),
  };
}
