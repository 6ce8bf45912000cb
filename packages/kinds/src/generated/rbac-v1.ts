// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
}

export interface AggregationRuleInput {
  readonly clusterRoleSelectors?: readonly LabelSelectorInput[] | undefined;
}

export interface ClusterRole {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRole";
  readonly metadata: ClusterObjectMeta;
  readonly aggregationRule?: AggregationRule;
  readonly rules?: readonly PolicyRule[] | null;
}

export interface ClusterRoleInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1" | undefined;
  readonly kind?: "ClusterRole" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly aggregationRule?: AggregationRuleInput | undefined;
  readonly rules?: readonly PolicyRuleInput[] | null | undefined;
}

export interface ClusterRoleBinding {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "ClusterRoleBinding";
  readonly metadata: ClusterObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface ClusterRoleBindingInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1" | undefined;
  readonly kind?: "ClusterRoleBinding" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly SubjectInput[] | undefined;
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface PolicyRuleInput {
  readonly apiGroups?: readonly string[] | undefined;
  readonly nonResourceURLs?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

export interface Role {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "Role";
  readonly metadata: NamespacedObjectMeta;
  readonly rules?: readonly PolicyRule[] | null;
}

export interface RoleInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1" | undefined;
  readonly kind?: "Role" | undefined;
  readonly metadata: NamedMetaInput;
  readonly rules?: readonly PolicyRuleInput[] | null | undefined;
}

export interface RoleBinding {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1";
  readonly kind?: "RoleBinding";
  readonly metadata: NamespacedObjectMeta;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

export interface RoleBindingInput {
  readonly apiVersion?: "rbac.authorization.k8s.io/v1" | undefined;
  readonly kind?: "RoleBinding" | undefined;
  readonly metadata: NamedMetaInput;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly SubjectInput[] | undefined;
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

export interface SubjectInput {
  readonly apiGroup?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export const ClusterRole: ResourceKind<ClusterRole, ClusterRoleInput, "Cluster"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole", plural: "clusterroles", scope: "Cluster" };
export const ClusterRoleBinding: ResourceKind<ClusterRoleBinding, ClusterRoleBindingInput, "Cluster"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRoleBinding", plural: "clusterrolebindings", scope: "Cluster" };
export const Role: ResourceKind<Role, RoleInput, "Namespaced"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "Role", plural: "roles", scope: "Namespaced" };
export const RoleBinding: ResourceKind<RoleBinding, RoleBindingInput, "Namespaced"> = { group: "rbac.authorization.k8s.io", version: "v1", kind: "RoleBinding", plural: "rolebindings", scope: "Namespaced" };
