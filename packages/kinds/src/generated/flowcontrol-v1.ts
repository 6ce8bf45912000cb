// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, ResourceKind } from "../object.ts";

export interface ExemptPriorityLevelConfiguration {
  readonly lendablePercent?: number;
  readonly nominalConcurrencyShares?: number;
}

export interface ExemptPriorityLevelConfigurationInput {
  readonly lendablePercent?: number | undefined;
  readonly nominalConcurrencyShares?: number | undefined;
}

export interface FlowDistinguisherMethod {
  readonly type: string;
}

export interface FlowSchema {
  readonly apiVersion?: "flowcontrol.apiserver.k8s.io/v1";
  readonly kind?: "FlowSchema";
  readonly metadata: ClusterObjectMeta;
  readonly spec: FlowSchemaSpec;
  readonly status?: FlowSchemaStatus;
}

export interface FlowSchemaInput {
  readonly apiVersion?: "flowcontrol.apiserver.k8s.io/v1" | undefined;
  readonly kind?: "FlowSchema" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: FlowSchemaSpecInput;
  readonly status?: FlowSchemaStatusInput | undefined;
}

export interface FlowSchemaCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status?: string;
  readonly type?: string;
}

export interface FlowSchemaConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface FlowSchemaSpec {
  readonly distinguisherMethod?: FlowDistinguisherMethod;
  readonly matchingPrecedence?: number;
  readonly priorityLevelConfiguration: PriorityLevelConfigurationReference;
  readonly rules?: readonly PolicyRulesWithSubjects[];
}

export interface FlowSchemaSpecInput {
  readonly distinguisherMethod?: FlowDistinguisherMethod | undefined;
  readonly matchingPrecedence?: number | undefined;
  readonly priorityLevelConfiguration: PriorityLevelConfigurationReference;
  readonly rules?: readonly PolicyRulesWithSubjectsInput[] | undefined;
}

export interface FlowSchemaStatus {
  readonly conditions?: readonly FlowSchemaCondition[];
}

export interface FlowSchemaStatusInput {
  readonly conditions?: readonly FlowSchemaConditionInput[] | undefined;
}

export interface GroupSubject {
  readonly name: string;
}

export interface LimitResponse {
  readonly queuing?: QueuingConfiguration;
  readonly type: string;
}

export interface LimitResponseInput {
  readonly queuing?: QueuingConfigurationInput | undefined;
  readonly type: string;
}

export interface LimitedPriorityLevelConfiguration {
  readonly borrowingLimitPercent?: number;
  readonly lendablePercent?: number;
  readonly limitResponse: LimitResponse;
  readonly nominalConcurrencyShares?: number;
}

export interface LimitedPriorityLevelConfigurationInput {
  readonly borrowingLimitPercent?: number | undefined;
  readonly lendablePercent?: number | undefined;
  readonly limitResponse: LimitResponseInput;
  readonly nominalConcurrencyShares?: number | undefined;
}

export interface NonResourcePolicyRule {
  readonly nonResourceURLs: readonly string[];
  readonly verbs: readonly string[];
}

export interface PolicyRulesWithSubjects {
  readonly nonResourceRules?: readonly NonResourcePolicyRule[];
  readonly resourceRules?: readonly ResourcePolicyRule[];
  readonly subjects: readonly Subject[];
}

export interface PolicyRulesWithSubjectsInput {
  readonly nonResourceRules?: readonly NonResourcePolicyRule[] | undefined;
  readonly resourceRules?: readonly ResourcePolicyRuleInput[] | undefined;
  readonly subjects: readonly SubjectInput[];
}

export interface PriorityLevelConfiguration {
  readonly apiVersion?: "flowcontrol.apiserver.k8s.io/v1";
  readonly kind?: "PriorityLevelConfiguration";
  readonly metadata: ClusterObjectMeta;
  readonly spec: PriorityLevelConfigurationSpec;
  readonly status?: PriorityLevelConfigurationStatus;
}

export interface PriorityLevelConfigurationInput {
  readonly apiVersion?: "flowcontrol.apiserver.k8s.io/v1" | undefined;
  readonly kind?: "PriorityLevelConfiguration" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: PriorityLevelConfigurationSpecInput;
  readonly status?: PriorityLevelConfigurationStatusInput | undefined;
}

export interface PriorityLevelConfigurationCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status?: string;
  readonly type?: string;
}

export interface PriorityLevelConfigurationConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export interface PriorityLevelConfigurationReference {
  readonly name: string;
}

export interface PriorityLevelConfigurationSpec {
  readonly exempt?: ExemptPriorityLevelConfiguration;
  readonly limited?: LimitedPriorityLevelConfiguration;
  readonly type: string;
}

export interface PriorityLevelConfigurationSpecInput {
  readonly exempt?: ExemptPriorityLevelConfigurationInput | undefined;
  readonly limited?: LimitedPriorityLevelConfigurationInput | undefined;
  readonly type: string;
}

export interface PriorityLevelConfigurationStatus {
  readonly conditions?: readonly PriorityLevelConfigurationCondition[];
}

export interface PriorityLevelConfigurationStatusInput {
  readonly conditions?: readonly PriorityLevelConfigurationConditionInput[] | undefined;
}

export interface QueuingConfiguration {
  readonly handSize?: number;
  readonly queueLengthLimit?: number;
  readonly queues?: number;
}

export interface QueuingConfigurationInput {
  readonly handSize?: number | undefined;
  readonly queueLengthLimit?: number | undefined;
  readonly queues?: number | undefined;
}

export interface ResourcePolicyRule {
  readonly apiGroups: readonly string[];
  readonly clusterScope?: boolean;
  readonly namespaces?: readonly string[] | null;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface ResourcePolicyRuleInput {
  readonly apiGroups: readonly string[];
  readonly clusterScope?: boolean | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface ServiceAccountSubject {
  readonly name: string;
  readonly namespace: string;
}

export interface Subject {
  readonly group?: GroupSubject;
  readonly kind: string;
  readonly serviceAccount?: ServiceAccountSubject;
  readonly user?: UserSubject;
}

export interface SubjectInput {
  readonly group?: GroupSubject | undefined;
  readonly kind: string;
  readonly serviceAccount?: ServiceAccountSubject | undefined;
  readonly user?: UserSubject | undefined;
}

export interface UserSubject {
  readonly name: string;
}

export const FlowSchema: ResourceKind<FlowSchema, FlowSchemaInput, "Cluster"> = { group: "flowcontrol.apiserver.k8s.io", version: "v1", kind: "FlowSchema", plural: "flowschemas", scope: "Cluster" };
export const PriorityLevelConfiguration: ResourceKind<PriorityLevelConfiguration, PriorityLevelConfigurationInput, "Cluster"> = { group: "flowcontrol.apiserver.k8s.io", version: "v1", kind: "PriorityLevelConfiguration", plural: "prioritylevelconfigurations", scope: "Cluster" };
