// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ResourceKind } from "../object.ts";
import type { PersistentVolumeSpec, PersistentVolumeSpecInput, TopologySelectorTerm, TopologySelectorTermInput } from "./core-v1.ts";
import type { LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface CSIDriver {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "CSIDriver";
  readonly metadata: ClusterObjectMeta;
  readonly spec: CSIDriverSpec;
}

export interface CSIDriverInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "CSIDriver" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: CSIDriverSpecInput;
}

export interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly fsGroupPolicy?: string;
  readonly nodeAllocatableUpdatePeriodSeconds?: number;
  readonly podInfoOnMount?: boolean;
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly storageCapacity?: boolean;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly volumeLifecycleModes?: readonly string[];
}

export interface CSIDriverSpecInput {
  readonly attachRequired?: boolean | undefined;
  readonly fsGroupPolicy?: string | undefined;
  readonly nodeAllocatableUpdatePeriodSeconds?: number | undefined;
  readonly podInfoOnMount?: boolean | undefined;
  readonly requiresRepublish?: boolean | undefined;
  readonly seLinuxMount?: boolean | undefined;
  readonly serviceAccountTokenInSecrets?: boolean | undefined;
  readonly storageCapacity?: boolean | undefined;
  readonly tokenRequests?: readonly TokenRequestInput[] | undefined;
  readonly volumeLifecycleModes?: readonly string[] | undefined;
}

export interface CSINode {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "CSINode";
  readonly metadata: ClusterObjectMeta;
  readonly spec: CSINodeSpec;
}

export interface CSINodeInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "CSINode" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: CSINodeSpecInput;
}

export interface CSINodeDriver {
  readonly allocatable?: VolumeNodeResources;
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[] | null;
}

export interface CSINodeDriverInput {
  readonly allocatable?: VolumeNodeResourcesInput | undefined;
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[] | null | undefined;
}

export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[] | null;
}

export interface CSINodeSpecInput {
  readonly drivers: readonly CSINodeDriverInput[] | null;
}

export interface CSIStorageCapacity {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "CSIStorageCapacity";
  readonly metadata: NamespacedObjectMeta;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
}

export interface CSIStorageCapacityInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "CSIStorageCapacity" | undefined;
  readonly metadata: NamedMetaInput;
  readonly capacity?: number | string | undefined;
  readonly maximumVolumeSize?: number | string | undefined;
  readonly nodeTopology?: LabelSelectorInput | undefined;
  readonly storageClassName: string;
}

export interface StorageClass {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "StorageClass";
  readonly metadata: ClusterObjectMeta;
  readonly allowVolumeExpansion?: boolean;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
  readonly mountOptions?: readonly string[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly provisioner: string;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer";
}

export interface StorageClassInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "StorageClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly allowVolumeExpansion?: boolean | undefined;
  readonly allowedTopologies?: readonly TopologySelectorTermInput[] | undefined;
  readonly mountOptions?: readonly string[] | undefined;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  readonly provisioner: string;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain" | undefined;
  readonly volumeBindingMode?: "Immediate" | "WaitForFirstConsumer" | undefined;
}

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds?: number;
}

export interface TokenRequestInput {
  readonly audience: string;
  readonly expirationSeconds?: number | undefined;
}

export interface VolumeAttachment {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "VolumeAttachment";
  readonly metadata: ClusterObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

export interface VolumeAttachmentInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "VolumeAttachment" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: VolumeAttachmentSpecInput;
  readonly status?: VolumeAttachmentStatusInput | undefined;
}

export interface VolumeAttachmentSource {
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
  readonly persistentVolumeName?: string;
}

export interface VolumeAttachmentSourceInput {
  readonly inlineVolumeSpec?: PersistentVolumeSpecInput | undefined;
  readonly persistentVolumeName?: string | undefined;
}

export interface VolumeAttachmentSpec {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: VolumeAttachmentSource;
}

export interface VolumeAttachmentSpecInput {
  readonly attacher: string;
  readonly nodeName: string;
  readonly source: VolumeAttachmentSourceInput;
}

export interface VolumeAttachmentStatus {
  readonly attachError?: VolumeError;
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly detachError?: VolumeError;
}

export interface VolumeAttachmentStatusInput {
  readonly attachError?: VolumeErrorInput | undefined;
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>> | undefined;
  readonly detachError?: VolumeErrorInput | undefined;
}

export interface VolumeAttributesClass {
  readonly apiVersion?: "storage.k8s.io/v1";
  readonly kind?: "VolumeAttributesClass";
  readonly metadata: ClusterObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface VolumeAttributesClassInput {
  readonly apiVersion?: "storage.k8s.io/v1" | undefined;
  readonly kind?: "VolumeAttributesClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export interface VolumeError {
  readonly errorCode?: number;
  readonly message?: string;
  readonly time?: string | null;
}

export interface VolumeErrorInput {
  readonly errorCode?: number | undefined;
  readonly message?: string | undefined;
  readonly time?: string | null | undefined;
}

export interface VolumeNodeResources {
  readonly count?: number;
}

export interface VolumeNodeResourcesInput {
  readonly count?: number | undefined;
}

export const CSIDriver: ResourceKind<CSIDriver, CSIDriverInput, "Cluster"> = { group: "storage.k8s.io", version: "v1", kind: "CSIDriver", plural: "csidrivers", scope: "Cluster" };
export const CSINode: ResourceKind<CSINode, CSINodeInput, "Cluster"> = { group: "storage.k8s.io", version: "v1", kind: "CSINode", plural: "csinodes", scope: "Cluster" };
export const CSIStorageCapacity: ResourceKind<CSIStorageCapacity, CSIStorageCapacityInput, "Namespaced"> = { group: "storage.k8s.io", version: "v1", kind: "CSIStorageCapacity", plural: "csistoragecapacities", scope: "Namespaced" };
export const StorageClass: ResourceKind<StorageClass, StorageClassInput, "Cluster"> = { group: "storage.k8s.io", version: "v1", kind: "StorageClass", plural: "storageclasses", scope: "Cluster" };
export const VolumeAttachment: ResourceKind<VolumeAttachment, VolumeAttachmentInput, "Cluster"> = { group: "storage.k8s.io", version: "v1", kind: "VolumeAttachment", plural: "volumeattachments", scope: "Cluster" };
export const VolumeAttributesClass: ResourceKind<VolumeAttributesClass, VolumeAttributesClassInput, "Cluster"> = { group: "storage.k8s.io", version: "v1", kind: "VolumeAttributesClass", plural: "volumeattributesclasses", scope: "Cluster" };
