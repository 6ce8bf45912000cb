// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterObjectMeta, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { FieldSelectorRequirement, LabelSelectorRequirement } from "./meta-v1.ts";

export interface FieldSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly FieldSelectorRequirement[];
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
}

export interface LocalSubjectAccessReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "LocalSubjectAccessReview";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface LocalSubjectAccessReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "LocalSubjectAccessReview";
  readonly metadata?: ObjectMetaInput;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ResourceAttributes {
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly group?: string;
  readonly labelSelector?: LabelSelectorAttributes;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly verb?: string;
  readonly version?: string;
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface SelfSubjectAccessReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SelfSubjectAccessReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface SelfSubjectAccessReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SelfSubjectAccessReview";
  readonly metadata?: ObjectMetaInput;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
}

export interface SelfSubjectRulesReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SelfSubjectRulesReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus;
}

export interface SelfSubjectRulesReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SelfSubjectRulesReview";
  readonly metadata?: ObjectMetaInput;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus;
}

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string;
}

export interface SubjectAccessReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SubjectAccessReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface SubjectAccessReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SubjectAccessReview";
  readonly metadata?: ObjectMetaInput;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface SubjectAccessReviewSpec {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
  readonly uid?: string;
  readonly user?: string;
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly evaluationError?: string;
  readonly reason?: string;
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
}

export const LocalSubjectAccessReview: ResourceKind<LocalSubjectAccessReview, LocalSubjectAccessReviewInput, "Namespaced"> = { group: "authorization.k8s.io", version: "v1", kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", scope: "Namespaced" };
export const SelfSubjectAccessReview: ResourceKind<SelfSubjectAccessReview, SelfSubjectAccessReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews", scope: "Cluster" };
export const SelfSubjectRulesReview: ResourceKind<SelfSubjectRulesReview, SelfSubjectRulesReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", scope: "Cluster" };
export const SubjectAccessReview: ResourceKind<SubjectAccessReview, SubjectAccessReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SubjectAccessReview", plural: "subjectaccessreviews", scope: "Cluster" };
