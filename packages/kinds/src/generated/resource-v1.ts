// Generated from an API server's OpenAPI by packages/runtime/scripts/generate-kinds.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { NodeSelector } from "./core-v1.ts";
import type { Condition } from "./meta-v1.ts";

export interface AllocatedDeviceStatus {
  readonly conditions?: readonly Condition[];
  readonly data?: Readonly<Record<string, unknown>>;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceData;
  readonly pool: string;
  readonly shareID?: string;
}

export interface AllocationResult {
  readonly allocationTimestamp?: string;
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
}

export interface AllocationResultInput {
  readonly allocationTimestamp?: string;
  readonly devices?: DeviceAllocationResultInput;
  readonly nodeSelector?: NodeSelector;
}

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface CapacityRequestPolicy {
  readonly default?: string;
  readonly validRange?: CapacityRequestPolicyRange;
  readonly validValues?: readonly string[];
}

export interface CapacityRequestPolicyInput {
  readonly default?: number | string;
  readonly validRange?: CapacityRequestPolicyRangeInput;
  readonly validValues?: readonly (number | string)[];
}

export interface CapacityRequestPolicyRange {
  readonly max?: string;
  readonly min: string;
  readonly step?: string;
}

export interface CapacityRequestPolicyRangeInput {
  readonly max?: number | string;
  readonly min: number | string;
  readonly step?: number | string;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>;
}

export interface CapacityRequirementsInput {
  readonly requests?: Readonly<Record<string, number | string>>;
}

export interface Counter {
  readonly value: string;
}

export interface CounterInput {
  readonly value: number | string;
}

export interface CounterSet {
  readonly counters: Readonly<Record<string, Counter>>;
  readonly name: string;
}

export interface CounterSetInput {
  readonly counters: Readonly<Record<string, CounterInput>>;
  readonly name: string;
}

export interface Device {
  readonly allNodes?: boolean;
  readonly allowMultipleAllocations?: boolean;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly bindsToNode?: boolean;
  readonly capacity?: Readonly<Record<string, DeviceCapacity>>;
  readonly consumesCounters?: readonly DeviceCounterConsumption[];
  readonly name: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly taints?: readonly DeviceTaint[];
}

export interface DeviceInput {
  readonly allNodes?: boolean;
  readonly allowMultipleAllocations?: boolean;
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly bindsToNode?: boolean;
  readonly capacity?: Readonly<Record<string, DeviceCapacityInput>>;
  readonly consumesCounters?: readonly DeviceCounterConsumptionInput[];
  readonly name: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly taints?: readonly DeviceTaint[];
}

export interface DeviceAllocationConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
  readonly source: "FromClaim" | "FromClass";
}

export interface DeviceAllocationResult {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResult[];
}

export interface DeviceAllocationResultInput {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResultInput[];
}

export interface DeviceAttribute {
  readonly bool?: boolean;
  readonly int?: number;
  readonly string?: string;
  readonly version?: string;
}

export interface DeviceCapacity {
  readonly requestPolicy?: CapacityRequestPolicy;
  readonly value: string;
}

export interface DeviceCapacityInput {
  readonly requestPolicy?: CapacityRequestPolicyInput;
  readonly value: number | string;
}

export interface DeviceClaim {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests?: readonly DeviceRequest[];
}

export interface DeviceClaimInput {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests?: readonly DeviceRequestInput[];
}

export interface DeviceClaimConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
}

export interface DeviceClass {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "DeviceClass";
  readonly metadata: ClusterObjectMeta;
  readonly spec: DeviceClassSpec;
}

export interface DeviceClassInput {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "DeviceClass";
  readonly metadata: ClusterMetaInput;
  readonly spec: DeviceClassSpec;
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassSpec {
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
  readonly selectors?: readonly DeviceSelector[];
}

export interface DeviceConstraint {
  readonly distinctAttribute?: string;
  readonly matchAttribute?: string;
  readonly requests?: readonly string[];
}

export interface DeviceCounterConsumption {
  readonly counterSet: string;
  readonly counters: Readonly<Record<string, Counter>>;
}

export interface DeviceCounterConsumptionInput {
  readonly counterSet: string;
  readonly counters: Readonly<Record<string, CounterInput>>;
}

export interface DeviceRequest {
  readonly exactly?: ExactDeviceRequest;
  readonly firstAvailable?: readonly DeviceSubRequest[];
  readonly name: string;
}

export interface DeviceRequestInput {
  readonly exactly?: ExactDeviceRequestInput;
  readonly firstAvailable?: readonly DeviceSubRequestInput[];
  readonly name: string;
}

export interface DeviceRequestAllocationResult {
  readonly adminAccess?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly consumedCapacity?: Readonly<Record<string, string>>;
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly request: string;
  readonly shareID?: string;
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceRequestAllocationResultInput {
  readonly adminAccess?: boolean;
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
  readonly consumedCapacity?: Readonly<Record<string, number | string>>;
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly request: string;
  readonly shareID?: string;
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSubRequest {
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceSubRequestInput {
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirementsInput;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface DeviceTaint {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
}

export interface DeviceToleration {
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly tolerationSeconds?: number;
  readonly value?: string;
}

export interface ExactDeviceRequest {
  readonly adminAccess?: boolean;
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirements;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface ExactDeviceRequestInput {
  readonly adminAccess?: boolean;
  readonly allocationMode?: "All" | "ExactCount";
  readonly capacity?: CapacityRequirementsInput;
  readonly count?: number;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelector[];
  readonly tolerations?: readonly DeviceToleration[];
}

export interface NetworkDeviceData {
  readonly hardwareAddress?: string;
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
}

export interface OpaqueDeviceConfiguration {
  readonly driver: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ResourceClaim {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceClaim";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ResourceClaimSpec;
  readonly status?: ResourceClaimStatus;
}

export interface ResourceClaimInput {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceClaim";
  readonly metadata: NamedMetaInput;
  readonly spec: ResourceClaimSpecInput;
  readonly status?: ResourceClaimStatusInput;
}

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}

export interface ResourceClaimSpecInput {
  readonly devices?: DeviceClaimInput;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
}

export interface ResourceClaimStatusInput {
  readonly allocation?: AllocationResultInput;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
}

export interface ResourceClaimTemplate {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceClaimTemplate";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateInput {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceClaimTemplate";
  readonly metadata: NamedMetaInput;
  readonly spec: ResourceClaimTemplateSpecInput;
}

export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMetaInput;
  readonly spec: ResourceClaimSpec;
}

export interface ResourceClaimTemplateSpecInput {
  readonly metadata?: ObjectMetaInput;
  readonly spec: ResourceClaimSpecInput;
}

export interface ResourcePool {
  readonly generation: number;
  readonly name: string;
  readonly resourceSliceCount: number;
}

export interface ResourceSlice {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceSlice";
  readonly metadata: ClusterObjectMeta;
  readonly spec: ResourceSliceSpec;
}

export interface ResourceSliceInput {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceSlice";
  readonly metadata: ClusterMetaInput;
  readonly spec: ResourceSliceSpecInput;
}

export interface ResourceSliceSpec {
  readonly allNodes?: boolean;
  readonly devices?: readonly Device[];
  readonly driver: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly perDeviceNodeSelection?: boolean;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSet[];
}

export interface ResourceSliceSpecInput {
  readonly allNodes?: boolean;
  readonly devices?: readonly DeviceInput[];
  readonly driver: string;
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly perDeviceNodeSelection?: boolean;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSetInput[];
}

export const DeviceClass: ResourceKind<DeviceClass, DeviceClassInput, "Cluster"> = { group: "resource.k8s.io", version: "v1", kind: "DeviceClass", plural: "deviceclasses", scope: "Cluster" };
export const ResourceClaim: ResourceKind<ResourceClaim, ResourceClaimInput, "Namespaced"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceClaim", plural: "resourceclaims", scope: "Namespaced" };
export const ResourceClaimTemplate: ResourceKind<ResourceClaimTemplate, ResourceClaimTemplateInput, "Namespaced"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates", scope: "Namespaced" };
export const ResourceSlice: ResourceKind<ResourceSlice, ResourceSliceInput, "Cluster"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceSlice", plural: "resourceslices", scope: "Cluster" };
