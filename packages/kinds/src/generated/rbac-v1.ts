// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { LabelSelector } from "./meta-v1.ts";

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

export interface ClusterRole {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRole";
  readonly metadata: ClusterObjectMeta;
  readonly aggregationRule?: AggregationRule;
  readonly rules?: readonly PolicyRule[];
}

export interface ClusterRoleInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRole";
  readonly metadata: ClusterMetaInput;
  readonly aggregationRule?: AggregationRule;
  readonly rules?: readonly PolicyRule[];
}

export interface ClusterRoleBinding {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRoleBinding";
  readonly metadata: ClusterObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface ClusterRoleBindingInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRoleBinding";
  readonly metadata: ClusterMetaInput;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Role {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "Role";
  readonly metadata: NamespacedObjectMeta;
  readonly rules?: readonly PolicyRule[];
}

export interface RoleInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "Role";
  readonly metadata: NamedMetaInput;
  readonly rules?: readonly PolicyRule[];
}

export interface RoleBinding {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "RoleBinding";
  readonly metadata: NamespacedObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface RoleBindingInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "RoleBinding";
  readonly metadata: NamedMetaInput;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export const ClusterRole: ResourceKind<ClusterRole, ClusterRoleInput, "Cluster"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles", scope: "Cluster" };
export const ClusterRoleBinding: ResourceKind<ClusterRoleBinding, ClusterRoleBindingInput, "Cluster"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings", scope: "Cluster" };
export const Role: ResourceKind<Role, RoleInput, "Namespaced"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles", scope: "Namespaced" };
export const RoleBinding: ResourceKind<RoleBinding, RoleBindingInput, "Namespaced"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings", scope: "Namespaced" };
