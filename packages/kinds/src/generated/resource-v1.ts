// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { NodeSelector, NodeSelectorInput } from "./core-v1.ts";
import type { Condition, ConditionInput } from "./meta-v1.ts";

export interface AllocatedDeviceStatus {
  readonly conditions?: readonly Condition[] | null;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceData;
  readonly pool: string;
  readonly shareID?: string;
}

export interface AllocatedDeviceStatusInput {
  readonly conditions?: readonly ConditionInput[] | null | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly device: string;
  readonly driver: string;
  readonly networkData?: NetworkDeviceDataInput | undefined;
  readonly pool: string;
  readonly shareID?: string | undefined;
}

export interface AllocationResult {
  readonly allocationTimestamp?: string;
  readonly devices?: DeviceAllocationResult;
  readonly nodeSelector?: NodeSelector;
}

export interface AllocationResultInput {
  readonly allocationTimestamp?: string | undefined;
  readonly devices?: DeviceAllocationResultInput | undefined;
  readonly nodeSelector?: NodeSelectorInput | undefined;
}

export interface CELDeviceSelector {
  readonly expression: string;
}

export interface CapacityRequestPolicy {
  readonly default?: string | null;
  readonly validRange?: CapacityRequestPolicyRange;
  readonly validValues?: readonly string[];
}

export interface CapacityRequestPolicyInput {
  readonly default?: number | string | null | undefined;
  readonly validRange?: CapacityRequestPolicyRangeInput | undefined;
  readonly validValues?: readonly (number | string)[] | undefined;
}

export interface CapacityRequestPolicyRange {
  readonly max?: string;
  readonly min: string;
  readonly step?: string;
}

export interface CapacityRequestPolicyRangeInput {
  readonly max?: number | string | undefined;
  readonly min: number | string;
  readonly step?: number | string | undefined;
}

export interface CapacityRequirements {
  readonly requests?: Readonly<Record<string, string>>;
}

export interface CapacityRequirementsInput {
  readonly requests?: Readonly<Record<string, number | string>> | undefined;
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
  readonly allNodes?: boolean | undefined;
  readonly allowMultipleAllocations?: boolean | undefined;
  readonly attributes?: Readonly<Record<string, DeviceAttributeInput>> | undefined;
  readonly bindingConditions?: readonly string[] | undefined;
  readonly bindingFailureConditions?: readonly string[] | undefined;
  readonly bindsToNode?: boolean | undefined;
  readonly capacity?: Readonly<Record<string, DeviceCapacityInput>> | undefined;
  readonly consumesCounters?: readonly DeviceCounterConsumptionInput[] | undefined;
  readonly name: string;
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: NodeSelectorInput | undefined;
  readonly taints?: readonly DeviceTaintInput[] | undefined;
}

export interface DeviceAllocationConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
  readonly source: "FromClaim" | "FromClass";
}

export interface DeviceAllocationConfigurationInput {
  readonly opaque?: OpaqueDeviceConfiguration | undefined;
  readonly requests?: readonly string[] | undefined;
  readonly source: "FromClaim" | "FromClass";
}

export interface DeviceAllocationResult {
  readonly config?: readonly DeviceAllocationConfiguration[];
  readonly results?: readonly DeviceRequestAllocationResult[];
}

export interface DeviceAllocationResultInput {
  readonly config?: readonly DeviceAllocationConfigurationInput[] | undefined;
  readonly results?: readonly DeviceRequestAllocationResultInput[] | undefined;
}

export interface DeviceAttribute {
  readonly bool?: boolean;
  readonly int?: number;
  readonly string?: string;
  readonly version?: string;
}

export interface DeviceAttributeInput {
  readonly bool?: boolean | undefined;
  readonly int?: number | undefined;
  readonly string?: string | undefined;
  readonly version?: string | undefined;
}

export interface DeviceCapacity {
  readonly requestPolicy?: CapacityRequestPolicy;
  readonly value: string;
}

export interface DeviceCapacityInput {
  readonly requestPolicy?: CapacityRequestPolicyInput | undefined;
  readonly value: number | string;
}

export interface DeviceClaim {
  readonly config?: readonly DeviceClaimConfiguration[];
  readonly constraints?: readonly DeviceConstraint[];
  readonly requests?: readonly DeviceRequest[] | null;
}

export interface DeviceClaimInput {
  readonly config?: readonly DeviceClaimConfigurationInput[] | undefined;
  readonly constraints?: readonly DeviceConstraintInput[] | undefined;
  readonly requests?: readonly DeviceRequestInput[] | null | undefined;
}

export interface DeviceClaimConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
  readonly requests?: readonly string[];
}

export interface DeviceClaimConfigurationInput {
  readonly opaque?: OpaqueDeviceConfiguration | undefined;
  readonly requests?: readonly string[] | undefined;
}

export interface DeviceClass {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "DeviceClass";
  readonly metadata: ClusterObjectMeta;
  readonly spec: DeviceClassSpec;
}

export interface DeviceClassInput {
  readonly apiVersion?: "resource.k8s.io/v1" | undefined;
  readonly kind?: "DeviceClass" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec: DeviceClassSpecInput;
}

export interface DeviceClassConfiguration {
  readonly opaque?: OpaqueDeviceConfiguration;
}

export interface DeviceClassConfigurationInput {
  readonly opaque?: OpaqueDeviceConfiguration | undefined;
}

export interface DeviceClassSpec {
  readonly config?: readonly DeviceClassConfiguration[];
  readonly extendedResourceName?: string;
  readonly selectors?: readonly DeviceSelector[];
}

export interface DeviceClassSpecInput {
  readonly config?: readonly DeviceClassConfigurationInput[] | undefined;
  readonly extendedResourceName?: string | undefined;
  readonly selectors?: readonly DeviceSelectorInput[] | undefined;
}

export interface DeviceConstraint {
  readonly distinctAttribute?: string;
  readonly matchAttribute?: string;
  readonly requests?: readonly string[];
}

export interface DeviceConstraintInput {
  readonly distinctAttribute?: string | undefined;
  readonly matchAttribute?: string | undefined;
  readonly requests?: readonly string[] | undefined;
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
  readonly exactly?: ExactDeviceRequestInput | undefined;
  readonly firstAvailable?: readonly DeviceSubRequestInput[] | undefined;
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
  readonly adminAccess?: boolean | undefined;
  readonly bindingConditions?: readonly string[] | undefined;
  readonly bindingFailureConditions?: readonly string[] | undefined;
  readonly consumedCapacity?: Readonly<Record<string, number | string>> | undefined;
  readonly device: string;
  readonly driver: string;
  readonly pool: string;
  readonly request: string;
  readonly shareID?: string | undefined;
  readonly tolerations?: readonly DeviceTolerationInput[] | undefined;
}

export interface DeviceSelector {
  readonly cel?: CELDeviceSelector;
}

export interface DeviceSelectorInput {
  readonly cel?: CELDeviceSelector | undefined;
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
  readonly allocationMode?: "All" | "ExactCount" | undefined;
  readonly capacity?: CapacityRequirementsInput | undefined;
  readonly count?: number | undefined;
  readonly deviceClassName: string;
  readonly name: string;
  readonly selectors?: readonly DeviceSelectorInput[] | undefined;
  readonly tolerations?: readonly DeviceTolerationInput[] | undefined;
}

export interface DeviceTaint {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
}

export interface DeviceTaintInput {
  readonly effect: "NoExecute" | "NoSchedule" | "None";
  readonly key: string;
  readonly timeAdded?: string | undefined;
  readonly value?: string | undefined;
}

export interface DeviceToleration {
  readonly effect?: "NoExecute" | "NoSchedule" | "None";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists";
  readonly tolerationSeconds?: number;
  readonly value?: string;
}

export interface DeviceTolerationInput {
  readonly effect?: "NoExecute" | "NoSchedule" | "None" | undefined;
  readonly key?: string | undefined;
  readonly operator?: "Equal" | "Exists" | undefined;
  readonly tolerationSeconds?: number | undefined;
  readonly value?: string | undefined;
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
  readonly adminAccess?: boolean | undefined;
  readonly allocationMode?: "All" | "ExactCount" | undefined;
  readonly capacity?: CapacityRequirementsInput | undefined;
  readonly count?: number | undefined;
  readonly deviceClassName: string;
  readonly selectors?: readonly DeviceSelectorInput[] | undefined;
  readonly tolerations?: readonly DeviceTolerationInput[] | undefined;
}

export interface NetworkDeviceData {
  readonly hardwareAddress?: string;
  readonly interfaceName?: string;
  readonly ips?: readonly string[];
}

export interface NetworkDeviceDataInput {
  readonly hardwareAddress?: string | undefined;
  readonly interfaceName?: string | undefined;
  readonly ips?: readonly string[] | undefined;
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
  readonly apiVersion?: "resource.k8s.io/v1" | undefined;
  readonly kind?: "ResourceClaim" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: ResourceClaimSpecInput;
  readonly status?: ResourceClaimStatusInput | undefined;
}

export interface ResourceClaimConsumerReference {
  readonly apiGroup?: string;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
}

export interface ResourceClaimConsumerReferenceInput {
  readonly apiGroup?: string | undefined;
  readonly name: string;
  readonly resource: string;
  readonly uid: string;
}

export interface ResourceClaimSpec {
  readonly devices?: DeviceClaim;
}

export interface ResourceClaimSpecInput {
  readonly devices?: DeviceClaimInput | undefined;
}

export interface ResourceClaimStatus {
  readonly allocation?: AllocationResult;
  readonly devices?: readonly AllocatedDeviceStatus[];
  readonly reservedFor?: readonly ResourceClaimConsumerReference[];
}

export interface ResourceClaimStatusInput {
  readonly allocation?: AllocationResultInput | undefined;
  readonly devices?: readonly AllocatedDeviceStatusInput[] | undefined;
  readonly reservedFor?: readonly ResourceClaimConsumerReferenceInput[] | undefined;
}

export interface ResourceClaimTemplate {
  readonly apiVersion?: "resource.k8s.io/v1";
  readonly kind?: "ResourceClaimTemplate";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ResourceClaimTemplateSpec;
}

export interface ResourceClaimTemplateInput {
  readonly apiVersion?: "resource.k8s.io/v1" | undefined;
  readonly kind?: "ResourceClaimTemplate" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: ResourceClaimTemplateSpecInput;
}

export interface ResourceClaimTemplateSpec {
  readonly metadata?: ObjectMetaInput;
  readonly spec: ResourceClaimSpec;
}

export interface ResourceClaimTemplateSpecInput {
  readonly metadata?: ObjectMetaInput | undefined;
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
  readonly apiVersion?: "resource.k8s.io/v1" | undefined;
  readonly kind?: "ResourceSlice" | undefined;
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
  readonly allNodes?: boolean | undefined;
  readonly devices?: readonly DeviceInput[] | undefined;
  readonly driver: string;
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: NodeSelectorInput | undefined;
  readonly perDeviceNodeSelection?: boolean | undefined;
  readonly pool: ResourcePool;
  readonly sharedCounters?: readonly CounterSetInput[] | undefined;
}

export const DeviceClass: ResourceKind<DeviceClass, DeviceClassInput, "Cluster"> = { group: "resource.k8s.io", version: "v1", kind: "DeviceClass", plural: "deviceclasses", scope: "Cluster" };
export const ResourceClaim: ResourceKind<ResourceClaim, ResourceClaimInput, "Namespaced"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceClaim", plural: "resourceclaims", scope: "Namespaced" };
export const ResourceClaimTemplate: ResourceKind<ResourceClaimTemplate, ResourceClaimTemplateInput, "Namespaced"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates", scope: "Namespaced" };
export const ResourceSlice: ResourceKind<ResourceSlice, ResourceSliceInput, "Cluster"> = { group: "resource.k8s.io", version: "v1", kind: "ResourceSlice", plural: "resourceslices", scope: "Cluster" };
