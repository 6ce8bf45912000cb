// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";
import type { Condition, ConditionInput, LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export interface MatchCondition {
  readonly expression: string;
  readonly name: string;
}

export interface MatchResources {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
}

export interface MatchResourcesInput {
  readonly excludeResourceRules?: readonly NamedRuleWithOperationsInput[] | undefined;
  readonly matchPolicy?: "Equivalent" | "Exact" | undefined;
  readonly namespaceSelector?: LabelSelectorInput | undefined;
  readonly objectSelector?: LabelSelectorInput | undefined;
  readonly resourceRules?: readonly NamedRuleWithOperationsInput[] | undefined;
}

export interface MutatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly reinvocationPolicy?: "IfNeeded" | "Never";
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
}

export interface MutatingWebhookInput {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfigInput;
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchPolicy?: "Equivalent" | "Exact" | undefined;
  readonly name: string;
  readonly namespaceSelector?: LabelSelectorInput | undefined;
  readonly objectSelector?: LabelSelectorInput | undefined;
  readonly reinvocationPolicy?: "IfNeeded" | "Never" | undefined;
  readonly rules?: readonly RuleWithOperationsInput[] | undefined;
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number | undefined;
}

export interface MutatingWebhookConfiguration {
  readonly apiVersion?: "admissionregistration.k8s.io/v1";
  readonly kind?: "MutatingWebhookConfiguration";
  readonly metadata: ClusterObjectMeta;
  readonly webhooks?: readonly MutatingWebhook[];
}

export interface MutatingWebhookConfigurationInput {
  readonly apiVersion?: "admissionregistration.k8s.io/v1" | undefined;
  readonly kind?: "MutatingWebhookConfiguration" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly webhooks?: readonly MutatingWebhookInput[] | undefined;
}

export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resourceNames?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface NamedRuleWithOperationsInput {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: "*" | "Cluster" | "Namespaced" | undefined;
}

export interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

export interface ParamKindInput {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly parameterNotFoundAction?: string;
  readonly selector?: LabelSelector;
}

export interface ParamRefInput {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly parameterNotFoundAction?: string | undefined;
  readonly selector?: LabelSelectorInput | undefined;
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[];
  readonly resources?: readonly string[];
  readonly scope?: "*" | "Cluster" | "Namespaced";
}

export interface RuleWithOperationsInput {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly operations?: readonly ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: "*" | "Cluster" | "Namespaced" | undefined;
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string;
  readonly port?: number;
}

export interface ServiceReferenceInput {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[];
}

export interface TypeCheckingInput {
  readonly expressionWarnings?: readonly ExpressionWarning[] | undefined;
}

export interface ValidatingAdmissionPolicy {
  readonly apiVersion?: "admissionregistration.k8s.io/v1";
  readonly kind?: "ValidatingAdmissionPolicy";
  readonly metadata: ClusterObjectMeta;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
}

export interface ValidatingAdmissionPolicyInput {
  readonly apiVersion?: "admissionregistration.k8s.io/v1" | undefined;
  readonly kind?: "ValidatingAdmissionPolicy" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: ValidatingAdmissionPolicySpecInput | undefined;
  readonly status?: ValidatingAdmissionPolicyStatusInput | undefined;
}

export interface ValidatingAdmissionPolicyBinding {
  readonly apiVersion?: "admissionregistration.k8s.io/v1";
  readonly kind?: "ValidatingAdmissionPolicyBinding";
  readonly metadata: ClusterObjectMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
}

export interface ValidatingAdmissionPolicyBindingInput {
  readonly apiVersion?: "admissionregistration.k8s.io/v1" | undefined;
  readonly kind?: "ValidatingAdmissionPolicyBinding" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: ValidatingAdmissionPolicyBindingSpecInput | undefined;
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
  readonly validationActions?: readonly ("Audit" | "Deny" | "Warn")[];
}

export interface ValidatingAdmissionPolicyBindingSpecInput {
  readonly matchResources?: MatchResourcesInput | undefined;
  readonly paramRef?: ParamRefInput | undefined;
  readonly policyName?: string | undefined;
  readonly validationActions?: readonly ("Audit" | "Deny" | "Warn")[] | undefined;
}

export interface ValidatingAdmissionPolicySpec {
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchConstraints?: MatchResources;
  readonly paramKind?: ParamKind;
  readonly validations?: readonly Validation[];
  readonly variables?: readonly Variable[];
}

export interface ValidatingAdmissionPolicySpecInput {
  readonly auditAnnotations?: readonly AuditAnnotation[] | undefined;
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchConstraints?: MatchResourcesInput | undefined;
  readonly paramKind?: ParamKindInput | undefined;
  readonly validations?: readonly ValidationInput[] | undefined;
  readonly variables?: readonly Variable[] | undefined;
}

export interface ValidatingAdmissionPolicyStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
  readonly typeChecking?: TypeChecking;
}

export interface ValidatingAdmissionPolicyStatusInput {
  readonly conditions?: readonly ConditionInput[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly typeChecking?: TypeCheckingInput | undefined;
}

export interface ValidatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: "Fail" | "Ignore";
  readonly matchConditions?: readonly MatchCondition[];
  readonly matchPolicy?: "Equivalent" | "Exact";
  readonly name: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly RuleWithOperations[];
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number;
}

export interface ValidatingWebhookInput {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfigInput;
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchPolicy?: "Equivalent" | "Exact" | undefined;
  readonly name: string;
  readonly namespaceSelector?: LabelSelectorInput | undefined;
  readonly objectSelector?: LabelSelectorInput | undefined;
  readonly rules?: readonly RuleWithOperationsInput[] | undefined;
  readonly sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown";
  readonly timeoutSeconds?: number | undefined;
}

export interface ValidatingWebhookConfiguration {
  readonly apiVersion?: "admissionregistration.k8s.io/v1";
  readonly kind?: "ValidatingWebhookConfiguration";
  readonly metadata: ClusterObjectMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
}

export interface ValidatingWebhookConfigurationInput {
  readonly apiVersion?: "admissionregistration.k8s.io/v1" | undefined;
  readonly kind?: "ValidatingWebhookConfiguration" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly webhooks?: readonly ValidatingWebhookInput[] | undefined;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
}

export interface ValidationInput {
  readonly expression: string;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly reason?: string | undefined;
}

export interface Variable {
  readonly expression: string;
  readonly name: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string;
  readonly service?: ServiceReference;
  readonly url?: string;
}

export interface WebhookClientConfigInput {
  readonly caBundle?: string | undefined;
  readonly service?: ServiceReferenceInput | undefined;
  readonly url?: string | undefined;
}

export const MutatingWebhookConfiguration: ResourceKind<MutatingWebhookConfiguration, MutatingWebhookConfigurationInput, "Cluster"> = { group: "admissionregistration.k8s.io", version: "v1", kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations", scope: "Cluster" };
export const ValidatingAdmissionPolicy: ResourceKind<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyInput, "Cluster"> = { group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies", scope: "Cluster" };
export const ValidatingAdmissionPolicyBinding: ResourceKind<ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingInput, "Cluster"> = { group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingAdmissionPolicyBinding", plural: "validatingadmissionpolicybindings", scope: "Cluster" };
export const ValidatingWebhookConfiguration: ResourceKind<ValidatingWebhookConfiguration, ValidatingWebhookConfigurationInput, "Cluster"> = { group: "admissionregistration.k8s.io", version: "v1", kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations", scope: "Cluster" };
