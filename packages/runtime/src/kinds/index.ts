/**
 * Kubernetes' own kinds by their plain names, each both a value (to address it) and the type of its objects:
 * `Deployment` reads, `DeploymentInput` writes. Only generally available versions; of two, the preferred one.
 *
 * @example
 * import { Deployment, type DeploymentInput } from "@windlass/runtime/kinds";
 */
export {
  type MutatingWebhook,
  MutatingWebhookConfiguration,
  type MutatingWebhookConfigurationInput,
  type RuleWithOperations,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingInput,
  type ValidatingAdmissionPolicyInput,
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
  type ValidatingWebhookConfigurationInput,
  type WebhookClientConfig,
} from "./generated/admissionregistration-v1.ts";
export {
  type CustomResourceColumnDefinition,
  type CustomResourceConversion,
  CustomResourceDefinition,
  type CustomResourceDefinitionInput,
  type CustomResourceDefinitionSpec,
  type CustomResourceDefinitionVersion,
  type JSONSchemaProps,
} from "./generated/apiextensions-v1.ts";
export { APIService, type APIServiceInput } from "./generated/apiregistration-v1.ts";
export {
  ControllerRevision,
  type ControllerRevisionInput,
  DaemonSet,
  type DaemonSetInput,
  type DaemonSetSpec,
  Deployment,
  type DeploymentCondition,
  type DeploymentInput,
  type DeploymentSpec,
  type DeploymentStatus,
  type DeploymentStrategy,
  ReplicaSet,
  type ReplicaSetInput,
  StatefulSet,
  type StatefulSetInput,
  type StatefulSetSpec,
} from "./generated/apps-v1.ts";
export {
  SelfSubjectReview,
  type SelfSubjectReviewInput,
  TokenReview,
  type TokenReviewInput,
} from "./generated/authentication-v1.ts";
export {
  LocalSubjectAccessReview,
  type LocalSubjectAccessReviewInput,
  SelfSubjectAccessReview,
  type SelfSubjectAccessReviewInput,
  SelfSubjectRulesReview,
  type SelfSubjectRulesReviewInput,
  SubjectAccessReview,
  type SubjectAccessReviewInput,
} from "./generated/authorization-v1.ts";
export {
  HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerBehavior,
  type HorizontalPodAutoscalerInput,
  type HorizontalPodAutoscalerSpec,
  type MetricSpec,
} from "./generated/autoscaling-v2.ts";
export {
  CronJob,
  type CronJobInput,
  type CronJobSpec,
  Job,
  type JobInput,
  type JobSpec,
  type JobTemplateSpec,
} from "./generated/batch-v1.ts";
export {
  CertificateSigningRequest,
  type CertificateSigningRequestInput,
} from "./generated/certificates-v1.ts";
export { Lease, type LeaseInput, type LeaseSpec } from "./generated/coordination-v1.ts";
export {
  type Affinity,
  Binding,
  type BindingInput,
  ComponentStatus,
  type ComponentStatusInput,
  ConfigMap,
  type ConfigMapInput,
  type Container,
  type ContainerPort,
  type ContainerStatus,
  Endpoints,
  type EndpointsInput,
  type EnvFromSource,
  type EnvVar,
  type EnvVarSource,
  Event,
  type EventInput,
  LimitRange,
  type LimitRangeInput,
  type LocalObjectReference,
  Namespace,
  type NamespaceInput,
  Node,
  type NodeInput,
  type ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeInput,
  Pod,
  type PodCondition,
  type PodInput,
  type PodSecurityContext,
  type PodSpec,
  type PodStatus,
  PodTemplate,
  type PodTemplateInput,
  type PodTemplateSpec,
  type Probe,
  ReplicationController,
  type ReplicationControllerInput,
  ResourceQuota,
  type ResourceQuotaInput,
  type ResourceRequirements,
  Secret,
  type SecretInput,
  type SecretKeySelector,
  type SecurityContext,
  Service,
  ServiceAccount,
  type ServiceAccountInput,
  type ServiceInput,
  type ServicePort,
  type ServiceSpec,
  type Taint,
  type Toleration,
  type TopologySpreadConstraint,
  type Volume,
  type VolumeMount,
} from "./generated/core-v1.ts";
export {
  type Endpoint,
  type EndpointPort,
  EndpointSlice,
  type EndpointSliceInput,
} from "./generated/discovery-v1.ts";
export { Event as EventV1, type EventInput as EventV1Input } from "./generated/events-v1.ts";
export {
  FlowSchema,
  type FlowSchemaInput,
  PriorityLevelConfiguration,
  type PriorityLevelConfigurationInput,
} from "./generated/flowcontrol-v1.ts";
export type { LabelSelector, LabelSelectorRequirement } from "./generated/meta-v1.ts";
export {
  Ingress,
  IngressClass,
  type IngressClassInput,
  type IngressInput,
  type IngressRule,
  type IngressSpec,
  type IngressTLS,
  IPAddress,
  type IPAddressInput,
  NetworkPolicy,
  type NetworkPolicyInput,
  type NetworkPolicyPeer,
  type NetworkPolicySpec,
  ServiceCIDR,
  type ServiceCIDRInput,
} from "./generated/networking-v1.ts";
export { RuntimeClass, type RuntimeClassInput } from "./generated/node-v1.ts";
export {
  PodDisruptionBudget,
  type PodDisruptionBudgetInput,
  type PodDisruptionBudgetSpec,
} from "./generated/policy-v1.ts";
export {
  ClusterRole,
  ClusterRoleBinding,
  type ClusterRoleBindingInput,
  type ClusterRoleInput,
  type PolicyRule,
  Role,
  RoleBinding,
  type RoleBindingInput,
  type RoleInput,
  type RoleRef,
  type Subject,
} from "./generated/rbac-v1.ts";
export {
  DeviceClass,
  type DeviceClassInput,
  ResourceClaim,
  type ResourceClaimInput,
  ResourceClaimTemplate,
  type ResourceClaimTemplateInput,
  ResourceSlice,
  type ResourceSliceInput,
} from "./generated/resource-v1.ts";
export { PriorityClass, type PriorityClassInput } from "./generated/scheduling-v1.ts";
export {
  CSIDriver,
  type CSIDriverInput,
  CSINode,
  type CSINodeInput,
  CSIStorageCapacity,
  type CSIStorageCapacityInput,
  StorageClass,
  type StorageClassInput,
  VolumeAttachment,
  type VolumeAttachmentInput,
  VolumeAttributesClass,
  type VolumeAttributesClassInput,
} from "./generated/storage-v1.ts";
