// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterObjectMeta, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { FieldSelectorRequirement, FieldSelectorRequirementInput, LabelSelectorRequirement, LabelSelectorRequirementInput } from "./meta-v1.ts";

export interface FieldSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly FieldSelectorRequirement[];
}

export interface FieldSelectorAttributesInput {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly FieldSelectorRequirementInput[] | undefined;
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
}

export interface LabelSelectorAttributesInput {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly LabelSelectorRequirementInput[] | undefined;
}

export interface LocalSubjectAccessReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "LocalSubjectAccessReview";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface LocalSubjectAccessReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1" | undefined;
  readonly kind?: "LocalSubjectAccessReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: SubjectAccessReviewSpecInput;
  readonly status?: SubjectAccessReviewStatusInput | undefined;
}

export interface NonResourceAttributes {
  readonly path?: string;
  readonly verb?: string;
}

export interface NonResourceAttributesInput {
  readonly path?: string | undefined;
  readonly verb?: string | undefined;
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface NonResourceRuleInput {
  readonly nonResourceURLs?: readonly string[] | undefined;
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

export interface ResourceAttributesInput {
  readonly fieldSelector?: FieldSelectorAttributesInput | undefined;
  readonly group?: string | undefined;
  readonly labelSelector?: LabelSelectorAttributesInput | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  readonly verb?: string | undefined;
  readonly version?: string | undefined;
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
}

export interface ResourceRuleInput {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
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
  readonly apiVersion?: "authorization.k8s.io/v1" | undefined;
  readonly kind?: "SelfSubjectAccessReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: SelfSubjectAccessReviewSpecInput;
  readonly status?: SubjectAccessReviewStatusInput | undefined;
}

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
}

export interface SelfSubjectAccessReviewSpecInput {
  readonly nonResourceAttributes?: NonResourceAttributesInput | undefined;
  readonly resourceAttributes?: ResourceAttributesInput | undefined;
}

export interface SelfSubjectRulesReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SelfSubjectRulesReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus;
}

export interface SelfSubjectRulesReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1" | undefined;
  readonly kind?: "SelfSubjectRulesReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: SelfSubjectRulesReviewSpecInput;
  readonly status?: SubjectRulesReviewStatusInput | undefined;
}

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string;
}

export interface SelfSubjectRulesReviewSpecInput {
  readonly namespace?: string | undefined;
}

export interface SubjectAccessReview {
  readonly apiVersion?: "authorization.k8s.io/v1";
  readonly kind?: "SubjectAccessReview";
  readonly metadata: ClusterObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
}

export interface SubjectAccessReviewInput {
  readonly apiVersion?: "authorization.k8s.io/v1" | undefined;
  readonly kind?: "SubjectAccessReview" | undefined;
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: SubjectAccessReviewSpecInput;
  readonly status?: SubjectAccessReviewStatusInput | undefined;
}

export interface SubjectAccessReviewSpec {
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly groups?: readonly string[];
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly resourceAttributes?: ResourceAttributes;
  readonly uid?: string;
  readonly user?: string;
}

export interface SubjectAccessReviewSpecInput {
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly nonResourceAttributes?: NonResourceAttributesInput | undefined;
  readonly resourceAttributes?: ResourceAttributesInput | undefined;
  readonly uid?: string | undefined;
  readonly user?: string | undefined;
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly evaluationError?: string;
  readonly reason?: string;
}

export interface SubjectAccessReviewStatusInput {
  readonly allowed: boolean;
  readonly denied?: boolean | undefined;
  readonly evaluationError?: string | undefined;
  readonly reason?: string | undefined;
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
}

export interface SubjectRulesReviewStatusInput {
  readonly evaluationError?: string | undefined;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRuleInput[];
  readonly resourceRules: readonly ResourceRuleInput[];
}

export const LocalSubjectAccessReview: ResourceKind<LocalSubjectAccessReview, LocalSubjectAccessReviewInput, "Namespaced"> = { group: "authorization.k8s.io", version: "v1", kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", scope: "Namespaced" };
export const SelfSubjectAccessReview: ResourceKind<SelfSubjectAccessReview, SelfSubjectAccessReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews", scope: "Cluster" };
export const SelfSubjectRulesReview: ResourceKind<SelfSubjectRulesReview, SelfSubjectRulesReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews", scope: "Cluster" };
export const SubjectAccessReview: ResourceKind<SubjectAccessReview, SubjectAccessReviewInput, "Cluster"> = { group: "authorization.k8s.io", version: "v1", kind: "SubjectAccessReview", plural: "subjectaccessreviews", scope: "Cluster" };
