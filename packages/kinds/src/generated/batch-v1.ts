// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { ObjectReference, ObjectReferenceInput, PodTemplateSpec, PodTemplateSpecInput } from "./core-v1.ts";
import type { LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface CronJob {
  readonly apiVersion?: "batch/v1";
  readonly kind?: "CronJob";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: CronJobSpec;
  readonly status?: CronJobStatus;
}

export interface CronJobInput {
  readonly apiVersion?: "batch/v1" | undefined;
  readonly kind?: "CronJob" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: CronJobSpecInput;
  readonly status?: CronJobStatusInput | undefined;
}

export interface CronJobSpec {
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace";
  readonly failedJobsHistoryLimit?: number;
  readonly jobTemplate: JobTemplateSpec;
  readonly schedule: string;
  readonly startingDeadlineSeconds?: number;
  readonly successfulJobsHistoryLimit?: number;
  readonly suspend?: boolean;
  readonly timeZone?: string;
}

export interface CronJobSpecInput {
  readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace" | undefined;
  readonly failedJobsHistoryLimit?: number | undefined;
  readonly jobTemplate: JobTemplateSpecInput;
  readonly schedule: string;
  readonly startingDeadlineSeconds?: number | undefined;
  readonly successfulJobsHistoryLimit?: number | undefined;
  readonly suspend?: boolean | undefined;
  readonly timeZone?: string | undefined;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}

export interface CronJobStatusInput {
  readonly active?: readonly ObjectReferenceInput[] | undefined;
  readonly lastScheduleTime?: string | undefined;
  readonly lastSuccessfulTime?: string | undefined;
}

export interface Job {
  readonly apiVersion?: "batch/v1";
  readonly kind?: "Job";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: JobSpec;
  readonly status?: JobStatus;
}

export interface JobInput {
  readonly apiVersion?: "batch/v1" | undefined;
  readonly kind?: "Job" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: JobSpecInput;
  readonly status?: JobStatusInput | undefined;
}

export interface JobCondition {
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface JobConditionInput {
  readonly lastProbeTime?: string | null | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface JobSpec {
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly completionMode?: "Indexed" | "NonIndexed";
  readonly completions?: number;
  readonly managedBy?: string;
  readonly manualSelector?: boolean;
  readonly maxFailedIndexes?: number;
  readonly parallelism?: number;
  readonly podFailurePolicy?: PodFailurePolicy;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed";
  readonly selector?: LabelSelector;
  readonly successPolicy?: SuccessPolicy;
  readonly suspend?: boolean;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number;
}

export interface JobSpecInput {
  readonly activeDeadlineSeconds?: number | undefined;
  readonly backoffLimit?: number | undefined;
  readonly backoffLimitPerIndex?: number | undefined;
  readonly completionMode?: "Indexed" | "NonIndexed" | undefined;
  readonly completions?: number | undefined;
  readonly managedBy?: string | undefined;
  readonly manualSelector?: boolean | undefined;
  readonly maxFailedIndexes?: number | undefined;
  readonly parallelism?: number | undefined;
  readonly podFailurePolicy?: PodFailurePolicyInput | undefined;
  readonly podReplacementPolicy?: "Failed" | "TerminatingOrFailed" | undefined;
  readonly selector?: LabelSelectorInput | undefined;
  readonly successPolicy?: SuccessPolicyInput | undefined;
  readonly suspend?: boolean | undefined;
  readonly template: PodTemplateSpecInput;
  readonly ttlSecondsAfterFinished?: number | undefined;
}

export interface JobStatus {
  readonly active?: number;
  readonly completedIndexes?: string;
  readonly completionTime?: string;
  readonly conditions?: readonly JobCondition[];
  readonly failed?: number;
  readonly failedIndexes?: string;
  readonly ready?: number;
  readonly startTime?: string;
  readonly succeeded?: number;
  readonly terminating?: number;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods;
}

export interface JobStatusInput {
  readonly active?: number | undefined;
  readonly completedIndexes?: string | undefined;
  readonly completionTime?: string | undefined;
  readonly conditions?: readonly JobConditionInput[] | undefined;
  readonly failed?: number | undefined;
  readonly failedIndexes?: string | undefined;
  readonly ready?: number | undefined;
  readonly startTime?: string | undefined;
  readonly succeeded?: number | undefined;
  readonly terminating?: number | undefined;
  readonly uncountedTerminatedPods?: UncountedTerminatedPodsInput | undefined;
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMetaInput;
  readonly spec: JobSpec;
}

export interface JobTemplateSpecInput {
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: JobSpecInput;
}

export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[] | null;
}

export interface PodFailurePolicyInput {
  readonly rules: readonly PodFailurePolicyRuleInput[] | null;
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
}

export interface PodFailurePolicyOnExitCodesRequirementInput {
  readonly containerName?: string | undefined;
  readonly operator: "In" | "NotIn";
  readonly values: readonly number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly status?: string;
  readonly type: string;
}

export interface PodFailurePolicyOnPodConditionsPatternInput {
  readonly status?: string | undefined;
  readonly type: string;
}

export interface PodFailurePolicyRule {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[];
}

export interface PodFailurePolicyRuleInput {
  readonly action: "Count" | "FailIndex" | "FailJob" | "Ignore";
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirementInput | undefined;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPatternInput[] | undefined;
}

export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}

export interface SuccessPolicyInput {
  readonly rules: readonly SuccessPolicyRuleInput[];
}

export interface SuccessPolicyRule {
  readonly succeededCount?: number;
  readonly succeededIndexes?: string;
}

export interface SuccessPolicyRuleInput {
  readonly succeededCount?: number | undefined;
  readonly succeededIndexes?: string | undefined;
}

export interface UncountedTerminatedPods {
  readonly failed?: readonly string[];
  readonly succeeded?: readonly string[];
}

export interface UncountedTerminatedPodsInput {
  readonly failed?: readonly string[] | undefined;
  readonly succeeded?: readonly string[] | undefined;
}

export const CronJob: ResourceKind<CronJob, CronJobInput, "Namespaced"> = { group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs", scope: "Namespaced" };
export const Job: ResourceKind<Job, JobInput, "Namespaced"> = { group: "batch", version: "v1", kind: "Job", plural: "jobs", scope: "Namespaced" };
