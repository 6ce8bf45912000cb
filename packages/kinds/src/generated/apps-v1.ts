// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { PersistentVolumeClaimInput, PodTemplateSpec, PodTemplateSpecInput } from "./core-v1.ts";
import type { LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface ControllerRevision {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ControllerRevision";
  readonly metadata: NamespacedObjectMeta;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly revision: number;
}

export interface ControllerRevisionInput {
  readonly apiVersion?: "apps/v1" | undefined;
  readonly kind?: "ControllerRevision" | undefined;
  readonly metadata: NamedMetaInput;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly revision: number;
}

export interface DaemonSet {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "DaemonSet";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: DaemonSetSpec;
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetInput {
  readonly apiVersion?: "apps/v1" | undefined;
  readonly kind?: "DaemonSet" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: DaemonSetSpecInput;
  readonly status?: DaemonSetStatusInput | undefined;
}

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface DaemonSetConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface DaemonSetSpec {
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
}

export interface DaemonSetSpecInput {
  readonly minReadySeconds?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelectorInput;
  readonly template: PodTemplateSpecInput;
  readonly updateStrategy?: DaemonSetUpdateStrategyInput | undefined;
}

export interface DaemonSetStatus {
  readonly collisionCount?: number;
  readonly conditions?: readonly DaemonSetCondition[];
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberAvailable?: number;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberUnavailable?: number;
  readonly observedGeneration?: number;
  readonly updatedNumberScheduled?: number;
}

export interface DaemonSetStatusInput {
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DaemonSetConditionInput[] | undefined;
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberAvailable?: number | undefined;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberUnavailable?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly updatedNumberScheduled?: number | undefined;
}

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet;
  readonly type?: "OnDelete" | "RollingUpdate";
}

export interface DaemonSetUpdateStrategyInput {
  readonly rollingUpdate?: RollingUpdateDaemonSetInput | undefined;
  readonly type?: "OnDelete" | "RollingUpdate" | undefined;
}

export interface Deployment {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "Deployment";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export interface DeploymentInput {
  readonly apiVersion?: "apps/v1" | undefined;
  readonly kind?: "Deployment" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: DeploymentSpecInput;
  readonly status?: DeploymentStatusInput | undefined;
}

export interface DeploymentCondition {
  readonly lastTransitionTime?: string | null;
  readonly lastUpdateTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface DeploymentConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly lastUpdateTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface DeploymentSpec {
  readonly minReadySeconds?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly strategy?: DeploymentStrategy;
  readonly template: PodTemplateSpec;
}

export interface DeploymentSpecInput {
  readonly minReadySeconds?: number | undefined;
  readonly paused?: boolean | undefined;
  readonly progressDeadlineSeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelectorInput;
  readonly strategy?: DeploymentStrategyInput | undefined;
  readonly template: PodTemplateSpecInput;
}

export interface DeploymentStatus {
  readonly availableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly DeploymentCondition[];
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas?: number;
  readonly terminatingReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly updatedReplicas?: number;
}

export interface DeploymentStatusInput {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DeploymentConditionInput[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly unavailableReplicas?: number | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment;
  readonly type?: "Recreate" | "RollingUpdate";
}

export interface DeploymentStrategyInput {
  readonly rollingUpdate?: RollingUpdateDeploymentInput | undefined;
  readonly type?: "Recreate" | "RollingUpdate" | undefined;
}

export interface ReplicaSet {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ReplicaSet";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetInput {
  readonly apiVersion?: "apps/v1" | undefined;
  readonly kind?: "ReplicaSet" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: ReplicaSetSpecInput;
  readonly status?: ReplicaSetStatusInput | undefined;
}

export interface ReplicaSetCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface ReplicaSetConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface ReplicaSetSpec {
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template?: PodTemplateSpec;
}

export interface ReplicaSetSpecInput {
  readonly minReadySeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly selector: LabelSelectorInput;
  readonly template?: PodTemplateSpecInput | undefined;
}

export interface ReplicaSetStatus {
  readonly availableReplicas?: number;
  readonly conditions?: readonly ReplicaSetCondition[];
  readonly fullyLabeledReplicas?: number;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly terminatingReplicas?: number;
}

export interface ReplicaSetStatusInput {
  readonly availableReplicas?: number | undefined;
  readonly conditions?: readonly ReplicaSetConditionInput[] | undefined;
  readonly fullyLabeledReplicas?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas: number;
  readonly terminatingReplicas?: number | undefined;
}

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export interface RollingUpdateDaemonSetInput {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export interface RollingUpdateDeploymentInput {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: number | string;
  readonly partition?: number;
}

export interface RollingUpdateStatefulSetStrategyInput {
  readonly maxUnavailable?: number | string | undefined;
  readonly partition?: number | undefined;
}

export interface StatefulSet {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "StatefulSet";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetInput {
  readonly apiVersion?: "apps/v1" | undefined;
  readonly kind?: "StatefulSet" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: StatefulSetSpecInput;
  readonly status?: StatefulSetStatusInput | undefined;
}

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface StatefulSetConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface StatefulSetOrdinals {
  readonly start?: number;
}

export interface StatefulSetOrdinalsInput {
  readonly start?: number | undefined;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicyInput {
  readonly whenDeleted?: string | undefined;
  readonly whenScaled?: string | undefined;
}

export interface StatefulSetSpec {
  readonly minReadySeconds?: number;
  readonly ordinals?: StatefulSetOrdinals;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly serviceName?: string;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaimInput[];
}

export interface StatefulSetSpecInput {
  readonly minReadySeconds?: number | undefined;
  readonly ordinals?: StatefulSetOrdinalsInput | undefined;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicyInput | undefined;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel" | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelectorInput;
  readonly serviceName?: string | undefined;
  readonly template: PodTemplateSpecInput;
  readonly updateStrategy?: StatefulSetUpdateStrategyInput | undefined;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaimInput[] | undefined;
}

export interface StatefulSetStatus {
  readonly availableReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly StatefulSetCondition[];
  readonly currentReplicas?: number;
  readonly currentRevision?: string;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
  readonly updateRevision?: string;
  readonly updatedReplicas?: number;
}

export interface StatefulSetStatusInput {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly StatefulSetConditionInput[] | undefined;
  readonly currentReplicas?: number | undefined;
  readonly currentRevision?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas: number;
  readonly updateRevision?: string | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
  readonly type?: "OnDelete" | "RollingUpdate";
}

export interface StatefulSetUpdateStrategyInput {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategyInput | undefined;
  readonly type?: "OnDelete" | "RollingUpdate" | undefined;
}

export const ControllerRevision: ResourceKind<ControllerRevision, ControllerRevisionInput, "Namespaced"> = { group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions", scope: "Namespaced" };
export const DaemonSet: ResourceKind<DaemonSet, DaemonSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", scope: "Namespaced" };
export const Deployment: ResourceKind<Deployment, DeploymentInput, "Namespaced"> = { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", scope: "Namespaced" };
export const ReplicaSet: ResourceKind<ReplicaSet, ReplicaSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", scope: "Namespaced" };
export const StatefulSet: ResourceKind<StatefulSet, StatefulSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets", scope: "Namespaced" };
