import { cellsOf, type KindDeclaration } from "../declaration.ts";
import { bindingCells } from "./columns.ts";
import { startClusterRoleAggregation } from "./controller.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./strategy.ts";

export const roleKind = {
  group: "rbac.authorization.k8s.io",
  kind: "Role",
  strategy: role,
} satisfies KindDeclaration;

export const clusterRoleKind = {
  group: "rbac.authorization.k8s.io",
  kind: "ClusterRole",
  strategy: clusterRole,
  controllers: {
    "clusterrole-aggregation-controller": startClusterRoleAggregation,
  },
} satisfies KindDeclaration;

export const roleBindingKind = {
  group: "rbac.authorization.k8s.io",
  kind: "RoleBinding",
  strategy: roleBinding,
  cells: cellsOf(bindingCells),
} satisfies KindDeclaration;

export const clusterRoleBindingKind = {
  group: "rbac.authorization.k8s.io",
  kind: "ClusterRoleBinding",
  strategy: clusterRoleBinding,
  cells: cellsOf(bindingCells),
} satisfies KindDeclaration;
