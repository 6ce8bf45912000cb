// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { PersistentVolumeClaimInput, PodTemplateSpec, PodTemplateSpecInput } from "./core-v1.ts";
import type { LabelSelector } from "./meta-v1.ts";

export interface ControllerRevision {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ControllerRevision";
  readonly metadata: NamespacedObjectMeta;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly revision: number;
}

export interface ControllerRevisionInput {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ControllerRevision";
  readonly metadata: NamedMetaInput;
  readonly data?: Readonly<Record<string, unknown>>;
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
  readonly apiVersion?: "apps/v1";
  readonly kind?: "DaemonSet";
  readonly metadata: NamedMetaInput;
  readonly spec: DaemonSetSpecInput;
  readonly status?: DaemonSetStatus;
}

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
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
  readonly minReadySeconds?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpecInput;
  readonly updateStrategy?: DaemonSetUpdateStrategy;
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

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet;
  readonly type?: "OnDelete" | "RollingUpdate";
}

export interface Deployment {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "Deployment";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: DeploymentSpec;
  readonly status?: DeploymentStatus;
}

export interface DeploymentInput {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "Deployment";
  readonly metadata: NamedMetaInput;
  readonly spec: DeploymentSpecInput;
  readonly status?: DeploymentStatus;
}

export interface DeploymentCondition {
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly message?: string;
  readonly reason?: string;
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
  readonly minReadySeconds?: number;
  readonly paused?: boolean;
  readonly progressDeadlineSeconds?: number;
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly strategy?: DeploymentStrategy;
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

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment;
  readonly type?: "Recreate" | "RollingUpdate";
}

export interface ReplicaSet {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ReplicaSet";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ReplicaSetSpec;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetInput {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "ReplicaSet";
  readonly metadata: NamedMetaInput;
  readonly spec: ReplicaSetSpecInput;
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
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
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector: LabelSelector;
  readonly template?: PodTemplateSpecInput;
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

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: number | string;
  readonly partition?: number;
}

export interface StatefulSet {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "StatefulSet";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: StatefulSetSpec;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetInput {
  readonly apiVersion?: "apps/v1";
  readonly kind?: "StatefulSet";
  readonly metadata: NamedMetaInput;
  readonly spec: StatefulSetSpecInput;
  readonly status?: StatefulSetStatus;
}

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface StatefulSetOrdinals {
  readonly start?: number;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string;
  readonly whenScaled?: string;
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
  readonly minReadySeconds?: number;
  readonly ordinals?: StatefulSetOrdinals;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy;
  readonly podManagementPolicy?: "OrderedReady" | "Parallel";
  readonly replicas?: number;
  readonly revisionHistoryLimit?: number;
  readonly selector: LabelSelector;
  readonly serviceName?: string;
  readonly template: PodTemplateSpecInput;
  readonly updateStrategy?: StatefulSetUpdateStrategy;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaimInput[];
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

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
  readonly type?: "OnDelete" | "RollingUpdate";
}

export const ControllerRevision: ResourceKind<ControllerRevision, ControllerRevisionInput, "Namespaced"> = { group: "apps", version: "v1", kind: "ControllerRevision", plural: "controllerrevisions", scope: "Namespaced" };
export const DaemonSet: ResourceKind<DaemonSet, DaemonSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", scope: "Namespaced" };
export const Deployment: ResourceKind<Deployment, DeploymentInput, "Namespaced"> = { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", scope: "Namespaced" };
export const ReplicaSet: ResourceKind<ReplicaSet, ReplicaSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "ReplicaSet", plural: "replicasets", scope: "Namespaced" };
export const StatefulSet: ResourceKind<StatefulSet, StatefulSetInput, "Namespaced"> = { group: "apps", version: "v1", kind: "StatefulSet", plural: "statefulsets", scope: "Namespaced" };
