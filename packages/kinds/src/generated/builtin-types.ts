// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ManagedFieldsEntry, ObjectMetaInput, OwnerReference } from "../object.ts";
import type * as admissionregistrationv1 from "./admissionregistration-v1.ts";
import type * as apiextensionsv1 from "./apiextensions-v1.ts";
import type * as apiregistrationv1 from "./apiregistration-v1.ts";
import type * as appsv1 from "./apps-v1.ts";
import type * as authenticationv1 from "./authentication-v1.ts";
import type * as authorizationv1 from "./authorization-v1.ts";
import type * as autoscalingv1 from "./autoscaling-v1.ts";
import type * as autoscalingv2 from "./autoscaling-v2.ts";
import type * as batchv1 from "./batch-v1.ts";
import type * as certificatesv1 from "./certificates-v1.ts";
import type * as coordinationv1 from "./coordination-v1.ts";
import type * as corev1 from "./core-v1.ts";
import type * as discoveryv1 from "./discovery-v1.ts";
import type * as eventsv1 from "./events-v1.ts";
import type * as flowcontrolv1 from "./flowcontrol-v1.ts";
import type * as metav1 from "./meta-v1.ts";
import type * as networkingv1 from "./networking-v1.ts";
import type * as nodev1 from "./node-v1.ts";
import type * as policyv1 from "./policy-v1.ts";
import type * as rbacv1 from "./rbac-v1.ts";
import type * as resourcev1 from "./resource-v1.ts";
import type * as schedulingv1 from "./scheduling-v1.ts";
import type * as storagev1 from "./storage-v1.ts";

/** Kubernetes' own types as one writes them, by the names that Go programs use. */
export interface BuiltinTypes {
  readonly "admissionregistrationv1.AuditAnnotation": admissionregistrationv1.AuditAnnotation;
  readonly "admissionregistrationv1.ExpressionWarning": admissionregistrationv1.ExpressionWarning;
  readonly "admissionregistrationv1.MatchCondition": admissionregistrationv1.MatchCondition;
  readonly "admissionregistrationv1.MatchResources": admissionregistrationv1.MatchResourcesInput;
  readonly "admissionregistrationv1.MutatingWebhook": admissionregistrationv1.MutatingWebhookInput;
  readonly "admissionregistrationv1.MutatingWebhookConfiguration": admissionregistrationv1.MutatingWebhookConfigurationInput;
  readonly "admissionregistrationv1.NamedRuleWithOperations": admissionregistrationv1.NamedRuleWithOperationsInput;
  readonly "admissionregistrationv1.ParamKind": admissionregistrationv1.ParamKindInput;
  readonly "admissionregistrationv1.ParamRef": admissionregistrationv1.ParamRefInput;
  readonly "admissionregistrationv1.RuleWithOperations": admissionregistrationv1.RuleWithOperationsInput;
  readonly "admissionregistrationv1.ServiceReference": admissionregistrationv1.ServiceReferenceInput;
  readonly "admissionregistrationv1.TypeChecking": admissionregistrationv1.TypeCheckingInput;
  readonly "admissionregistrationv1.ValidatingAdmissionPolicy": admissionregistrationv1.ValidatingAdmissionPolicyInput;
  readonly "admissionregistrationv1.ValidatingAdmissionPolicyBinding": admissionregistrationv1.ValidatingAdmissionPolicyBindingInput;
  readonly "admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec": admissionregistrationv1.ValidatingAdmissionPolicyBindingSpecInput;
  readonly "admissionregistrationv1.ValidatingAdmissionPolicySpec": admissionregistrationv1.ValidatingAdmissionPolicySpecInput;
  readonly "admissionregistrationv1.ValidatingAdmissionPolicyStatus": admissionregistrationv1.ValidatingAdmissionPolicyStatusInput;
  readonly "admissionregistrationv1.ValidatingWebhook": admissionregistrationv1.ValidatingWebhookInput;
  readonly "admissionregistrationv1.ValidatingWebhookConfiguration": admissionregistrationv1.ValidatingWebhookConfigurationInput;
  readonly "admissionregistrationv1.Validation": admissionregistrationv1.ValidationInput;
  readonly "admissionregistrationv1.Variable": admissionregistrationv1.Variable;
  readonly "admissionregistrationv1.WebhookClientConfig": admissionregistrationv1.WebhookClientConfigInput;
  readonly "appsv1.ControllerRevision": appsv1.ControllerRevisionInput;
  readonly "appsv1.DaemonSet": appsv1.DaemonSetInput;
  readonly "appsv1.DaemonSetCondition": appsv1.DaemonSetConditionInput;
  readonly "appsv1.DaemonSetSpec": appsv1.DaemonSetSpecInput;
  readonly "appsv1.DaemonSetStatus": appsv1.DaemonSetStatusInput;
  readonly "appsv1.DaemonSetUpdateStrategy": appsv1.DaemonSetUpdateStrategyInput;
  readonly "appsv1.Deployment": appsv1.DeploymentInput;
  readonly "appsv1.DeploymentCondition": appsv1.DeploymentConditionInput;
  readonly "appsv1.DeploymentSpec": appsv1.DeploymentSpecInput;
  readonly "appsv1.DeploymentStatus": appsv1.DeploymentStatusInput;
  readonly "appsv1.DeploymentStrategy": appsv1.DeploymentStrategyInput;
  readonly "appsv1.ReplicaSet": appsv1.ReplicaSetInput;
  readonly "appsv1.ReplicaSetCondition": appsv1.ReplicaSetConditionInput;
  readonly "appsv1.ReplicaSetSpec": appsv1.ReplicaSetSpecInput;
  readonly "appsv1.ReplicaSetStatus": appsv1.ReplicaSetStatusInput;
  readonly "appsv1.RollingUpdateDaemonSet": appsv1.RollingUpdateDaemonSetInput;
  readonly "appsv1.RollingUpdateDeployment": appsv1.RollingUpdateDeploymentInput;
  readonly "appsv1.RollingUpdateStatefulSetStrategy": appsv1.RollingUpdateStatefulSetStrategyInput;
  readonly "appsv1.StatefulSet": appsv1.StatefulSetInput;
  readonly "appsv1.StatefulSetCondition": appsv1.StatefulSetConditionInput;
  readonly "appsv1.StatefulSetOrdinals": appsv1.StatefulSetOrdinalsInput;
  readonly "appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy": appsv1.StatefulSetPersistentVolumeClaimRetentionPolicyInput;
  readonly "appsv1.StatefulSetSpec": appsv1.StatefulSetSpecInput;
  readonly "appsv1.StatefulSetStatus": appsv1.StatefulSetStatusInput;
  readonly "appsv1.StatefulSetUpdateStrategy": appsv1.StatefulSetUpdateStrategyInput;
  readonly "authenticationv1.SelfSubjectReview": authenticationv1.SelfSubjectReviewInput;
  readonly "authenticationv1.SelfSubjectReviewStatus": authenticationv1.SelfSubjectReviewStatusInput;
  readonly "authenticationv1.TokenReview": authenticationv1.TokenReviewInput;
  readonly "authenticationv1.TokenReviewSpec": authenticationv1.TokenReviewSpecInput;
  readonly "authenticationv1.TokenReviewStatus": authenticationv1.TokenReviewStatusInput;
  readonly "authenticationv1.UserInfo": authenticationv1.UserInfoInput;
  readonly "authorizationv1.FieldSelectorAttributes": authorizationv1.FieldSelectorAttributesInput;
  readonly "authorizationv1.LabelSelectorAttributes": authorizationv1.LabelSelectorAttributesInput;
  readonly "authorizationv1.LocalSubjectAccessReview": authorizationv1.LocalSubjectAccessReviewInput;
  readonly "authorizationv1.NonResourceAttributes": authorizationv1.NonResourceAttributesInput;
  readonly "authorizationv1.NonResourceRule": authorizationv1.NonResourceRuleInput;
  readonly "authorizationv1.ResourceAttributes": authorizationv1.ResourceAttributesInput;
  readonly "authorizationv1.ResourceRule": authorizationv1.ResourceRuleInput;
  readonly "authorizationv1.SelfSubjectAccessReview": authorizationv1.SelfSubjectAccessReviewInput;
  readonly "authorizationv1.SelfSubjectAccessReviewSpec": authorizationv1.SelfSubjectAccessReviewSpecInput;
  readonly "authorizationv1.SelfSubjectRulesReview": authorizationv1.SelfSubjectRulesReviewInput;
  readonly "authorizationv1.SelfSubjectRulesReviewSpec": authorizationv1.SelfSubjectRulesReviewSpecInput;
  readonly "authorizationv1.SubjectAccessReview": authorizationv1.SubjectAccessReviewInput;
  readonly "authorizationv1.SubjectAccessReviewSpec": authorizationv1.SubjectAccessReviewSpecInput;
  readonly "authorizationv1.SubjectAccessReviewStatus": authorizationv1.SubjectAccessReviewStatusInput;
  readonly "authorizationv1.SubjectRulesReviewStatus": authorizationv1.SubjectRulesReviewStatusInput;
  readonly "autoscalingv1.CrossVersionObjectReference": autoscalingv1.CrossVersionObjectReferenceInput;
  readonly "autoscalingv1.HorizontalPodAutoscaler": autoscalingv1.HorizontalPodAutoscalerInput;
  readonly "autoscalingv1.HorizontalPodAutoscalerSpec": autoscalingv1.HorizontalPodAutoscalerSpecInput;
  readonly "autoscalingv1.HorizontalPodAutoscalerStatus": autoscalingv1.HorizontalPodAutoscalerStatusInput;
  readonly "autoscalingv2.ContainerResourceMetricSource": autoscalingv2.ContainerResourceMetricSourceInput;
  readonly "autoscalingv2.ContainerResourceMetricStatus": autoscalingv2.ContainerResourceMetricStatusInput;
  readonly "autoscalingv2.CrossVersionObjectReference": autoscalingv2.CrossVersionObjectReferenceInput;
  readonly "autoscalingv2.ExternalMetricSource": autoscalingv2.ExternalMetricSourceInput;
  readonly "autoscalingv2.ExternalMetricStatus": autoscalingv2.ExternalMetricStatusInput;
  readonly "autoscalingv2.HPAScalingPolicy": autoscalingv2.HPAScalingPolicy;
  readonly "autoscalingv2.HPAScalingRules": autoscalingv2.HPAScalingRulesInput;
  readonly "autoscalingv2.HorizontalPodAutoscaler": autoscalingv2.HorizontalPodAutoscalerInput;
  readonly "autoscalingv2.HorizontalPodAutoscalerBehavior": autoscalingv2.HorizontalPodAutoscalerBehaviorInput;
  readonly "autoscalingv2.HorizontalPodAutoscalerCondition": autoscalingv2.HorizontalPodAutoscalerConditionInput;
  readonly "autoscalingv2.HorizontalPodAutoscalerSpec": autoscalingv2.HorizontalPodAutoscalerSpecInput;
  readonly "autoscalingv2.HorizontalPodAutoscalerStatus": autoscalingv2.HorizontalPodAutoscalerStatusInput;
  readonly "autoscalingv2.MetricIdentifier": autoscalingv2.MetricIdentifierInput;
  readonly "autoscalingv2.MetricSpec": autoscalingv2.MetricSpecInput;
  readonly "autoscalingv2.MetricStatus": autoscalingv2.MetricStatusInput;
  readonly "autoscalingv2.MetricTarget": autoscalingv2.MetricTargetInput;
  readonly "autoscalingv2.MetricValueStatus": autoscalingv2.MetricValueStatusInput;
  readonly "autoscalingv2.ObjectMetricSource": autoscalingv2.ObjectMetricSourceInput;
  readonly "autoscalingv2.ObjectMetricStatus": autoscalingv2.ObjectMetricStatusInput;
  readonly "autoscalingv2.PodsMetricSource": autoscalingv2.PodsMetricSourceInput;
  readonly "autoscalingv2.PodsMetricStatus": autoscalingv2.PodsMetricStatusInput;
  readonly "autoscalingv2.ResourceMetricSource": autoscalingv2.ResourceMetricSourceInput;
  readonly "autoscalingv2.ResourceMetricStatus": autoscalingv2.ResourceMetricStatusInput;
  readonly "batchv1.CronJob": batchv1.CronJobInput;
  readonly "batchv1.CronJobSpec": batchv1.CronJobSpecInput;
  readonly "batchv1.CronJobStatus": batchv1.CronJobStatusInput;
  readonly "batchv1.Job": batchv1.JobInput;
  readonly "batchv1.JobCondition": batchv1.JobConditionInput;
  readonly "batchv1.JobSpec": batchv1.JobSpecInput;
  readonly "batchv1.JobStatus": batchv1.JobStatusInput;
  readonly "batchv1.JobTemplateSpec": batchv1.JobTemplateSpecInput;
  readonly "batchv1.PodFailurePolicy": batchv1.PodFailurePolicyInput;
  readonly "batchv1.PodFailurePolicyOnExitCodesRequirement": batchv1.PodFailurePolicyOnExitCodesRequirementInput;
  readonly "batchv1.PodFailurePolicyOnPodConditionsPattern": batchv1.PodFailurePolicyOnPodConditionsPatternInput;
  readonly "batchv1.PodFailurePolicyRule": batchv1.PodFailurePolicyRuleInput;
  readonly "batchv1.SuccessPolicy": batchv1.SuccessPolicyInput;
  readonly "batchv1.SuccessPolicyRule": batchv1.SuccessPolicyRuleInput;
  readonly "batchv1.UncountedTerminatedPods": batchv1.UncountedTerminatedPodsInput;
  readonly "certificatesv1.CertificateSigningRequest": certificatesv1.CertificateSigningRequestInput;
  readonly "certificatesv1.CertificateSigningRequestCondition": certificatesv1.CertificateSigningRequestConditionInput;
  readonly "certificatesv1.CertificateSigningRequestSpec": certificatesv1.CertificateSigningRequestSpecInput;
  readonly "certificatesv1.CertificateSigningRequestStatus": certificatesv1.CertificateSigningRequestStatusInput;
  readonly "coordinationv1.Lease": coordinationv1.LeaseInput;
  readonly "coordinationv1.LeaseSpec": coordinationv1.LeaseSpecInput;
  readonly "corev1.AWSElasticBlockStoreVolumeSource": corev1.AWSElasticBlockStoreVolumeSourceInput;
  readonly "corev1.Affinity": corev1.AffinityInput;
  readonly "corev1.AppArmorProfile": corev1.AppArmorProfileInput;
  readonly "corev1.AttachedVolume": corev1.AttachedVolume;
  readonly "corev1.AzureDiskVolumeSource": corev1.AzureDiskVolumeSourceInput;
  readonly "corev1.AzureFilePersistentVolumeSource": corev1.AzureFilePersistentVolumeSourceInput;
  readonly "corev1.AzureFileVolumeSource": corev1.AzureFileVolumeSourceInput;
  readonly "corev1.Binding": corev1.BindingInput;
  readonly "corev1.CSIPersistentVolumeSource": corev1.CSIPersistentVolumeSourceInput;
  readonly "corev1.CSIVolumeSource": corev1.CSIVolumeSourceInput;
  readonly "corev1.Capabilities": corev1.CapabilitiesInput;
  readonly "corev1.CephFSPersistentVolumeSource": corev1.CephFSPersistentVolumeSourceInput;
  readonly "corev1.CephFSVolumeSource": corev1.CephFSVolumeSourceInput;
  readonly "corev1.CinderPersistentVolumeSource": corev1.CinderPersistentVolumeSourceInput;
  readonly "corev1.CinderVolumeSource": corev1.CinderVolumeSourceInput;
  readonly "corev1.ClientIPConfig": corev1.ClientIPConfigInput;
  readonly "corev1.ClusterTrustBundleProjection": corev1.ClusterTrustBundleProjectionInput;
  readonly "corev1.ComponentCondition": corev1.ComponentConditionInput;
  readonly "corev1.ComponentStatus": corev1.ComponentStatusInput;
  readonly "corev1.ConfigMap": corev1.ConfigMapInput;
  readonly "corev1.ConfigMapEnvSource": corev1.ConfigMapEnvSourceInput;
  readonly "corev1.ConfigMapKeySelector": corev1.ConfigMapKeySelectorInput;
  readonly "corev1.ConfigMapNodeConfigSource": corev1.ConfigMapNodeConfigSourceInput;
  readonly "corev1.ConfigMapProjection": corev1.ConfigMapProjectionInput;
  readonly "corev1.ConfigMapVolumeSource": corev1.ConfigMapVolumeSourceInput;
  readonly "corev1.Container": corev1.ContainerInput;
  readonly "corev1.ContainerExtendedResourceRequest": corev1.ContainerExtendedResourceRequest;
  readonly "corev1.ContainerImage": corev1.ContainerImageInput;
  readonly "corev1.ContainerPort": corev1.ContainerPortInput;
  readonly "corev1.ContainerResizePolicy": corev1.ContainerResizePolicy;
  readonly "corev1.ContainerRestartRule": corev1.ContainerRestartRuleInput;
  readonly "corev1.ContainerRestartRuleOnExitCodes": corev1.ContainerRestartRuleOnExitCodesInput;
  readonly "corev1.ContainerState": corev1.ContainerStateInput;
  readonly "corev1.ContainerStateRunning": corev1.ContainerStateRunningInput;
  readonly "corev1.ContainerStateTerminated": corev1.ContainerStateTerminatedInput;
  readonly "corev1.ContainerStateWaiting": corev1.ContainerStateWaitingInput;
  readonly "corev1.ContainerStatus": corev1.ContainerStatusInput;
  readonly "corev1.ContainerUser": corev1.ContainerUserInput;
  readonly "corev1.DaemonEndpoint": corev1.DaemonEndpoint;
  readonly "corev1.DownwardAPIProjection": corev1.DownwardAPIProjectionInput;
  readonly "corev1.DownwardAPIVolumeFile": corev1.DownwardAPIVolumeFileInput;
  readonly "corev1.DownwardAPIVolumeSource": corev1.DownwardAPIVolumeSourceInput;
  readonly "corev1.EmptyDirVolumeSource": corev1.EmptyDirVolumeSourceInput;
  readonly "corev1.EndpointAddress": corev1.EndpointAddressInput;
  readonly "corev1.EndpointPort": corev1.EndpointPortInput;
  readonly "corev1.EndpointSubset": corev1.EndpointSubsetInput;
  readonly "corev1.Endpoints": corev1.EndpointsInput;
  readonly "corev1.EnvFromSource": corev1.EnvFromSourceInput;
  readonly "corev1.EnvVar": corev1.EnvVarInput;
  readonly "corev1.EnvVarSource": corev1.EnvVarSourceInput;
  readonly "corev1.EphemeralContainer": corev1.EphemeralContainerInput;
  readonly "corev1.EphemeralVolumeSource": corev1.EphemeralVolumeSourceInput;
  readonly "corev1.Event": corev1.EventInput;
  readonly "corev1.EventSeries": corev1.EventSeriesInput;
  readonly "corev1.EventSource": corev1.EventSourceInput;
  readonly "corev1.ExecAction": corev1.ExecActionInput;
  readonly "corev1.FCVolumeSource": corev1.FCVolumeSourceInput;
  readonly "corev1.FileKeySelector": corev1.FileKeySelectorInput;
  readonly "corev1.FlexPersistentVolumeSource": corev1.FlexPersistentVolumeSourceInput;
  readonly "corev1.FlexVolumeSource": corev1.FlexVolumeSourceInput;
  readonly "corev1.FlockerVolumeSource": corev1.FlockerVolumeSourceInput;
  readonly "corev1.GCEPersistentDiskVolumeSource": corev1.GCEPersistentDiskVolumeSourceInput;
  readonly "corev1.GRPCAction": corev1.GRPCActionInput;
  readonly "corev1.GitRepoVolumeSource": corev1.GitRepoVolumeSourceInput;
  readonly "corev1.GlusterfsPersistentVolumeSource": corev1.GlusterfsPersistentVolumeSourceInput;
  readonly "corev1.GlusterfsVolumeSource": corev1.GlusterfsVolumeSourceInput;
  readonly "corev1.HTTPGetAction": corev1.HTTPGetActionInput;
  readonly "corev1.HTTPHeader": corev1.HTTPHeader;
  readonly "corev1.HostAlias": corev1.HostAliasInput;
  readonly "corev1.HostIP": corev1.HostIP;
  readonly "corev1.HostPathVolumeSource": corev1.HostPathVolumeSourceInput;
  readonly "corev1.ISCSIPersistentVolumeSource": corev1.ISCSIPersistentVolumeSourceInput;
  readonly "corev1.ISCSIVolumeSource": corev1.ISCSIVolumeSourceInput;
  readonly "corev1.ImageVolumeSource": corev1.ImageVolumeSourceInput;
  readonly "corev1.KeyToPath": corev1.KeyToPathInput;
  readonly "corev1.Lifecycle": corev1.LifecycleInput;
  readonly "corev1.LifecycleHandler": corev1.LifecycleHandlerInput;
  readonly "corev1.LimitRange": corev1.LimitRangeInput;
  readonly "corev1.LimitRangeItem": corev1.LimitRangeItemInput;
  readonly "corev1.LimitRangeSpec": corev1.LimitRangeSpecInput;
  readonly "corev1.LinuxContainerUser": corev1.LinuxContainerUserInput;
  readonly "corev1.LoadBalancerIngress": corev1.LoadBalancerIngressInput;
  readonly "corev1.LoadBalancerStatus": corev1.LoadBalancerStatusInput;
  readonly "corev1.LocalObjectReference": corev1.LocalObjectReferenceInput;
  readonly "corev1.LocalVolumeSource": corev1.LocalVolumeSourceInput;
  readonly "corev1.ModifyVolumeStatus": corev1.ModifyVolumeStatusInput;
  readonly "corev1.NFSVolumeSource": corev1.NFSVolumeSourceInput;
  readonly "corev1.Namespace": corev1.NamespaceInput;
  readonly "corev1.NamespaceCondition": corev1.NamespaceConditionInput;
  readonly "corev1.NamespaceSpec": corev1.NamespaceSpecInput;
  readonly "corev1.NamespaceStatus": corev1.NamespaceStatusInput;
  readonly "corev1.Node": corev1.NodeInput;
  readonly "corev1.NodeAddress": corev1.NodeAddress;
  readonly "corev1.NodeAffinity": corev1.NodeAffinityInput;
  readonly "corev1.NodeCondition": corev1.NodeConditionInput;
  readonly "corev1.NodeConfigSource": corev1.NodeConfigSourceInput;
  readonly "corev1.NodeConfigStatus": corev1.NodeConfigStatusInput;
  readonly "corev1.NodeDaemonEndpoints": corev1.NodeDaemonEndpoints;
  readonly "corev1.NodeFeatures": corev1.NodeFeaturesInput;
  readonly "corev1.NodeRuntimeHandler": corev1.NodeRuntimeHandlerInput;
  readonly "corev1.NodeRuntimeHandlerFeatures": corev1.NodeRuntimeHandlerFeaturesInput;
  readonly "corev1.NodeSelector": corev1.NodeSelectorInput;
  readonly "corev1.NodeSelectorRequirement": corev1.NodeSelectorRequirementInput;
  readonly "corev1.NodeSelectorTerm": corev1.NodeSelectorTermInput;
  readonly "corev1.NodeSpec": corev1.NodeSpecInput;
  readonly "corev1.NodeStatus": corev1.NodeStatusInput;
  readonly "corev1.NodeSwapStatus": corev1.NodeSwapStatusInput;
  readonly "corev1.NodeSystemInfo": corev1.NodeSystemInfoInput;
  readonly "corev1.ObjectFieldSelector": corev1.ObjectFieldSelectorInput;
  readonly "corev1.ObjectReference": corev1.ObjectReferenceInput;
  readonly "corev1.PersistentVolume": corev1.PersistentVolumeInput;
  readonly "corev1.PersistentVolumeClaim": corev1.PersistentVolumeClaimInput;
  readonly "corev1.PersistentVolumeClaimCondition": corev1.PersistentVolumeClaimConditionInput;
  readonly "corev1.PersistentVolumeClaimSpec": corev1.PersistentVolumeClaimSpecInput;
  readonly "corev1.PersistentVolumeClaimStatus": corev1.PersistentVolumeClaimStatusInput;
  readonly "corev1.PersistentVolumeClaimTemplate": corev1.PersistentVolumeClaimTemplateInput;
  readonly "corev1.PersistentVolumeClaimVolumeSource": corev1.PersistentVolumeClaimVolumeSourceInput;
  readonly "corev1.PersistentVolumeSpec": corev1.PersistentVolumeSpecInput;
  readonly "corev1.PersistentVolumeStatus": corev1.PersistentVolumeStatusInput;
  readonly "corev1.PhotonPersistentDiskVolumeSource": corev1.PhotonPersistentDiskVolumeSourceInput;
  readonly "corev1.Pod": corev1.PodInput;
  readonly "corev1.PodAffinity": corev1.PodAffinityInput;
  readonly "corev1.PodAffinityTerm": corev1.PodAffinityTermInput;
  readonly "corev1.PodAntiAffinity": corev1.PodAntiAffinityInput;
  readonly "corev1.PodCertificateProjection": corev1.PodCertificateProjectionInput;
  readonly "corev1.PodCondition": corev1.PodConditionInput;
  readonly "corev1.PodDNSConfig": corev1.PodDNSConfigInput;
  readonly "corev1.PodDNSConfigOption": corev1.PodDNSConfigOptionInput;
  readonly "corev1.PodExtendedResourceClaimStatus": corev1.PodExtendedResourceClaimStatus;
  readonly "corev1.PodIP": corev1.PodIP;
  readonly "corev1.PodOS": corev1.PodOS;
  readonly "corev1.PodReadinessGate": corev1.PodReadinessGate;
  readonly "corev1.PodResourceClaim": corev1.PodResourceClaimInput;
  readonly "corev1.PodResourceClaimStatus": corev1.PodResourceClaimStatusInput;
  readonly "corev1.PodSchedulingGate": corev1.PodSchedulingGate;
  readonly "corev1.PodSecurityContext": corev1.PodSecurityContextInput;
  readonly "corev1.PodSpec": corev1.PodSpecInput;
  readonly "corev1.PodStatus": corev1.PodStatusInput;
  readonly "corev1.PodTemplate": corev1.PodTemplateInput;
  readonly "corev1.PodTemplateSpec": corev1.PodTemplateSpecInput;
  readonly "corev1.PortStatus": corev1.PortStatusInput;
  readonly "corev1.PortworxVolumeSource": corev1.PortworxVolumeSourceInput;
  readonly "corev1.PreferredSchedulingTerm": corev1.PreferredSchedulingTermInput;
  readonly "corev1.Probe": corev1.ProbeInput;
  readonly "corev1.ProjectedVolumeSource": corev1.ProjectedVolumeSourceInput;
  readonly "corev1.QuobyteVolumeSource": corev1.QuobyteVolumeSourceInput;
  readonly "corev1.RBDPersistentVolumeSource": corev1.RBDPersistentVolumeSourceInput;
  readonly "corev1.RBDVolumeSource": corev1.RBDVolumeSourceInput;
  readonly "corev1.ReplicationController": corev1.ReplicationControllerInput;
  readonly "corev1.ReplicationControllerCondition": corev1.ReplicationControllerConditionInput;
  readonly "corev1.ReplicationControllerSpec": corev1.ReplicationControllerSpecInput;
  readonly "corev1.ReplicationControllerStatus": corev1.ReplicationControllerStatusInput;
  readonly "corev1.ResourceClaim": corev1.ResourceClaimInput;
  readonly "corev1.ResourceFieldSelector": corev1.ResourceFieldSelectorInput;
  readonly "corev1.ResourceHealth": corev1.ResourceHealthInput;
  readonly "corev1.ResourceQuota": corev1.ResourceQuotaInput;
  readonly "corev1.ResourceQuotaSpec": corev1.ResourceQuotaSpecInput;
  readonly "corev1.ResourceQuotaStatus": corev1.ResourceQuotaStatusInput;
  readonly "corev1.ResourceRequirements": corev1.ResourceRequirementsInput;
  readonly "corev1.ResourceStatus": corev1.ResourceStatusInput;
  readonly "corev1.SELinuxOptions": corev1.SELinuxOptionsInput;
  readonly "corev1.ScaleIOPersistentVolumeSource": corev1.ScaleIOPersistentVolumeSourceInput;
  readonly "corev1.ScaleIOVolumeSource": corev1.ScaleIOVolumeSourceInput;
  readonly "corev1.ScopeSelector": corev1.ScopeSelectorInput;
  readonly "corev1.ScopedResourceSelectorRequirement": corev1.ScopedResourceSelectorRequirementInput;
  readonly "corev1.SeccompProfile": corev1.SeccompProfileInput;
  readonly "corev1.Secret": corev1.SecretInput;
  readonly "corev1.SecretEnvSource": corev1.SecretEnvSourceInput;
  readonly "corev1.SecretKeySelector": corev1.SecretKeySelectorInput;
  readonly "corev1.SecretProjection": corev1.SecretProjectionInput;
  readonly "corev1.SecretReference": corev1.SecretReferenceInput;
  readonly "corev1.SecretVolumeSource": corev1.SecretVolumeSourceInput;
  readonly "corev1.SecurityContext": corev1.SecurityContextInput;
  readonly "corev1.Service": corev1.ServiceInput;
  readonly "corev1.ServiceAccount": corev1.ServiceAccountInput;
  readonly "corev1.ServiceAccountTokenProjection": corev1.ServiceAccountTokenProjectionInput;
  readonly "corev1.ServicePort": corev1.ServicePortInput;
  readonly "corev1.ServiceSpec": corev1.ServiceSpecInput;
  readonly "corev1.ServiceStatus": corev1.ServiceStatusInput;
  readonly "corev1.SessionAffinityConfig": corev1.SessionAffinityConfigInput;
  readonly "corev1.SleepAction": corev1.SleepAction;
  readonly "corev1.StorageOSPersistentVolumeSource": corev1.StorageOSPersistentVolumeSourceInput;
  readonly "corev1.StorageOSVolumeSource": corev1.StorageOSVolumeSourceInput;
  readonly "corev1.Sysctl": corev1.Sysctl;
  readonly "corev1.TCPSocketAction": corev1.TCPSocketActionInput;
  readonly "corev1.Taint": corev1.TaintInput;
  readonly "corev1.Toleration": corev1.TolerationInput;
  readonly "corev1.TopologySelectorLabelRequirement": corev1.TopologySelectorLabelRequirement;
  readonly "corev1.TopologySelectorTerm": corev1.TopologySelectorTermInput;
  readonly "corev1.TopologySpreadConstraint": corev1.TopologySpreadConstraintInput;
  readonly "corev1.TypedLocalObjectReference": corev1.TypedLocalObjectReferenceInput;
  readonly "corev1.TypedObjectReference": corev1.TypedObjectReferenceInput;
  readonly "corev1.Volume": corev1.VolumeInput;
  readonly "corev1.VolumeDevice": corev1.VolumeDevice;
  readonly "corev1.VolumeMount": corev1.VolumeMountInput;
  readonly "corev1.VolumeMountStatus": corev1.VolumeMountStatusInput;
  readonly "corev1.VolumeNodeAffinity": corev1.VolumeNodeAffinityInput;
  readonly "corev1.VolumeProjection": corev1.VolumeProjectionInput;
  readonly "corev1.VolumeResourceRequirements": corev1.VolumeResourceRequirementsInput;
  readonly "corev1.VsphereVirtualDiskVolumeSource": corev1.VsphereVirtualDiskVolumeSourceInput;
  readonly "corev1.WeightedPodAffinityTerm": corev1.WeightedPodAffinityTermInput;
  readonly "corev1.WindowsSecurityContextOptions": corev1.WindowsSecurityContextOptionsInput;
  readonly "corev1.WorkloadReference": corev1.WorkloadReferenceInput;
  readonly "discoveryv1.Endpoint": discoveryv1.EndpointInput;
  readonly "discoveryv1.EndpointConditions": discoveryv1.EndpointConditionsInput;
  readonly "discoveryv1.EndpointHints": discoveryv1.EndpointHintsInput;
  readonly "discoveryv1.EndpointPort": discoveryv1.EndpointPortInput;
  readonly "discoveryv1.EndpointSlice": discoveryv1.EndpointSliceInput;
  readonly "discoveryv1.ForNode": discoveryv1.ForNode;
  readonly "discoveryv1.ForZone": discoveryv1.ForZone;
  readonly "eventsv1.Event": eventsv1.EventInput;
  readonly "eventsv1.EventSeries": eventsv1.EventSeries;
  readonly "flowcontrolv1.ExemptPriorityLevelConfiguration": flowcontrolv1.ExemptPriorityLevelConfigurationInput;
  readonly "flowcontrolv1.FlowDistinguisherMethod": flowcontrolv1.FlowDistinguisherMethod;
  readonly "flowcontrolv1.FlowSchema": flowcontrolv1.FlowSchemaInput;
  readonly "flowcontrolv1.FlowSchemaCondition": flowcontrolv1.FlowSchemaConditionInput;
  readonly "flowcontrolv1.FlowSchemaSpec": flowcontrolv1.FlowSchemaSpecInput;
  readonly "flowcontrolv1.FlowSchemaStatus": flowcontrolv1.FlowSchemaStatusInput;
  readonly "flowcontrolv1.GroupSubject": flowcontrolv1.GroupSubject;
  readonly "flowcontrolv1.LimitResponse": flowcontrolv1.LimitResponseInput;
  readonly "flowcontrolv1.LimitedPriorityLevelConfiguration": flowcontrolv1.LimitedPriorityLevelConfigurationInput;
  readonly "flowcontrolv1.NonResourcePolicyRule": flowcontrolv1.NonResourcePolicyRule;
  readonly "flowcontrolv1.PolicyRulesWithSubjects": flowcontrolv1.PolicyRulesWithSubjectsInput;
  readonly "flowcontrolv1.PriorityLevelConfiguration": flowcontrolv1.PriorityLevelConfigurationInput;
  readonly "flowcontrolv1.PriorityLevelConfigurationCondition": flowcontrolv1.PriorityLevelConfigurationConditionInput;
  readonly "flowcontrolv1.PriorityLevelConfigurationReference": flowcontrolv1.PriorityLevelConfigurationReference;
  readonly "flowcontrolv1.PriorityLevelConfigurationSpec": flowcontrolv1.PriorityLevelConfigurationSpecInput;
  readonly "flowcontrolv1.PriorityLevelConfigurationStatus": flowcontrolv1.PriorityLevelConfigurationStatusInput;
  readonly "flowcontrolv1.QueuingConfiguration": flowcontrolv1.QueuingConfigurationInput;
  readonly "flowcontrolv1.ResourcePolicyRule": flowcontrolv1.ResourcePolicyRuleInput;
  readonly "flowcontrolv1.ServiceAccountSubject": flowcontrolv1.ServiceAccountSubject;
  readonly "flowcontrolv1.Subject": flowcontrolv1.SubjectInput;
  readonly "flowcontrolv1.UserSubject": flowcontrolv1.UserSubject;
  readonly "networkingv1.HTTPIngressPath": networkingv1.HTTPIngressPathInput;
  readonly "networkingv1.HTTPIngressRuleValue": networkingv1.HTTPIngressRuleValueInput;
  readonly "networkingv1.IPAddress": networkingv1.IPAddressInput;
  readonly "networkingv1.IPAddressSpec": networkingv1.IPAddressSpecInput;
  readonly "networkingv1.IPBlock": networkingv1.IPBlockInput;
  readonly "networkingv1.Ingress": networkingv1.IngressInput;
  readonly "networkingv1.IngressBackend": networkingv1.IngressBackendInput;
  readonly "networkingv1.IngressClass": networkingv1.IngressClassInput;
  readonly "networkingv1.IngressClassParametersReference": networkingv1.IngressClassParametersReferenceInput;
  readonly "networkingv1.IngressClassSpec": networkingv1.IngressClassSpecInput;
  readonly "networkingv1.IngressLoadBalancerIngress": networkingv1.IngressLoadBalancerIngressInput;
  readonly "networkingv1.IngressLoadBalancerStatus": networkingv1.IngressLoadBalancerStatusInput;
  readonly "networkingv1.IngressPortStatus": networkingv1.IngressPortStatusInput;
  readonly "networkingv1.IngressRule": networkingv1.IngressRuleInput;
  readonly "networkingv1.IngressServiceBackend": networkingv1.IngressServiceBackendInput;
  readonly "networkingv1.IngressSpec": networkingv1.IngressSpecInput;
  readonly "networkingv1.IngressStatus": networkingv1.IngressStatusInput;
  readonly "networkingv1.IngressTLS": networkingv1.IngressTLSInput;
  readonly "networkingv1.NetworkPolicy": networkingv1.NetworkPolicyInput;
  readonly "networkingv1.NetworkPolicyEgressRule": networkingv1.NetworkPolicyEgressRuleInput;
  readonly "networkingv1.NetworkPolicyIngressRule": networkingv1.NetworkPolicyIngressRuleInput;
  readonly "networkingv1.NetworkPolicyPeer": networkingv1.NetworkPolicyPeerInput;
  readonly "networkingv1.NetworkPolicyPort": networkingv1.NetworkPolicyPortInput;
  readonly "networkingv1.NetworkPolicySpec": networkingv1.NetworkPolicySpecInput;
  readonly "networkingv1.ParentReference": networkingv1.ParentReferenceInput;
  readonly "networkingv1.ServiceBackendPort": networkingv1.ServiceBackendPortInput;
  readonly "networkingv1.ServiceCIDR": networkingv1.ServiceCIDRInput;
  readonly "networkingv1.ServiceCIDRSpec": networkingv1.ServiceCIDRSpecInput;
  readonly "networkingv1.ServiceCIDRStatus": networkingv1.ServiceCIDRStatusInput;
  readonly "nodev1.Overhead": nodev1.OverheadInput;
  readonly "nodev1.RuntimeClass": nodev1.RuntimeClassInput;
  readonly "nodev1.Scheduling": nodev1.SchedulingInput;
  readonly "policyv1.PodDisruptionBudget": policyv1.PodDisruptionBudgetInput;
  readonly "policyv1.PodDisruptionBudgetSpec": policyv1.PodDisruptionBudgetSpecInput;
  readonly "policyv1.PodDisruptionBudgetStatus": policyv1.PodDisruptionBudgetStatusInput;
  readonly "rbacv1.AggregationRule": rbacv1.AggregationRuleInput;
  readonly "rbacv1.ClusterRole": rbacv1.ClusterRoleInput;
  readonly "rbacv1.ClusterRoleBinding": rbacv1.ClusterRoleBindingInput;
  readonly "rbacv1.PolicyRule": rbacv1.PolicyRuleInput;
  readonly "rbacv1.Role": rbacv1.RoleInput;
  readonly "rbacv1.RoleBinding": rbacv1.RoleBindingInput;
  readonly "rbacv1.RoleRef": rbacv1.RoleRef;
  readonly "rbacv1.Subject": rbacv1.SubjectInput;
  readonly "resourcev1.AllocatedDeviceStatus": resourcev1.AllocatedDeviceStatusInput;
  readonly "resourcev1.AllocationResult": resourcev1.AllocationResultInput;
  readonly "resourcev1.CELDeviceSelector": resourcev1.CELDeviceSelector;
  readonly "resourcev1.CapacityRequestPolicy": resourcev1.CapacityRequestPolicyInput;
  readonly "resourcev1.CapacityRequestPolicyRange": resourcev1.CapacityRequestPolicyRangeInput;
  readonly "resourcev1.CapacityRequirements": resourcev1.CapacityRequirementsInput;
  readonly "resourcev1.Counter": resourcev1.CounterInput;
  readonly "resourcev1.CounterSet": resourcev1.CounterSetInput;
  readonly "resourcev1.Device": resourcev1.DeviceInput;
  readonly "resourcev1.DeviceAllocationConfiguration": resourcev1.DeviceAllocationConfigurationInput;
  readonly "resourcev1.DeviceAllocationResult": resourcev1.DeviceAllocationResultInput;
  readonly "resourcev1.DeviceAttribute": resourcev1.DeviceAttributeInput;
  readonly "resourcev1.DeviceCapacity": resourcev1.DeviceCapacityInput;
  readonly "resourcev1.DeviceClaim": resourcev1.DeviceClaimInput;
  readonly "resourcev1.DeviceClaimConfiguration": resourcev1.DeviceClaimConfigurationInput;
  readonly "resourcev1.DeviceClass": resourcev1.DeviceClassInput;
  readonly "resourcev1.DeviceClassConfiguration": resourcev1.DeviceClassConfigurationInput;
  readonly "resourcev1.DeviceClassSpec": resourcev1.DeviceClassSpecInput;
  readonly "resourcev1.DeviceConstraint": resourcev1.DeviceConstraintInput;
  readonly "resourcev1.DeviceCounterConsumption": resourcev1.DeviceCounterConsumptionInput;
  readonly "resourcev1.DeviceRequest": resourcev1.DeviceRequestInput;
  readonly "resourcev1.DeviceRequestAllocationResult": resourcev1.DeviceRequestAllocationResultInput;
  readonly "resourcev1.DeviceSelector": resourcev1.DeviceSelectorInput;
  readonly "resourcev1.DeviceSubRequest": resourcev1.DeviceSubRequestInput;
  readonly "resourcev1.DeviceTaint": resourcev1.DeviceTaintInput;
  readonly "resourcev1.DeviceToleration": resourcev1.DeviceTolerationInput;
  readonly "resourcev1.ExactDeviceRequest": resourcev1.ExactDeviceRequestInput;
  readonly "resourcev1.NetworkDeviceData": resourcev1.NetworkDeviceDataInput;
  readonly "resourcev1.OpaqueDeviceConfiguration": resourcev1.OpaqueDeviceConfiguration;
  readonly "resourcev1.ResourceClaim": resourcev1.ResourceClaimInput;
  readonly "resourcev1.ResourceClaimConsumerReference": resourcev1.ResourceClaimConsumerReferenceInput;
  readonly "resourcev1.ResourceClaimSpec": resourcev1.ResourceClaimSpecInput;
  readonly "resourcev1.ResourceClaimStatus": resourcev1.ResourceClaimStatusInput;
  readonly "resourcev1.ResourceClaimTemplate": resourcev1.ResourceClaimTemplateInput;
  readonly "resourcev1.ResourceClaimTemplateSpec": resourcev1.ResourceClaimTemplateSpecInput;
  readonly "resourcev1.ResourcePool": resourcev1.ResourcePool;
  readonly "resourcev1.ResourceSlice": resourcev1.ResourceSliceInput;
  readonly "resourcev1.ResourceSliceSpec": resourcev1.ResourceSliceSpecInput;
  readonly "schedulingv1.PriorityClass": schedulingv1.PriorityClassInput;
  readonly "storagev1.CSIDriver": storagev1.CSIDriverInput;
  readonly "storagev1.CSIDriverSpec": storagev1.CSIDriverSpecInput;
  readonly "storagev1.CSINode": storagev1.CSINodeInput;
  readonly "storagev1.CSINodeDriver": storagev1.CSINodeDriverInput;
  readonly "storagev1.CSINodeSpec": storagev1.CSINodeSpecInput;
  readonly "storagev1.CSIStorageCapacity": storagev1.CSIStorageCapacityInput;
  readonly "storagev1.StorageClass": storagev1.StorageClassInput;
  readonly "storagev1.TokenRequest": storagev1.TokenRequestInput;
  readonly "storagev1.VolumeAttachment": storagev1.VolumeAttachmentInput;
  readonly "storagev1.VolumeAttachmentSource": storagev1.VolumeAttachmentSourceInput;
  readonly "storagev1.VolumeAttachmentSpec": storagev1.VolumeAttachmentSpecInput;
  readonly "storagev1.VolumeAttachmentStatus": storagev1.VolumeAttachmentStatusInput;
  readonly "storagev1.VolumeAttributesClass": storagev1.VolumeAttributesClassInput;
  readonly "storagev1.VolumeError": storagev1.VolumeErrorInput;
  readonly "storagev1.VolumeNodeResources": storagev1.VolumeNodeResourcesInput;
  readonly "apiextensionsv1.CustomResourceColumnDefinition": apiextensionsv1.CustomResourceColumnDefinitionInput;
  readonly "apiextensionsv1.CustomResourceConversion": apiextensionsv1.CustomResourceConversionInput;
  readonly "apiextensionsv1.CustomResourceDefinition": apiextensionsv1.CustomResourceDefinitionInput;
  readonly "apiextensionsv1.CustomResourceDefinitionCondition": apiextensionsv1.CustomResourceDefinitionConditionInput;
  readonly "apiextensionsv1.CustomResourceDefinitionNames": apiextensionsv1.CustomResourceDefinitionNamesInput;
  readonly "apiextensionsv1.CustomResourceDefinitionSpec": apiextensionsv1.CustomResourceDefinitionSpecInput;
  readonly "apiextensionsv1.CustomResourceDefinitionStatus": apiextensionsv1.CustomResourceDefinitionStatusInput;
  readonly "apiextensionsv1.CustomResourceDefinitionVersion": apiextensionsv1.CustomResourceDefinitionVersionInput;
  readonly "apiextensionsv1.CustomResourceSubresourceScale": apiextensionsv1.CustomResourceSubresourceScaleInput;
  readonly "apiextensionsv1.CustomResourceSubresourceStatus": apiextensionsv1.CustomResourceSubresourceStatus;
  readonly "apiextensionsv1.CustomResourceSubresources": apiextensionsv1.CustomResourceSubresourcesInput;
  readonly "apiextensionsv1.CustomResourceValidation": apiextensionsv1.CustomResourceValidationInput;
  readonly "apiextensionsv1.ExternalDocumentation": apiextensionsv1.ExternalDocumentationInput;
  readonly "apiextensionsv1.JSONSchemaProps": apiextensionsv1.JSONSchemaPropsInput;
  readonly "apiextensionsv1.SelectableField": apiextensionsv1.SelectableField;
  readonly "apiextensionsv1.ServiceReference": apiextensionsv1.ServiceReferenceInput;
  readonly "apiextensionsv1.ValidationRule": apiextensionsv1.ValidationRuleInput;
  readonly "apiextensionsv1.WebhookClientConfig": apiextensionsv1.WebhookClientConfigInput;
  readonly "apiextensionsv1.WebhookConversion": apiextensionsv1.WebhookConversionInput;
  readonly "metav1.Condition": metav1.ConditionInput;
  readonly "metav1.FieldSelectorRequirement": metav1.FieldSelectorRequirementInput;
  readonly "metav1.LabelSelector": metav1.LabelSelectorInput;
  readonly "metav1.LabelSelectorRequirement": metav1.LabelSelectorRequirementInput;
  readonly "metav1.ManagedFieldsEntry": ManagedFieldsEntry;
  readonly "metav1.ObjectMeta": ObjectMetaInput;
  readonly "metav1.OwnerReference": OwnerReference;
  readonly "apiregistrationv1.APIService": apiregistrationv1.APIServiceInput;
  readonly "apiregistrationv1.APIServiceCondition": apiregistrationv1.APIServiceConditionInput;
  readonly "apiregistrationv1.APIServiceSpec": apiregistrationv1.APIServiceSpecInput;
  readonly "apiregistrationv1.APIServiceStatus": apiregistrationv1.APIServiceStatusInput;
  readonly "apiregistrationv1.ServiceReference": apiregistrationv1.ServiceReferenceInput;
}

/** The fields of each type, to be read by `parseType`. */
export const builtinTypes: Readonly<Record<keyof BuiltinTypes, string>> = {
  "admissionregistrationv1.AuditAnnotation": `
    key: string
    valueExpression: string
  `,
  "admissionregistrationv1.ExpressionWarning": `
    fieldRef: string
    warning: string
  `,
  "admissionregistrationv1.MatchCondition": `
    expression: string
    name: string
  `,
  "admissionregistrationv1.MatchResources": `
    atomic
    excludeResourceRules?: admissionregistrationv1.NamedRuleWithOperations[] atomic
    matchPolicy?: "Equivalent" | "Exact"
    namespaceSelector?: metav1.LabelSelector
    objectSelector?: metav1.LabelSelector
    resourceRules?: admissionregistrationv1.NamedRuleWithOperations[] atomic
  `,
  "admissionregistrationv1.MutatingWebhook": `
    admissionReviewVersions: string[] atomic
    clientConfig: admissionregistrationv1.WebhookClientConfig
    failurePolicy?: "Fail" | "Ignore"
    matchConditions?: admissionregistrationv1.MatchCondition[] by name
    matchPolicy?: "Equivalent" | "Exact"
    name: string
    namespaceSelector?: metav1.LabelSelector
    objectSelector?: metav1.LabelSelector
    reinvocationPolicy?: "IfNeeded" | "Never"
    rules?: admissionregistrationv1.RuleWithOperations[] atomic
    sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown"
    timeoutSeconds?: int32
  `,
  "admissionregistrationv1.MutatingWebhookConfiguration": `
    apiVersion?: "admissionregistration.k8s.io/v1"
    kind?: "MutatingWebhookConfiguration"
    metadata: metav1.ObjectMeta
    webhooks?: admissionregistrationv1.MutatingWebhook[] by name
  `,
  "admissionregistrationv1.NamedRuleWithOperations": `
    atomic
    apiGroups?: string[] atomic
    apiVersions?: string[] atomic
    operations?: ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[] atomic
    resourceNames?: string[] atomic
    resources?: string[] atomic
    scope?: "*" | "Cluster" | "Namespaced"
  `,
  "admissionregistrationv1.ParamKind": `
    atomic
    apiVersion?: string
    kind?: string
  `,
  "admissionregistrationv1.ParamRef": `
    atomic
    name?: string
    namespace?: string
    parameterNotFoundAction?: string
    selector?: metav1.LabelSelector
  `,
  "admissionregistrationv1.RuleWithOperations": `
    apiGroups?: string[] atomic
    apiVersions?: string[] atomic
    operations?: ("*" | "CONNECT" | "CREATE" | "DELETE" | "UPDATE")[] atomic
    resources?: string[] atomic
    scope?: "*" | "Cluster" | "Namespaced"
  `,
  "admissionregistrationv1.ServiceReference": `
    name: string
    namespace: string
    path?: string
    port?: int32
  `,
  "admissionregistrationv1.TypeChecking": `
    expressionWarnings?: admissionregistrationv1.ExpressionWarning[] atomic
  `,
  "admissionregistrationv1.ValidatingAdmissionPolicy": `
    apiVersion?: "admissionregistration.k8s.io/v1"
    kind?: "ValidatingAdmissionPolicy"
    metadata: metav1.ObjectMeta
    spec?: admissionregistrationv1.ValidatingAdmissionPolicySpec
    status?: admissionregistrationv1.ValidatingAdmissionPolicyStatus
  `,
  "admissionregistrationv1.ValidatingAdmissionPolicyBinding": `
    apiVersion?: "admissionregistration.k8s.io/v1"
    kind?: "ValidatingAdmissionPolicyBinding"
    metadata: metav1.ObjectMeta
    spec?: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec
  `,
  "admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec": `
    matchResources?: admissionregistrationv1.MatchResources
    paramRef?: admissionregistrationv1.ParamRef
    policyName?: string
    validationActions?: ("Audit" | "Deny" | "Warn")[] set
  `,
  "admissionregistrationv1.ValidatingAdmissionPolicySpec": `
    auditAnnotations?: admissionregistrationv1.AuditAnnotation[] atomic
    failurePolicy?: "Fail" | "Ignore"
    matchConditions?: admissionregistrationv1.MatchCondition[] by name
    matchConstraints?: admissionregistrationv1.MatchResources
    paramKind?: admissionregistrationv1.ParamKind
    validations?: admissionregistrationv1.Validation[] atomic
    variables?: admissionregistrationv1.Variable[] by name
  `,
  "admissionregistrationv1.ValidatingAdmissionPolicyStatus": `
    conditions?: metav1.Condition[] by type
    observedGeneration?: int64
    typeChecking?: admissionregistrationv1.TypeChecking
  `,
  "admissionregistrationv1.ValidatingWebhook": `
    admissionReviewVersions: string[] atomic
    clientConfig: admissionregistrationv1.WebhookClientConfig
    failurePolicy?: "Fail" | "Ignore"
    matchConditions?: admissionregistrationv1.MatchCondition[] by name
    matchPolicy?: "Equivalent" | "Exact"
    name: string
    namespaceSelector?: metav1.LabelSelector
    objectSelector?: metav1.LabelSelector
    rules?: admissionregistrationv1.RuleWithOperations[] atomic
    sideEffects: "None" | "NoneOnDryRun" | "Some" | "Unknown"
    timeoutSeconds?: int32
  `,
  "admissionregistrationv1.ValidatingWebhookConfiguration": `
    apiVersion?: "admissionregistration.k8s.io/v1"
    kind?: "ValidatingWebhookConfiguration"
    metadata: metav1.ObjectMeta
    webhooks?: admissionregistrationv1.ValidatingWebhook[] by name
  `,
  "admissionregistrationv1.Validation": `
    expression: string
    message?: string
    messageExpression?: string
    reason?: string
  `,
  "admissionregistrationv1.Variable": `
    atomic
    expression: string
    name: string
  `,
  "admissionregistrationv1.WebhookClientConfig": `
    caBundle?: byte
    service?: admissionregistrationv1.ServiceReference
    url?: string
  `,
  "appsv1.ControllerRevision": `
    apiVersion?: "apps/v1"
    data?: object
    kind?: "ControllerRevision"
    metadata: metav1.ObjectMeta
    revision: int64
  `,
  "appsv1.DaemonSet": `
    apiVersion?: "apps/v1"
    kind?: "DaemonSet"
    metadata: metav1.ObjectMeta
    spec: appsv1.DaemonSetSpec
    status?: appsv1.DaemonSetStatus
  `,
  "appsv1.DaemonSetCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "appsv1.DaemonSetSpec": `
    minReadySeconds?: int32
    revisionHistoryLimit?: int32
    selector: metav1.LabelSelector
    template: corev1.PodTemplateSpec
    updateStrategy?: appsv1.DaemonSetUpdateStrategy
  `,
  "appsv1.DaemonSetStatus": `
    collisionCount?: int32
    conditions?: appsv1.DaemonSetCondition[] by type
    currentNumberScheduled: int32
    desiredNumberScheduled: int32
    numberAvailable?: int32
    numberMisscheduled: int32
    numberReady: int32
    numberUnavailable?: int32
    observedGeneration?: int64
    updatedNumberScheduled?: int32
  `,
  "appsv1.DaemonSetUpdateStrategy": `
    rollingUpdate?: appsv1.RollingUpdateDaemonSet
    type?: "OnDelete" | "RollingUpdate"
  `,
  "appsv1.Deployment": `
    apiVersion?: "apps/v1"
    kind?: "Deployment"
    metadata: metav1.ObjectMeta
    spec: appsv1.DeploymentSpec
    status?: appsv1.DeploymentStatus
  `,
  "appsv1.DeploymentCondition": `
    lastTransitionTime?: date-time | null
    lastUpdateTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "appsv1.DeploymentSpec": `
    minReadySeconds?: int32
    paused?: boolean
    progressDeadlineSeconds?: int32
    replicas?: int32
    revisionHistoryLimit?: int32
    selector: metav1.LabelSelector
    strategy?: appsv1.DeploymentStrategy
    template: corev1.PodTemplateSpec
  `,
  "appsv1.DeploymentStatus": `
    availableReplicas?: int32
    collisionCount?: int32
    conditions?: appsv1.DeploymentCondition[] by type
    observedGeneration?: int64
    readyReplicas?: int32
    replicas?: int32
    terminatingReplicas?: int32
    unavailableReplicas?: int32
    updatedReplicas?: int32
  `,
  "appsv1.DeploymentStrategy": `
    rollingUpdate?: appsv1.RollingUpdateDeployment
    type?: "Recreate" | "RollingUpdate"
  `,
  "appsv1.ReplicaSet": `
    apiVersion?: "apps/v1"
    kind?: "ReplicaSet"
    metadata: metav1.ObjectMeta
    spec: appsv1.ReplicaSetSpec
    status?: appsv1.ReplicaSetStatus
  `,
  "appsv1.ReplicaSetCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "appsv1.ReplicaSetSpec": `
    minReadySeconds?: int32
    replicas?: int32
    selector: metav1.LabelSelector
    template?: corev1.PodTemplateSpec
  `,
  "appsv1.ReplicaSetStatus": `
    availableReplicas?: int32
    conditions?: appsv1.ReplicaSetCondition[] by type
    fullyLabeledReplicas?: int32
    observedGeneration?: int64
    readyReplicas?: int32
    replicas: int32
    terminatingReplicas?: int32
  `,
  "appsv1.RollingUpdateDaemonSet": `
    maxSurge?: int-or-string
    maxUnavailable?: int-or-string
  `,
  "appsv1.RollingUpdateDeployment": `
    maxSurge?: int-or-string
    maxUnavailable?: int-or-string
  `,
  "appsv1.RollingUpdateStatefulSetStrategy": `
    maxUnavailable?: int-or-string
    partition?: int32
  `,
  "appsv1.StatefulSet": `
    apiVersion?: "apps/v1"
    kind?: "StatefulSet"
    metadata: metav1.ObjectMeta
    spec: appsv1.StatefulSetSpec
    status?: appsv1.StatefulSetStatus
  `,
  "appsv1.StatefulSetCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "appsv1.StatefulSetOrdinals": `
    start?: int32
  `,
  "appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy": `
    whenDeleted?: string
    whenScaled?: string
  `,
  "appsv1.StatefulSetSpec": `
    minReadySeconds?: int32
    ordinals?: appsv1.StatefulSetOrdinals
    persistentVolumeClaimRetentionPolicy?: appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy
    podManagementPolicy?: "OrderedReady" | "Parallel"
    replicas?: int32
    revisionHistoryLimit?: int32
    selector: metav1.LabelSelector
    serviceName?: string
    template: corev1.PodTemplateSpec
    updateStrategy?: appsv1.StatefulSetUpdateStrategy
    volumeClaimTemplates?: corev1.PersistentVolumeClaim[] atomic
  `,
  "appsv1.StatefulSetStatus": `
    availableReplicas?: int32
    collisionCount?: int32
    conditions?: appsv1.StatefulSetCondition[] by type
    currentReplicas?: int32
    currentRevision?: string
    observedGeneration?: int64
    readyReplicas?: int32
    replicas: int32
    updateRevision?: string
    updatedReplicas?: int32
  `,
  "appsv1.StatefulSetUpdateStrategy": `
    rollingUpdate?: appsv1.RollingUpdateStatefulSetStrategy
    type?: "OnDelete" | "RollingUpdate"
  `,
  "authenticationv1.SelfSubjectReview": `
    apiVersion?: "authentication.k8s.io/v1"
    kind?: "SelfSubjectReview"
    metadata: metav1.ObjectMeta
    status?: authenticationv1.SelfSubjectReviewStatus
  `,
  "authenticationv1.SelfSubjectReviewStatus": `
    userInfo?: authenticationv1.UserInfo
  `,
  "authenticationv1.TokenReview": `
    apiVersion?: "authentication.k8s.io/v1"
    kind?: "TokenReview"
    metadata: metav1.ObjectMeta
    spec: authenticationv1.TokenReviewSpec
    status?: authenticationv1.TokenReviewStatus
  `,
  "authenticationv1.TokenReviewSpec": `
    audiences?: string[] atomic
    token?: string
  `,
  "authenticationv1.TokenReviewStatus": `
    audiences?: string[] atomic
    authenticated?: boolean
    error?: string
    user?: authenticationv1.UserInfo
  `,
  "authenticationv1.UserInfo": `
    extra?: map<string[]>
    groups?: string[] atomic
    uid?: string
    username?: string
  `,
  "authorizationv1.FieldSelectorAttributes": `
    rawSelector?: string
    requirements?: metav1.FieldSelectorRequirement[] atomic
  `,
  "authorizationv1.LabelSelectorAttributes": `
    rawSelector?: string
    requirements?: metav1.LabelSelectorRequirement[] atomic
  `,
  "authorizationv1.LocalSubjectAccessReview": `
    apiVersion?: "authorization.k8s.io/v1"
    kind?: "LocalSubjectAccessReview"
    metadata: metav1.ObjectMeta
    spec: authorizationv1.SubjectAccessReviewSpec
    status?: authorizationv1.SubjectAccessReviewStatus
  `,
  "authorizationv1.NonResourceAttributes": `
    path?: string
    verb?: string
  `,
  "authorizationv1.NonResourceRule": `
    nonResourceURLs?: string[] atomic
    verbs: string[] atomic
  `,
  "authorizationv1.ResourceAttributes": `
    fieldSelector?: authorizationv1.FieldSelectorAttributes
    group?: string
    labelSelector?: authorizationv1.LabelSelectorAttributes
    name?: string
    namespace?: string
    resource?: string
    subresource?: string
    verb?: string
    version?: string
  `,
  "authorizationv1.ResourceRule": `
    apiGroups?: string[] atomic
    resourceNames?: string[] atomic
    resources?: string[] atomic
    verbs: string[] atomic
  `,
  "authorizationv1.SelfSubjectAccessReview": `
    apiVersion?: "authorization.k8s.io/v1"
    kind?: "SelfSubjectAccessReview"
    metadata: metav1.ObjectMeta
    spec: authorizationv1.SelfSubjectAccessReviewSpec
    status?: authorizationv1.SubjectAccessReviewStatus
  `,
  "authorizationv1.SelfSubjectAccessReviewSpec": `
    nonResourceAttributes?: authorizationv1.NonResourceAttributes
    resourceAttributes?: authorizationv1.ResourceAttributes
  `,
  "authorizationv1.SelfSubjectRulesReview": `
    apiVersion?: "authorization.k8s.io/v1"
    kind?: "SelfSubjectRulesReview"
    metadata: metav1.ObjectMeta
    spec: authorizationv1.SelfSubjectRulesReviewSpec
    status?: authorizationv1.SubjectRulesReviewStatus
  `,
  "authorizationv1.SelfSubjectRulesReviewSpec": `
    namespace?: string
  `,
  "authorizationv1.SubjectAccessReview": `
    apiVersion?: "authorization.k8s.io/v1"
    kind?: "SubjectAccessReview"
    metadata: metav1.ObjectMeta
    spec: authorizationv1.SubjectAccessReviewSpec
    status?: authorizationv1.SubjectAccessReviewStatus
  `,
  "authorizationv1.SubjectAccessReviewSpec": `
    extra?: map<string[]>
    groups?: string[] atomic
    nonResourceAttributes?: authorizationv1.NonResourceAttributes
    resourceAttributes?: authorizationv1.ResourceAttributes
    uid?: string
    user?: string
  `,
  "authorizationv1.SubjectAccessReviewStatus": `
    allowed: boolean
    denied?: boolean
    evaluationError?: string
    reason?: string
  `,
  "authorizationv1.SubjectRulesReviewStatus": `
    evaluationError?: string
    incomplete: boolean
    nonResourceRules: authorizationv1.NonResourceRule[] atomic
    resourceRules: authorizationv1.ResourceRule[] atomic
  `,
  "autoscalingv1.CrossVersionObjectReference": `
    atomic
    apiVersion?: string
    kind: string
    name: string
  `,
  "autoscalingv1.HorizontalPodAutoscaler": `
    apiVersion?: "autoscaling/v1"
    kind?: "HorizontalPodAutoscaler"
    metadata: metav1.ObjectMeta
    spec: autoscalingv1.HorizontalPodAutoscalerSpec
    status?: autoscalingv1.HorizontalPodAutoscalerStatus
  `,
  "autoscalingv1.HorizontalPodAutoscalerSpec": `
    maxReplicas: int32
    minReplicas?: int32
    scaleTargetRef: autoscalingv1.CrossVersionObjectReference
    targetCPUUtilizationPercentage?: int32
  `,
  "autoscalingv1.HorizontalPodAutoscalerStatus": `
    currentCPUUtilizationPercentage?: int32
    currentReplicas: int32
    desiredReplicas: int32
    lastScaleTime?: date-time
    observedGeneration?: int64
  `,
  "autoscalingv2.ContainerResourceMetricSource": `
    container: string
    name: string
    target: autoscalingv2.MetricTarget
  `,
  "autoscalingv2.ContainerResourceMetricStatus": `
    container: string
    current: autoscalingv2.MetricValueStatus
    name: string
  `,
  "autoscalingv2.CrossVersionObjectReference": `
    apiVersion?: string
    kind: string
    name: string
  `,
  "autoscalingv2.ExternalMetricSource": `
    metric: autoscalingv2.MetricIdentifier
    target: autoscalingv2.MetricTarget
  `,
  "autoscalingv2.ExternalMetricStatus": `
    current: autoscalingv2.MetricValueStatus
    metric: autoscalingv2.MetricIdentifier
  `,
  "autoscalingv2.HPAScalingPolicy": `
    periodSeconds: int32
    type: string
    value: int32
  `,
  "autoscalingv2.HPAScalingRules": `
    policies?: autoscalingv2.HPAScalingPolicy[] atomic
    selectPolicy?: string
    stabilizationWindowSeconds?: int32
    tolerance?: quantity
  `,
  "autoscalingv2.HorizontalPodAutoscaler": `
    apiVersion?: "autoscaling/v2"
    kind?: "HorizontalPodAutoscaler"
    metadata: metav1.ObjectMeta
    spec: autoscalingv2.HorizontalPodAutoscalerSpec
    status?: autoscalingv2.HorizontalPodAutoscalerStatus
  `,
  "autoscalingv2.HorizontalPodAutoscalerBehavior": `
    scaleDown?: autoscalingv2.HPAScalingRules
    scaleUp?: autoscalingv2.HPAScalingRules
  `,
  "autoscalingv2.HorizontalPodAutoscalerCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "autoscalingv2.HorizontalPodAutoscalerSpec": `
    behavior?: autoscalingv2.HorizontalPodAutoscalerBehavior
    maxReplicas: int32
    metrics?: autoscalingv2.MetricSpec[] atomic
    minReplicas?: int32
    scaleTargetRef: autoscalingv2.CrossVersionObjectReference
  `,
  "autoscalingv2.HorizontalPodAutoscalerStatus": `
    conditions?: autoscalingv2.HorizontalPodAutoscalerCondition[] by type
    currentMetrics?: autoscalingv2.MetricStatus[] | null atomic
    currentReplicas?: int32
    desiredReplicas: int32
    lastScaleTime?: date-time
    observedGeneration?: int64
  `,
  "autoscalingv2.MetricIdentifier": `
    name: string
    selector?: metav1.LabelSelector
  `,
  "autoscalingv2.MetricSpec": `
    containerResource?: autoscalingv2.ContainerResourceMetricSource
    external?: autoscalingv2.ExternalMetricSource
    object?: autoscalingv2.ObjectMetricSource
    pods?: autoscalingv2.PodsMetricSource
    resource?: autoscalingv2.ResourceMetricSource
    type: string
  `,
  "autoscalingv2.MetricStatus": `
    containerResource?: autoscalingv2.ContainerResourceMetricStatus
    external?: autoscalingv2.ExternalMetricStatus
    object?: autoscalingv2.ObjectMetricStatus
    pods?: autoscalingv2.PodsMetricStatus
    resource?: autoscalingv2.ResourceMetricStatus
    type: string
  `,
  "autoscalingv2.MetricTarget": `
    averageUtilization?: int32
    averageValue?: quantity
    type: string
    value?: quantity
  `,
  "autoscalingv2.MetricValueStatus": `
    averageUtilization?: int32
    averageValue?: quantity
    value?: quantity
  `,
  "autoscalingv2.ObjectMetricSource": `
    describedObject: autoscalingv2.CrossVersionObjectReference
    metric: autoscalingv2.MetricIdentifier
    target: autoscalingv2.MetricTarget
  `,
  "autoscalingv2.ObjectMetricStatus": `
    current: autoscalingv2.MetricValueStatus
    describedObject: autoscalingv2.CrossVersionObjectReference
    metric: autoscalingv2.MetricIdentifier
  `,
  "autoscalingv2.PodsMetricSource": `
    metric: autoscalingv2.MetricIdentifier
    target: autoscalingv2.MetricTarget
  `,
  "autoscalingv2.PodsMetricStatus": `
    current: autoscalingv2.MetricValueStatus
    metric: autoscalingv2.MetricIdentifier
  `,
  "autoscalingv2.ResourceMetricSource": `
    name: string
    target: autoscalingv2.MetricTarget
  `,
  "autoscalingv2.ResourceMetricStatus": `
    current: autoscalingv2.MetricValueStatus
    name: string
  `,
  "batchv1.CronJob": `
    apiVersion?: "batch/v1"
    kind?: "CronJob"
    metadata: metav1.ObjectMeta
    spec: batchv1.CronJobSpec
    status?: batchv1.CronJobStatus
  `,
  "batchv1.CronJobSpec": `
    concurrencyPolicy?: "Allow" | "Forbid" | "Replace"
    failedJobsHistoryLimit?: int32
    jobTemplate: batchv1.JobTemplateSpec
    schedule: string
    startingDeadlineSeconds?: int64
    successfulJobsHistoryLimit?: int32
    suspend?: boolean
    timeZone?: string
  `,
  "batchv1.CronJobStatus": `
    active?: corev1.ObjectReference[] atomic
    lastScheduleTime?: date-time
    lastSuccessfulTime?: date-time
  `,
  "batchv1.Job": `
    apiVersion?: "batch/v1"
    kind?: "Job"
    metadata: metav1.ObjectMeta
    spec: batchv1.JobSpec
    status?: batchv1.JobStatus
  `,
  "batchv1.JobCondition": `
    lastProbeTime?: date-time | null
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "batchv1.JobSpec": `
    activeDeadlineSeconds?: int64
    backoffLimit?: int32
    backoffLimitPerIndex?: int32
    completionMode?: "Indexed" | "NonIndexed"
    completions?: int32
    managedBy?: string
    manualSelector?: boolean
    maxFailedIndexes?: int32
    parallelism?: int32
    podFailurePolicy?: batchv1.PodFailurePolicy
    podReplacementPolicy?: "Failed" | "TerminatingOrFailed"
    selector?: metav1.LabelSelector
    successPolicy?: batchv1.SuccessPolicy
    suspend?: boolean
    template: corev1.PodTemplateSpec
    ttlSecondsAfterFinished?: int32
  `,
  "batchv1.JobStatus": `
    active?: int32
    completedIndexes?: string
    completionTime?: date-time
    conditions?: batchv1.JobCondition[] atomic
    failed?: int32
    failedIndexes?: string
    ready?: int32
    startTime?: date-time
    succeeded?: int32
    terminating?: int32
    uncountedTerminatedPods?: batchv1.UncountedTerminatedPods
  `,
  "batchv1.JobTemplateSpec": `
    metadata?: metav1.ObjectMeta
    spec: batchv1.JobSpec
  `,
  "batchv1.PodFailurePolicy": `
    rules: batchv1.PodFailurePolicyRule[] | null atomic
  `,
  "batchv1.PodFailurePolicyOnExitCodesRequirement": `
    containerName?: string
    operator: "In" | "NotIn"
    values: int32[] set
  `,
  "batchv1.PodFailurePolicyOnPodConditionsPattern": `
    status?: string
    type: string
  `,
  "batchv1.PodFailurePolicyRule": `
    action: "Count" | "FailIndex" | "FailJob" | "Ignore"
    onExitCodes?: batchv1.PodFailurePolicyOnExitCodesRequirement
    onPodConditions?: batchv1.PodFailurePolicyOnPodConditionsPattern[] atomic
  `,
  "batchv1.SuccessPolicy": `
    rules: batchv1.SuccessPolicyRule[] atomic
  `,
  "batchv1.SuccessPolicyRule": `
    succeededCount?: int32
    succeededIndexes?: string
  `,
  "batchv1.UncountedTerminatedPods": `
    failed?: string[] set
    succeeded?: string[] set
  `,
  "certificatesv1.CertificateSigningRequest": `
    apiVersion?: "certificates.k8s.io/v1"
    kind?: "CertificateSigningRequest"
    metadata: metav1.ObjectMeta
    spec: certificatesv1.CertificateSigningRequestSpec
    status?: certificatesv1.CertificateSigningRequestStatus
  `,
  "certificatesv1.CertificateSigningRequestCondition": `
    lastTransitionTime?: date-time
    lastUpdateTime?: date-time
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "certificatesv1.CertificateSigningRequestSpec": `
    expirationSeconds?: int32
    extra?: map<string[]>
    groups?: string[] atomic
    request: byte
    signerName: string
    uid?: string
    usages?: ("any" | "cert sign" | "client auth" | "code signing" | "content commitment" | "crl sign" | "data encipherment" | "decipher only" | "digital signature" | "email protection" | "encipher only" | "ipsec end system" | "ipsec tunnel" | "ipsec user" | "key agreement" | "key encipherment" | "microsoft sgc" | "netscape sgc" | "ocsp signing" | "s/mime" | "server auth" | "signing" | "timestamping")[] atomic
    username?: string
  `,
  "certificatesv1.CertificateSigningRequestStatus": `
    certificate?: byte
    conditions?: certificatesv1.CertificateSigningRequestCondition[] by type
  `,
  "coordinationv1.Lease": `
    apiVersion?: "coordination.k8s.io/v1"
    kind?: "Lease"
    metadata: metav1.ObjectMeta
    spec?: coordinationv1.LeaseSpec
  `,
  "coordinationv1.LeaseSpec": `
    acquireTime?: date-time
    holderIdentity?: string
    leaseDurationSeconds?: int32
    leaseTransitions?: int32
    preferredHolder?: string
    renewTime?: date-time
    strategy?: string
  `,
  "corev1.AWSElasticBlockStoreVolumeSource": `
    fsType?: string
    partition?: int32
    readOnly?: boolean
    volumeID: string
  `,
  "corev1.Affinity": `
    nodeAffinity?: corev1.NodeAffinity
    podAffinity?: corev1.PodAffinity
    podAntiAffinity?: corev1.PodAntiAffinity
  `,
  "corev1.AppArmorProfile": `
    localhostProfile?: string
    type: "Localhost" | "RuntimeDefault" | "Unconfined"
  `,
  "corev1.AttachedVolume": `
    devicePath: string
    name: string
  `,
  "corev1.AzureDiskVolumeSource": `
    cachingMode?: "None" | "ReadOnly" | "ReadWrite"
    diskName: string
    diskURI: string
    fsType?: string
    kind?: "Dedicated" | "Managed" | "Shared"
    readOnly?: boolean
  `,
  "corev1.AzureFilePersistentVolumeSource": `
    readOnly?: boolean
    secretName: string
    secretNamespace?: string | null
    shareName: string
  `,
  "corev1.AzureFileVolumeSource": `
    readOnly?: boolean
    secretName: string
    shareName: string
  `,
  "corev1.Binding": `
    apiVersion?: "v1"
    kind?: "Binding"
    metadata: metav1.ObjectMeta
    target: corev1.ObjectReference
  `,
  "corev1.CSIPersistentVolumeSource": `
    controllerExpandSecretRef?: corev1.SecretReference
    controllerPublishSecretRef?: corev1.SecretReference
    driver: string
    fsType?: string
    nodeExpandSecretRef?: corev1.SecretReference
    nodePublishSecretRef?: corev1.SecretReference
    nodeStageSecretRef?: corev1.SecretReference
    readOnly?: boolean
    volumeAttributes?: map<string>
    volumeHandle: string
  `,
  "corev1.CSIVolumeSource": `
    driver: string
    fsType?: string
    nodePublishSecretRef?: corev1.LocalObjectReference
    readOnly?: boolean
    volumeAttributes?: map<string>
  `,
  "corev1.Capabilities": `
    add?: string[] atomic
    drop?: string[] atomic
  `,
  "corev1.CephFSPersistentVolumeSource": `
    monitors: string[] atomic
    path?: string
    readOnly?: boolean
    secretFile?: string
    secretRef?: corev1.SecretReference
    user?: string
  `,
  "corev1.CephFSVolumeSource": `
    monitors: string[] atomic
    path?: string
    readOnly?: boolean
    secretFile?: string
    secretRef?: corev1.LocalObjectReference
    user?: string
  `,
  "corev1.CinderPersistentVolumeSource": `
    fsType?: string
    readOnly?: boolean
    secretRef?: corev1.SecretReference
    volumeID: string
  `,
  "corev1.CinderVolumeSource": `
    fsType?: string
    readOnly?: boolean
    secretRef?: corev1.LocalObjectReference
    volumeID: string
  `,
  "corev1.ClientIPConfig": `
    timeoutSeconds?: int32
  `,
  "corev1.ClusterTrustBundleProjection": `
    labelSelector?: metav1.LabelSelector
    name?: string
    optional?: boolean
    path: string
    signerName?: string
  `,
  "corev1.ComponentCondition": `
    error?: string
    message?: string
    status: string
    type: string
  `,
  "corev1.ComponentStatus": `
    apiVersion?: "v1"
    conditions?: corev1.ComponentCondition[] by type
    kind?: "ComponentStatus"
    metadata?: metav1.ObjectMeta
  `,
  "corev1.ConfigMap": `
    apiVersion?: "v1"
    binaryData?: map<byte>
    data?: map<string>
    immutable?: boolean
    kind?: "ConfigMap"
    metadata: metav1.ObjectMeta
  `,
  "corev1.ConfigMapEnvSource": `
    name?: string
    optional?: boolean
  `,
  "corev1.ConfigMapKeySelector": `
    atomic
    key: string
    name?: string
    optional?: boolean
  `,
  "corev1.ConfigMapNodeConfigSource": `
    kubeletConfigKey: string
    name: string
    namespace: string
    resourceVersion?: string
    uid?: string
  `,
  "corev1.ConfigMapProjection": `
    items?: corev1.KeyToPath[] atomic
    name?: string
    optional?: boolean
  `,
  "corev1.ConfigMapVolumeSource": `
    defaultMode?: int32
    items?: corev1.KeyToPath[] atomic
    name?: string
    optional?: boolean
  `,
  "corev1.Container": `
    args?: string[] atomic
    command?: string[] atomic
    env?: corev1.EnvVar[] by name
    envFrom?: corev1.EnvFromSource[] atomic
    image?: string
    imagePullPolicy?: "Always" | "IfNotPresent" | "Never"
    lifecycle?: corev1.Lifecycle
    livenessProbe?: corev1.Probe
    name: string
    ports?: corev1.ContainerPort[] by containerPort,protocol
    readinessProbe?: corev1.Probe
    resizePolicy?: corev1.ContainerResizePolicy[] atomic
    resources?: corev1.ResourceRequirements
    restartPolicy?: string
    restartPolicyRules?: corev1.ContainerRestartRule[] atomic
    securityContext?: corev1.SecurityContext
    startupProbe?: corev1.Probe
    stdin?: boolean
    stdinOnce?: boolean
    terminationMessagePath?: string
    terminationMessagePolicy?: "FallbackToLogsOnError" | "File"
    tty?: boolean
    volumeDevices?: corev1.VolumeDevice[] by devicePath
    volumeMounts?: corev1.VolumeMount[] by mountPath
    workingDir?: string
  `,
  "corev1.ContainerExtendedResourceRequest": `
    containerName: string
    requestName: string
    resourceName: string
  `,
  "corev1.ContainerImage": `
    names?: string[] | null atomic
    sizeBytes?: int64
  `,
  "corev1.ContainerPort": `
    containerPort: int32
    hostIP?: string
    hostPort?: int32
    name?: string
    protocol?: "SCTP" | "TCP" | "UDP" = "TCP"
  `,
  "corev1.ContainerResizePolicy": `
    resourceName: string
    restartPolicy: string
  `,
  "corev1.ContainerRestartRule": `
    action: string
    exitCodes?: corev1.ContainerRestartRuleOnExitCodes
  `,
  "corev1.ContainerRestartRuleOnExitCodes": `
    operator: string
    values?: int32[] set
  `,
  "corev1.ContainerState": `
    running?: corev1.ContainerStateRunning
    terminated?: corev1.ContainerStateTerminated
    waiting?: corev1.ContainerStateWaiting
  `,
  "corev1.ContainerStateRunning": `
    startedAt?: date-time | null
  `,
  "corev1.ContainerStateTerminated": `
    containerID?: string
    exitCode: int32
    finishedAt?: date-time | null
    message?: string
    reason?: string
    signal?: int32
    startedAt?: date-time | null
  `,
  "corev1.ContainerStateWaiting": `
    message?: string
    reason?: string
  `,
  "corev1.ContainerStatus": `
    allocatedResources?: map<quantity>
    allocatedResourcesStatus?: corev1.ResourceStatus[] by name
    containerID?: string
    image: string
    imageID: string
    lastState?: corev1.ContainerState
    name: string
    ready: boolean
    resources?: corev1.ResourceRequirements
    restartCount: int32
    started?: boolean
    state?: corev1.ContainerState
    stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ"
    user?: corev1.ContainerUser
    volumeMounts?: corev1.VolumeMountStatus[] by mountPath
  `,
  "corev1.ContainerUser": `
    linux?: corev1.LinuxContainerUser
  `,
  "corev1.DaemonEndpoint": `
    Port: int32
  `,
  "corev1.DownwardAPIProjection": `
    items?: corev1.DownwardAPIVolumeFile[] atomic
  `,
  "corev1.DownwardAPIVolumeFile": `
    fieldRef?: corev1.ObjectFieldSelector
    mode?: int32
    path: string
    resourceFieldRef?: corev1.ResourceFieldSelector
  `,
  "corev1.DownwardAPIVolumeSource": `
    defaultMode?: int32
    items?: corev1.DownwardAPIVolumeFile[] atomic
  `,
  "corev1.EmptyDirVolumeSource": `
    medium?: string
    sizeLimit?: quantity
  `,
  "corev1.EndpointAddress": `
    atomic
    hostname?: string
    ip: string
    nodeName?: string
    targetRef?: corev1.ObjectReference
  `,
  "corev1.EndpointPort": `
    atomic
    appProtocol?: string
    name?: string
    port: int32
    protocol?: "SCTP" | "TCP" | "UDP"
  `,
  "corev1.EndpointSubset": `
    addresses?: corev1.EndpointAddress[] atomic
    notReadyAddresses?: corev1.EndpointAddress[] atomic
    ports?: corev1.EndpointPort[] atomic
  `,
  "corev1.Endpoints": `
    apiVersion?: "v1"
    kind?: "Endpoints"
    metadata: metav1.ObjectMeta
    subsets?: corev1.EndpointSubset[] atomic
  `,
  "corev1.EnvFromSource": `
    configMapRef?: corev1.ConfigMapEnvSource
    prefix?: string
    secretRef?: corev1.SecretEnvSource
  `,
  "corev1.EnvVar": `
    name: string
    value?: string
    valueFrom?: corev1.EnvVarSource
  `,
  "corev1.EnvVarSource": `
    configMapKeyRef?: corev1.ConfigMapKeySelector
    fieldRef?: corev1.ObjectFieldSelector
    fileKeyRef?: corev1.FileKeySelector
    resourceFieldRef?: corev1.ResourceFieldSelector
    secretKeyRef?: corev1.SecretKeySelector
  `,
  "corev1.EphemeralContainer": `
    args?: string[] atomic
    command?: string[] atomic
    env?: corev1.EnvVar[] by name
    envFrom?: corev1.EnvFromSource[] atomic
    image?: string
    imagePullPolicy?: "Always" | "IfNotPresent" | "Never"
    lifecycle?: corev1.Lifecycle
    livenessProbe?: corev1.Probe
    name: string
    ports?: corev1.ContainerPort[] by containerPort,protocol
    readinessProbe?: corev1.Probe
    resizePolicy?: corev1.ContainerResizePolicy[] atomic
    resources?: corev1.ResourceRequirements
    restartPolicy?: string
    restartPolicyRules?: corev1.ContainerRestartRule[] atomic
    securityContext?: corev1.SecurityContext
    startupProbe?: corev1.Probe
    stdin?: boolean
    stdinOnce?: boolean
    targetContainerName?: string
    terminationMessagePath?: string
    terminationMessagePolicy?: "FallbackToLogsOnError" | "File"
    tty?: boolean
    volumeDevices?: corev1.VolumeDevice[] by devicePath
    volumeMounts?: corev1.VolumeMount[] by mountPath
    workingDir?: string
  `,
  "corev1.EphemeralVolumeSource": `
    volumeClaimTemplate?: corev1.PersistentVolumeClaimTemplate
  `,
  "corev1.Event": `
    action?: string
    apiVersion?: "v1"
    count?: int32
    eventTime?: date-time | null
    firstTimestamp?: date-time | null
    involvedObject: corev1.ObjectReference
    kind?: "Event"
    lastTimestamp?: date-time | null
    message?: string
    metadata: metav1.ObjectMeta
    reason?: string
    related?: corev1.ObjectReference
    reportingComponent?: string
    reportingInstance?: string
    series?: corev1.EventSeries
    source?: corev1.EventSource
    type?: string
  `,
  "corev1.EventSeries": `
    count?: int32
    lastObservedTime?: date-time | null
  `,
  "corev1.EventSource": `
    component?: string
    host?: string
  `,
  "corev1.ExecAction": `
    command?: string[] atomic
  `,
  "corev1.FCVolumeSource": `
    fsType?: string
    lun?: int32
    readOnly?: boolean
    targetWWNs?: string[] atomic
    wwids?: string[] atomic
  `,
  "corev1.FileKeySelector": `
    atomic
    key: string
    optional?: boolean
    path: string
    volumeName: string
  `,
  "corev1.FlexPersistentVolumeSource": `
    driver: string
    fsType?: string
    options?: map<string>
    readOnly?: boolean
    secretRef?: corev1.SecretReference
  `,
  "corev1.FlexVolumeSource": `
    driver: string
    fsType?: string
    options?: map<string>
    readOnly?: boolean
    secretRef?: corev1.LocalObjectReference
  `,
  "corev1.FlockerVolumeSource": `
    datasetName?: string
    datasetUUID?: string
  `,
  "corev1.GCEPersistentDiskVolumeSource": `
    fsType?: string
    partition?: int32
    pdName: string
    readOnly?: boolean
  `,
  "corev1.GRPCAction": `
    port: int32
    service?: string
  `,
  "corev1.GitRepoVolumeSource": `
    directory?: string
    repository: string
    revision?: string
  `,
  "corev1.GlusterfsPersistentVolumeSource": `
    endpoints: string
    endpointsNamespace?: string
    path: string
    readOnly?: boolean
  `,
  "corev1.GlusterfsVolumeSource": `
    endpoints: string
    path: string
    readOnly?: boolean
  `,
  "corev1.HTTPGetAction": `
    host?: string
    httpHeaders?: corev1.HTTPHeader[] atomic
    path?: string
    port: int-or-string
    scheme?: "HTTP" | "HTTPS"
  `,
  "corev1.HTTPHeader": `
    name: string
    value: string
  `,
  "corev1.HostAlias": `
    hostnames?: string[] atomic
    ip: string
  `,
  "corev1.HostIP": `
    ip: string
  `,
  "corev1.HostPathVolumeSource": `
    path: string
    type?: "" | "BlockDevice" | "CharDevice" | "Directory" | "DirectoryOrCreate" | "File" | "FileOrCreate" | "Socket"
  `,
  "corev1.ISCSIPersistentVolumeSource": `
    chapAuthDiscovery?: boolean
    chapAuthSession?: boolean
    fsType?: string
    initiatorName?: string
    iqn: string
    iscsiInterface?: string
    lun: int32
    portals?: string[] atomic
    readOnly?: boolean
    secretRef?: corev1.SecretReference
    targetPortal: string
  `,
  "corev1.ISCSIVolumeSource": `
    chapAuthDiscovery?: boolean
    chapAuthSession?: boolean
    fsType?: string
    initiatorName?: string
    iqn: string
    iscsiInterface?: string
    lun: int32
    portals?: string[] atomic
    readOnly?: boolean
    secretRef?: corev1.LocalObjectReference
    targetPortal: string
  `,
  "corev1.ImageVolumeSource": `
    pullPolicy?: "Always" | "IfNotPresent" | "Never"
    reference?: string
  `,
  "corev1.KeyToPath": `
    key: string
    mode?: int32
    path: string
  `,
  "corev1.Lifecycle": `
    postStart?: corev1.LifecycleHandler
    preStop?: corev1.LifecycleHandler
    stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ"
  `,
  "corev1.LifecycleHandler": `
    exec?: corev1.ExecAction
    httpGet?: corev1.HTTPGetAction
    sleep?: corev1.SleepAction
    tcpSocket?: corev1.TCPSocketAction
  `,
  "corev1.LimitRange": `
    apiVersion?: "v1"
    kind?: "LimitRange"
    metadata: metav1.ObjectMeta
    spec: corev1.LimitRangeSpec
  `,
  "corev1.LimitRangeItem": `
    default?: map<quantity>
    defaultRequest?: map<quantity>
    max?: map<quantity>
    maxLimitRequestRatio?: map<quantity>
    min?: map<quantity>
    type: string
  `,
  "corev1.LimitRangeSpec": `
    limits: corev1.LimitRangeItem[] | null atomic
  `,
  "corev1.LinuxContainerUser": `
    gid: int64
    supplementalGroups?: int64[] atomic
    uid: int64
  `,
  "corev1.LoadBalancerIngress": `
    hostname?: string
    ip?: string
    ipMode?: string
    ports?: corev1.PortStatus[] atomic
  `,
  "corev1.LoadBalancerStatus": `
    ingress?: corev1.LoadBalancerIngress[] atomic
  `,
  "corev1.LocalObjectReference": `
    atomic
    name?: string = ""
  `,
  "corev1.LocalVolumeSource": `
    fsType?: string
    path: string
  `,
  "corev1.ModifyVolumeStatus": `
    status: "InProgress" | "Infeasible" | "Pending"
    targetVolumeAttributesClassName?: string
  `,
  "corev1.NFSVolumeSource": `
    path: string
    readOnly?: boolean
    server: string
  `,
  "corev1.Namespace": `
    apiVersion?: "v1"
    kind?: "Namespace"
    metadata: metav1.ObjectMeta
    spec?: corev1.NamespaceSpec
    status?: corev1.NamespaceStatus
  `,
  "corev1.NamespaceCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "corev1.NamespaceSpec": `
    finalizers?: string[] atomic
  `,
  "corev1.NamespaceStatus": `
    conditions?: corev1.NamespaceCondition[] by type
    phase?: "Active" | "Terminating"
  `,
  "corev1.Node": `
    apiVersion?: "v1"
    kind?: "Node"
    metadata: metav1.ObjectMeta
    spec?: corev1.NodeSpec
    status?: corev1.NodeStatus
  `,
  "corev1.NodeAddress": `
    address: string
    type: string
  `,
  "corev1.NodeAffinity": `
    preferredDuringSchedulingIgnoredDuringExecution?: corev1.PreferredSchedulingTerm[] atomic
    requiredDuringSchedulingIgnoredDuringExecution?: corev1.NodeSelector
  `,
  "corev1.NodeCondition": `
    lastHeartbeatTime?: date-time | null
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "corev1.NodeConfigSource": `
    configMap?: corev1.ConfigMapNodeConfigSource
  `,
  "corev1.NodeConfigStatus": `
    active?: corev1.NodeConfigSource
    assigned?: corev1.NodeConfigSource
    error?: string
    lastKnownGood?: corev1.NodeConfigSource
  `,
  "corev1.NodeDaemonEndpoints": `
    kubeletEndpoint: corev1.DaemonEndpoint
  `,
  "corev1.NodeFeatures": `
    supplementalGroupsPolicy?: boolean
  `,
  "corev1.NodeRuntimeHandler": `
    features?: corev1.NodeRuntimeHandlerFeatures
    name?: string
  `,
  "corev1.NodeRuntimeHandlerFeatures": `
    recursiveReadOnlyMounts?: boolean
    userNamespaces?: boolean
  `,
  "corev1.NodeSelector": `
    atomic
    nodeSelectorTerms: corev1.NodeSelectorTerm[] atomic
  `,
  "corev1.NodeSelectorRequirement": `
    key: string
    operator: "DoesNotExist" | "Exists" | "Gt" | "In" | "Lt" | "NotIn"
    values?: string[] atomic
  `,
  "corev1.NodeSelectorTerm": `
    atomic
    matchExpressions?: corev1.NodeSelectorRequirement[] atomic
    matchFields?: corev1.NodeSelectorRequirement[] atomic
  `,
  "corev1.NodeSpec": `
    configSource?: corev1.NodeConfigSource
    externalID?: string
    podCIDR?: string
    podCIDRs?: string[] set
    providerID?: string
    taints?: corev1.Taint[] atomic
    unschedulable?: boolean
  `,
  "corev1.NodeStatus": `
    addresses?: corev1.NodeAddress[] by type
    allocatable?: map<quantity>
    capacity?: map<quantity>
    conditions?: corev1.NodeCondition[] by type
    config?: corev1.NodeConfigStatus
    daemonEndpoints?: corev1.NodeDaemonEndpoints
    declaredFeatures?: string[] atomic
    features?: corev1.NodeFeatures
    images?: corev1.ContainerImage[] atomic
    nodeInfo?: corev1.NodeSystemInfo
    phase?: "Pending" | "Running" | "Terminated"
    runtimeHandlers?: corev1.NodeRuntimeHandler[] atomic
    volumesAttached?: corev1.AttachedVolume[] atomic
    volumesInUse?: string[] atomic
  `,
  "corev1.NodeSwapStatus": `
    capacity?: int64
  `,
  "corev1.NodeSystemInfo": `
    architecture: string
    bootID: string
    containerRuntimeVersion: string
    kernelVersion: string
    kubeProxyVersion: string
    kubeletVersion: string
    machineID: string
    operatingSystem: string
    osImage: string
    swap?: corev1.NodeSwapStatus
    systemUUID: string
  `,
  "corev1.ObjectFieldSelector": `
    atomic
    apiVersion?: string
    fieldPath: string
  `,
  "corev1.ObjectReference": `
    atomic
    apiVersion?: string
    fieldPath?: string
    kind?: string
    name?: string
    namespace?: string
    resourceVersion?: string
    uid?: string
  `,
  "corev1.PersistentVolume": `
    apiVersion?: "v1"
    kind?: "PersistentVolume"
    metadata: metav1.ObjectMeta
    spec?: corev1.PersistentVolumeSpec
    status?: corev1.PersistentVolumeStatus
  `,
  "corev1.PersistentVolumeClaim": `
    apiVersion?: "v1"
    kind?: "PersistentVolumeClaim"
    metadata: metav1.ObjectMeta
    spec?: corev1.PersistentVolumeClaimSpec
    status?: corev1.PersistentVolumeClaimStatus
  `,
  "corev1.PersistentVolumeClaimCondition": `
    lastProbeTime?: date-time | null
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "corev1.PersistentVolumeClaimSpec": `
    accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] atomic
    dataSource?: corev1.TypedLocalObjectReference
    dataSourceRef?: corev1.TypedObjectReference
    resources?: corev1.VolumeResourceRequirements
    selector?: metav1.LabelSelector
    storageClassName?: string
    volumeAttributesClassName?: string
    volumeMode?: "Block" | "Filesystem"
    volumeName?: string
  `,
  "corev1.PersistentVolumeClaimStatus": `
    accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] atomic
    allocatedResourceStatuses?: map<"ControllerResizeInProgress" | "ControllerResizeInfeasible" | "NodeResizeInProgress" | "NodeResizeInfeasible" | "NodeResizePending">
    allocatedResources?: map<quantity>
    capacity?: map<quantity>
    conditions?: corev1.PersistentVolumeClaimCondition[] by type
    currentVolumeAttributesClassName?: string
    modifyVolumeStatus?: corev1.ModifyVolumeStatus
    phase?: "Bound" | "Lost" | "Pending"
  `,
  "corev1.PersistentVolumeClaimTemplate": `
    metadata?: metav1.ObjectMeta
    spec: corev1.PersistentVolumeClaimSpec
  `,
  "corev1.PersistentVolumeClaimVolumeSource": `
    claimName: string
    readOnly?: boolean
  `,
  "corev1.PersistentVolumeSpec": `
    accessModes?: ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] atomic
    awsElasticBlockStore?: corev1.AWSElasticBlockStoreVolumeSource
    azureDisk?: corev1.AzureDiskVolumeSource
    azureFile?: corev1.AzureFilePersistentVolumeSource
    capacity?: map<quantity>
    cephfs?: corev1.CephFSPersistentVolumeSource
    cinder?: corev1.CinderPersistentVolumeSource
    claimRef?: corev1.ObjectReference granular
    csi?: corev1.CSIPersistentVolumeSource
    fc?: corev1.FCVolumeSource
    flexVolume?: corev1.FlexPersistentVolumeSource
    flocker?: corev1.FlockerVolumeSource
    gcePersistentDisk?: corev1.GCEPersistentDiskVolumeSource
    glusterfs?: corev1.GlusterfsPersistentVolumeSource
    hostPath?: corev1.HostPathVolumeSource
    iscsi?: corev1.ISCSIPersistentVolumeSource
    local?: corev1.LocalVolumeSource
    mountOptions?: string[] atomic
    nfs?: corev1.NFSVolumeSource
    nodeAffinity?: corev1.VolumeNodeAffinity
    persistentVolumeReclaimPolicy?: "Delete" | "Recycle" | "Retain"
    photonPersistentDisk?: corev1.PhotonPersistentDiskVolumeSource
    portworxVolume?: corev1.PortworxVolumeSource
    quobyte?: corev1.QuobyteVolumeSource
    rbd?: corev1.RBDPersistentVolumeSource
    scaleIO?: corev1.ScaleIOPersistentVolumeSource
    storageClassName?: string
    storageos?: corev1.StorageOSPersistentVolumeSource
    volumeAttributesClassName?: string
    volumeMode?: "Block" | "Filesystem"
    vsphereVolume?: corev1.VsphereVirtualDiskVolumeSource
  `,
  "corev1.PersistentVolumeStatus": `
    lastPhaseTransitionTime?: date-time
    message?: string
    phase?: "Available" | "Bound" | "Failed" | "Pending" | "Released"
    reason?: string
  `,
  "corev1.PhotonPersistentDiskVolumeSource": `
    fsType?: string
    pdID: string
  `,
  "corev1.Pod": `
    apiVersion?: "v1"
    kind?: "Pod"
    metadata: metav1.ObjectMeta
    spec: corev1.PodSpec
    status?: corev1.PodStatus
  `,
  "corev1.PodAffinity": `
    preferredDuringSchedulingIgnoredDuringExecution?: corev1.WeightedPodAffinityTerm[] atomic
    requiredDuringSchedulingIgnoredDuringExecution?: corev1.PodAffinityTerm[] atomic
  `,
  "corev1.PodAffinityTerm": `
    labelSelector?: metav1.LabelSelector
    matchLabelKeys?: string[] atomic
    mismatchLabelKeys?: string[] atomic
    namespaceSelector?: metav1.LabelSelector
    namespaces?: string[] atomic
    topologyKey: string
  `,
  "corev1.PodAntiAffinity": `
    preferredDuringSchedulingIgnoredDuringExecution?: corev1.WeightedPodAffinityTerm[] atomic
    requiredDuringSchedulingIgnoredDuringExecution?: corev1.PodAffinityTerm[] atomic
  `,
  "corev1.PodCertificateProjection": `
    certificateChainPath?: string
    credentialBundlePath?: string
    keyPath?: string
    keyType: string
    maxExpirationSeconds?: int32
    signerName: string
    userAnnotations?: map<string>
  `,
  "corev1.PodCondition": `
    lastProbeTime?: date-time | null
    lastTransitionTime?: date-time | null
    message?: string
    observedGeneration?: int64
    reason?: string
    status: string
    type: string
  `,
  "corev1.PodDNSConfig": `
    nameservers?: string[] atomic
    options?: corev1.PodDNSConfigOption[] atomic
    searches?: string[] atomic
  `,
  "corev1.PodDNSConfigOption": `
    name?: string
    value?: string
  `,
  "corev1.PodExtendedResourceClaimStatus": `
    requestMappings: corev1.ContainerExtendedResourceRequest[] | null atomic
    resourceClaimName: string
  `,
  "corev1.PodIP": `
    ip: string
  `,
  "corev1.PodOS": `
    name: string
  `,
  "corev1.PodReadinessGate": `
    conditionType: string
  `,
  "corev1.PodResourceClaim": `
    name: string
    resourceClaimName?: string
    resourceClaimTemplateName?: string
  `,
  "corev1.PodResourceClaimStatus": `
    name: string
    resourceClaimName?: string
  `,
  "corev1.PodSchedulingGate": `
    name: string
  `,
  "corev1.PodSecurityContext": `
    appArmorProfile?: corev1.AppArmorProfile
    fsGroup?: int64
    fsGroupChangePolicy?: "Always" | "OnRootMismatch"
    runAsGroup?: int64
    runAsNonRoot?: boolean
    runAsUser?: int64
    seLinuxChangePolicy?: string
    seLinuxOptions?: corev1.SELinuxOptions
    seccompProfile?: corev1.SeccompProfile
    supplementalGroups?: int64[] atomic
    supplementalGroupsPolicy?: "Merge" | "Strict"
    sysctls?: corev1.Sysctl[] atomic
    windowsOptions?: corev1.WindowsSecurityContextOptions
  `,
  "corev1.PodSpec": `
    activeDeadlineSeconds?: int64
    affinity?: corev1.Affinity
    automountServiceAccountToken?: boolean
    containers: corev1.Container[] by name
    dnsConfig?: corev1.PodDNSConfig
    dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None"
    enableServiceLinks?: boolean
    ephemeralContainers?: corev1.EphemeralContainer[] by name
    hostAliases?: corev1.HostAlias[] by ip
    hostIPC?: boolean
    hostNetwork?: boolean
    hostPID?: boolean
    hostUsers?: boolean
    hostname?: string
    hostnameOverride?: string
    imagePullSecrets?: corev1.LocalObjectReference[] by name
    initContainers?: corev1.Container[] by name
    nodeName?: string
    nodeSelector?: map<string> atomic
    os?: corev1.PodOS
    overhead?: map<quantity>
    preemptionPolicy?: "Never" | "PreemptLowerPriority"
    priority?: int32
    priorityClassName?: string
    readinessGates?: corev1.PodReadinessGate[] atomic
    resourceClaims?: corev1.PodResourceClaim[] by name
    resources?: corev1.ResourceRequirements
    restartPolicy?: "Always" | "Never" | "OnFailure"
    runtimeClassName?: string
    schedulerName?: string
    schedulingGates?: corev1.PodSchedulingGate[] by name
    securityContext?: corev1.PodSecurityContext
    serviceAccount?: string
    serviceAccountName?: string
    setHostnameAsFQDN?: boolean
    shareProcessNamespace?: boolean
    subdomain?: string
    terminationGracePeriodSeconds?: int64
    tolerations?: corev1.Toleration[] atomic
    topologySpreadConstraints?: corev1.TopologySpreadConstraint[] by topologyKey,whenUnsatisfiable
    volumes?: corev1.Volume[] by name
    workloadRef?: corev1.WorkloadReference
  `,
  "corev1.PodStatus": `
    allocatedResources?: map<quantity>
    conditions?: corev1.PodCondition[] by type
    containerStatuses?: corev1.ContainerStatus[] atomic
    ephemeralContainerStatuses?: corev1.ContainerStatus[] atomic
    extendedResourceClaimStatus?: corev1.PodExtendedResourceClaimStatus
    hostIP?: string
    hostIPs?: corev1.HostIP[] atomic
    initContainerStatuses?: corev1.ContainerStatus[] atomic
    message?: string
    nominatedNodeName?: string
    observedGeneration?: int64
    phase?: "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown"
    podIP?: string
    podIPs?: corev1.PodIP[] by ip
    qosClass?: "BestEffort" | "Burstable" | "Guaranteed"
    reason?: string
    resize?: string
    resourceClaimStatuses?: corev1.PodResourceClaimStatus[] by name
    resources?: corev1.ResourceRequirements
    startTime?: date-time
  `,
  "corev1.PodTemplate": `
    apiVersion?: "v1"
    kind?: "PodTemplate"
    metadata: metav1.ObjectMeta
    template?: corev1.PodTemplateSpec
  `,
  "corev1.PodTemplateSpec": `
    metadata?: metav1.ObjectMeta
    spec: corev1.PodSpec
  `,
  "corev1.PortStatus": `
    error?: string
    port: int32
    protocol: "SCTP" | "TCP" | "UDP"
  `,
  "corev1.PortworxVolumeSource": `
    fsType?: string
    readOnly?: boolean
    volumeID: string
  `,
  "corev1.PreferredSchedulingTerm": `
    preference: corev1.NodeSelectorTerm
    weight: int32
  `,
  "corev1.Probe": `
    exec?: corev1.ExecAction
    failureThreshold?: int32
    grpc?: corev1.GRPCAction
    httpGet?: corev1.HTTPGetAction
    initialDelaySeconds?: int32
    periodSeconds?: int32
    successThreshold?: int32
    tcpSocket?: corev1.TCPSocketAction
    terminationGracePeriodSeconds?: int64
    timeoutSeconds?: int32
  `,
  "corev1.ProjectedVolumeSource": `
    defaultMode?: int32
    sources?: corev1.VolumeProjection[] | null atomic
  `,
  "corev1.QuobyteVolumeSource": `
    group?: string
    readOnly?: boolean
    registry: string
    tenant?: string
    user?: string
    volume: string
  `,
  "corev1.RBDPersistentVolumeSource": `
    fsType?: string
    image: string
    keyring?: string
    monitors: string[] atomic
    pool?: string
    readOnly?: boolean
    secretRef?: corev1.SecretReference
    user?: string
  `,
  "corev1.RBDVolumeSource": `
    fsType?: string
    image: string
    keyring?: string
    monitors: string[] atomic
    pool?: string
    readOnly?: boolean
    secretRef?: corev1.LocalObjectReference
    user?: string
  `,
  "corev1.ReplicationController": `
    apiVersion?: "v1"
    kind?: "ReplicationController"
    metadata: metav1.ObjectMeta
    spec?: corev1.ReplicationControllerSpec
    status?: corev1.ReplicationControllerStatus
  `,
  "corev1.ReplicationControllerCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "corev1.ReplicationControllerSpec": `
    minReadySeconds?: int32
    replicas?: int32
    selector?: map<string> atomic
    template?: corev1.PodTemplateSpec
  `,
  "corev1.ReplicationControllerStatus": `
    availableReplicas?: int32
    conditions?: corev1.ReplicationControllerCondition[] by type
    fullyLabeledReplicas?: int32
    observedGeneration?: int64
    readyReplicas?: int32
    replicas: int32
  `,
  "corev1.ResourceClaim": `
    name: string
    request?: string
  `,
  "corev1.ResourceFieldSelector": `
    atomic
    containerName?: string
    divisor?: quantity
    resource: string
  `,
  "corev1.ResourceHealth": `
    health?: string
    resourceID: string
  `,
  "corev1.ResourceQuota": `
    apiVersion?: "v1"
    kind?: "ResourceQuota"
    metadata: metav1.ObjectMeta
    spec?: corev1.ResourceQuotaSpec
    status?: corev1.ResourceQuotaStatus
  `,
  "corev1.ResourceQuotaSpec": `
    hard?: map<quantity>
    scopeSelector?: corev1.ScopeSelector
    scopes?: ("BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass")[] atomic
  `,
  "corev1.ResourceQuotaStatus": `
    hard?: map<quantity>
    used?: map<quantity>
  `,
  "corev1.ResourceRequirements": `
    claims?: corev1.ResourceClaim[] by name
    limits?: map<quantity>
    requests?: map<quantity>
  `,
  "corev1.ResourceStatus": `
    name: string
    resources?: corev1.ResourceHealth[] by resourceID
  `,
  "corev1.SELinuxOptions": `
    level?: string
    role?: string
    type?: string
    user?: string
  `,
  "corev1.ScaleIOPersistentVolumeSource": `
    fsType?: string
    gateway: string
    protectionDomain?: string
    readOnly?: boolean
    secretRef: corev1.SecretReference | null
    sslEnabled?: boolean
    storageMode?: string
    storagePool?: string
    system: string
    volumeName?: string
  `,
  "corev1.ScaleIOVolumeSource": `
    fsType?: string
    gateway: string
    protectionDomain?: string
    readOnly?: boolean
    secretRef: corev1.LocalObjectReference | null
    sslEnabled?: boolean
    storageMode?: string
    storagePool?: string
    system: string
    volumeName?: string
  `,
  "corev1.ScopeSelector": `
    atomic
    matchExpressions?: corev1.ScopedResourceSelectorRequirement[] atomic
  `,
  "corev1.ScopedResourceSelectorRequirement": `
    operator: "DoesNotExist" | "Exists" | "In" | "NotIn"
    scopeName: "BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass"
    values?: string[] atomic
  `,
  "corev1.SeccompProfile": `
    localhostProfile?: string
    type: "Localhost" | "RuntimeDefault" | "Unconfined"
  `,
  "corev1.Secret": `
    apiVersion?: "v1"
    data?: map<byte>
    immutable?: boolean
    kind?: "Secret"
    metadata: metav1.ObjectMeta
    stringData?: map<string>
    type?: string
  `,
  "corev1.SecretEnvSource": `
    name?: string
    optional?: boolean
  `,
  "corev1.SecretKeySelector": `
    atomic
    key: string
    name?: string
    optional?: boolean
  `,
  "corev1.SecretProjection": `
    items?: corev1.KeyToPath[] atomic
    name?: string
    optional?: boolean
  `,
  "corev1.SecretReference": `
    atomic
    name?: string
    namespace?: string
  `,
  "corev1.SecretVolumeSource": `
    defaultMode?: int32
    items?: corev1.KeyToPath[] atomic
    optional?: boolean
    secretName?: string
  `,
  "corev1.SecurityContext": `
    allowPrivilegeEscalation?: boolean
    appArmorProfile?: corev1.AppArmorProfile
    capabilities?: corev1.Capabilities
    privileged?: boolean
    procMount?: "Default" | "Unmasked"
    readOnlyRootFilesystem?: boolean
    runAsGroup?: int64
    runAsNonRoot?: boolean
    runAsUser?: int64
    seLinuxOptions?: corev1.SELinuxOptions
    seccompProfile?: corev1.SeccompProfile
    windowsOptions?: corev1.WindowsSecurityContextOptions
  `,
  "corev1.Service": `
    apiVersion?: "v1"
    kind?: "Service"
    metadata: metav1.ObjectMeta
    spec?: corev1.ServiceSpec
    status?: corev1.ServiceStatus
  `,
  "corev1.ServiceAccount": `
    apiVersion?: "v1"
    automountServiceAccountToken?: boolean
    imagePullSecrets?: corev1.LocalObjectReference[] atomic
    kind?: "ServiceAccount"
    metadata: metav1.ObjectMeta
    secrets?: corev1.ObjectReference[] atomic
  `,
  "corev1.ServiceAccountTokenProjection": `
    audience?: string
    expirationSeconds?: int64
    path: string
  `,
  "corev1.ServicePort": `
    appProtocol?: string
    name?: string
    nodePort?: int32
    port: int32
    protocol?: "SCTP" | "TCP" | "UDP" = "TCP"
    targetPort?: int-or-string
  `,
  "corev1.ServiceSpec": `
    allocateLoadBalancerNodePorts?: boolean
    clusterIP?: string
    clusterIPs?: string[] atomic
    externalIPs?: string[] atomic
    externalName?: string
    externalTrafficPolicy?: "Cluster" | "Local"
    healthCheckNodePort?: int32
    internalTrafficPolicy?: "Cluster" | "Local"
    ipFamilies?: ("" | "IPv4" | "IPv6")[] atomic
    ipFamilyPolicy?: "PreferDualStack" | "RequireDualStack" | "SingleStack"
    loadBalancerClass?: string
    loadBalancerIP?: string
    loadBalancerSourceRanges?: string[] atomic
    ports?: corev1.ServicePort[] by port,protocol
    publishNotReadyAddresses?: boolean
    selector?: map<string> atomic
    sessionAffinity?: "ClientIP" | "None"
    sessionAffinityConfig?: corev1.SessionAffinityConfig
    trafficDistribution?: string
    type?: "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort"
  `,
  "corev1.ServiceStatus": `
    conditions?: metav1.Condition[] by type
    loadBalancer?: corev1.LoadBalancerStatus
  `,
  "corev1.SessionAffinityConfig": `
    clientIP?: corev1.ClientIPConfig
  `,
  "corev1.SleepAction": `
    seconds: int64
  `,
  "corev1.StorageOSPersistentVolumeSource": `
    fsType?: string
    readOnly?: boolean
    secretRef?: corev1.ObjectReference
    volumeName?: string
    volumeNamespace?: string
  `,
  "corev1.StorageOSVolumeSource": `
    fsType?: string
    readOnly?: boolean
    secretRef?: corev1.LocalObjectReference
    volumeName?: string
    volumeNamespace?: string
  `,
  "corev1.Sysctl": `
    name: string
    value: string
  `,
  "corev1.TCPSocketAction": `
    host?: string
    port: int-or-string
  `,
  "corev1.Taint": `
    effect: "NoExecute" | "NoSchedule" | "PreferNoSchedule"
    key: string
    timeAdded?: date-time
    value?: string
  `,
  "corev1.Toleration": `
    effect?: "NoExecute" | "NoSchedule" | "PreferNoSchedule"
    key?: string
    operator?: "Equal" | "Exists" | "Gt" | "Lt"
    tolerationSeconds?: int64
    value?: string
  `,
  "corev1.TopologySelectorLabelRequirement": `
    key: string
    values: string[] atomic
  `,
  "corev1.TopologySelectorTerm": `
    atomic
    matchLabelExpressions?: corev1.TopologySelectorLabelRequirement[] atomic
  `,
  "corev1.TopologySpreadConstraint": `
    labelSelector?: metav1.LabelSelector
    matchLabelKeys?: string[] atomic
    maxSkew: int32
    minDomains?: int32
    nodeAffinityPolicy?: "Honor" | "Ignore"
    nodeTaintsPolicy?: "Honor" | "Ignore"
    topologyKey: string
    whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway"
  `,
  "corev1.TypedLocalObjectReference": `
    atomic
    apiGroup?: string | null
    kind: string
    name: string
  `,
  "corev1.TypedObjectReference": `
    apiGroup?: string | null
    kind: string
    name: string
    namespace?: string
  `,
  "corev1.Volume": `
    awsElasticBlockStore?: corev1.AWSElasticBlockStoreVolumeSource
    azureDisk?: corev1.AzureDiskVolumeSource
    azureFile?: corev1.AzureFileVolumeSource
    cephfs?: corev1.CephFSVolumeSource
    cinder?: corev1.CinderVolumeSource
    configMap?: corev1.ConfigMapVolumeSource
    csi?: corev1.CSIVolumeSource
    downwardAPI?: corev1.DownwardAPIVolumeSource
    emptyDir?: corev1.EmptyDirVolumeSource
    ephemeral?: corev1.EphemeralVolumeSource
    fc?: corev1.FCVolumeSource
    flexVolume?: corev1.FlexVolumeSource
    flocker?: corev1.FlockerVolumeSource
    gcePersistentDisk?: corev1.GCEPersistentDiskVolumeSource
    gitRepo?: corev1.GitRepoVolumeSource
    glusterfs?: corev1.GlusterfsVolumeSource
    hostPath?: corev1.HostPathVolumeSource
    image?: corev1.ImageVolumeSource
    iscsi?: corev1.ISCSIVolumeSource
    name: string
    nfs?: corev1.NFSVolumeSource
    persistentVolumeClaim?: corev1.PersistentVolumeClaimVolumeSource
    photonPersistentDisk?: corev1.PhotonPersistentDiskVolumeSource
    portworxVolume?: corev1.PortworxVolumeSource
    projected?: corev1.ProjectedVolumeSource
    quobyte?: corev1.QuobyteVolumeSource
    rbd?: corev1.RBDVolumeSource
    scaleIO?: corev1.ScaleIOVolumeSource
    secret?: corev1.SecretVolumeSource
    storageos?: corev1.StorageOSVolumeSource
    vsphereVolume?: corev1.VsphereVirtualDiskVolumeSource
  `,
  "corev1.VolumeDevice": `
    devicePath: string
    name: string
  `,
  "corev1.VolumeMount": `
    mountPath: string
    mountPropagation?: "Bidirectional" | "HostToContainer" | "None"
    name: string
    readOnly?: boolean
    recursiveReadOnly?: string
    subPath?: string
    subPathExpr?: string
  `,
  "corev1.VolumeMountStatus": `
    mountPath: string
    name: string
    readOnly?: boolean
    recursiveReadOnly?: string
  `,
  "corev1.VolumeNodeAffinity": `
    required?: corev1.NodeSelector
  `,
  "corev1.VolumeProjection": `
    clusterTrustBundle?: corev1.ClusterTrustBundleProjection
    configMap?: corev1.ConfigMapProjection
    downwardAPI?: corev1.DownwardAPIProjection
    podCertificate?: corev1.PodCertificateProjection
    secret?: corev1.SecretProjection
    serviceAccountToken?: corev1.ServiceAccountTokenProjection
  `,
  "corev1.VolumeResourceRequirements": `
    limits?: map<quantity>
    requests?: map<quantity>
  `,
  "corev1.VsphereVirtualDiskVolumeSource": `
    fsType?: string
    storagePolicyID?: string
    storagePolicyName?: string
    volumePath: string
  `,
  "corev1.WeightedPodAffinityTerm": `
    podAffinityTerm: corev1.PodAffinityTerm
    weight: int32
  `,
  "corev1.WindowsSecurityContextOptions": `
    gmsaCredentialSpec?: string
    gmsaCredentialSpecName?: string
    hostProcess?: boolean
    runAsUserName?: string
  `,
  "corev1.WorkloadReference": `
    name: string
    podGroup: string
    podGroupReplicaKey?: string
  `,
  "discoveryv1.Endpoint": `
    addresses: string[] set
    conditions?: discoveryv1.EndpointConditions
    deprecatedTopology?: map<string>
    hints?: discoveryv1.EndpointHints
    hostname?: string
    nodeName?: string
    targetRef?: corev1.ObjectReference
    zone?: string
  `,
  "discoveryv1.EndpointConditions": `
    ready?: boolean
    serving?: boolean
    terminating?: boolean
  `,
  "discoveryv1.EndpointHints": `
    forNodes?: discoveryv1.ForNode[] atomic
    forZones?: discoveryv1.ForZone[] atomic
  `,
  "discoveryv1.EndpointPort": `
    atomic
    appProtocol?: string
    name?: string
    port?: int32
    protocol?: "SCTP" | "TCP" | "UDP"
  `,
  "discoveryv1.EndpointSlice": `
    addressType: "FQDN" | "IPv4" | "IPv6"
    apiVersion?: "discovery.k8s.io/v1"
    endpoints: discoveryv1.Endpoint[] | null atomic
    kind?: "EndpointSlice"
    metadata: metav1.ObjectMeta
    ports?: discoveryv1.EndpointPort[] | null atomic
  `,
  "discoveryv1.ForNode": `
    name: string
  `,
  "discoveryv1.ForZone": `
    name: string
  `,
  "eventsv1.Event": `
    action?: string
    apiVersion?: "events.k8s.io/v1"
    deprecatedCount?: int32
    deprecatedFirstTimestamp?: date-time | null
    deprecatedLastTimestamp?: date-time | null
    deprecatedSource?: corev1.EventSource
    eventTime: date-time | null
    kind?: "Event"
    metadata: metav1.ObjectMeta
    note?: string
    reason?: string
    regarding?: corev1.ObjectReference
    related?: corev1.ObjectReference
    reportingController?: string
    reportingInstance?: string
    series?: eventsv1.EventSeries
    type?: string
  `,
  "eventsv1.EventSeries": `
    count: int32
    lastObservedTime: date-time | null
  `,
  "flowcontrolv1.ExemptPriorityLevelConfiguration": `
    lendablePercent?: int32
    nominalConcurrencyShares?: int32
  `,
  "flowcontrolv1.FlowDistinguisherMethod": `
    type: string
  `,
  "flowcontrolv1.FlowSchema": `
    apiVersion?: "flowcontrol.apiserver.k8s.io/v1"
    kind?: "FlowSchema"
    metadata: metav1.ObjectMeta
    spec: flowcontrolv1.FlowSchemaSpec
    status?: flowcontrolv1.FlowSchemaStatus
  `,
  "flowcontrolv1.FlowSchemaCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status?: string
    type?: string
  `,
  "flowcontrolv1.FlowSchemaSpec": `
    distinguisherMethod?: flowcontrolv1.FlowDistinguisherMethod
    matchingPrecedence?: int32
    priorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference
    rules?: flowcontrolv1.PolicyRulesWithSubjects[] atomic
  `,
  "flowcontrolv1.FlowSchemaStatus": `
    conditions?: flowcontrolv1.FlowSchemaCondition[] atomic
  `,
  "flowcontrolv1.GroupSubject": `
    name: string
  `,
  "flowcontrolv1.LimitResponse": `
    queuing?: flowcontrolv1.QueuingConfiguration
    type: string
  `,
  "flowcontrolv1.LimitedPriorityLevelConfiguration": `
    borrowingLimitPercent?: int32
    lendablePercent?: int32
    limitResponse: flowcontrolv1.LimitResponse
    nominalConcurrencyShares?: int32
  `,
  "flowcontrolv1.NonResourcePolicyRule": `
    nonResourceURLs: string[] set
    verbs: string[] set
  `,
  "flowcontrolv1.PolicyRulesWithSubjects": `
    nonResourceRules?: flowcontrolv1.NonResourcePolicyRule[] atomic
    resourceRules?: flowcontrolv1.ResourcePolicyRule[] atomic
    subjects: flowcontrolv1.Subject[] atomic
  `,
  "flowcontrolv1.PriorityLevelConfiguration": `
    apiVersion?: "flowcontrol.apiserver.k8s.io/v1"
    kind?: "PriorityLevelConfiguration"
    metadata: metav1.ObjectMeta
    spec: flowcontrolv1.PriorityLevelConfigurationSpec
    status?: flowcontrolv1.PriorityLevelConfigurationStatus
  `,
  "flowcontrolv1.PriorityLevelConfigurationCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status?: string
    type?: string
  `,
  "flowcontrolv1.PriorityLevelConfigurationReference": `
    name: string
  `,
  "flowcontrolv1.PriorityLevelConfigurationSpec": `
    exempt?: flowcontrolv1.ExemptPriorityLevelConfiguration
    limited?: flowcontrolv1.LimitedPriorityLevelConfiguration
    type: string
  `,
  "flowcontrolv1.PriorityLevelConfigurationStatus": `
    conditions?: flowcontrolv1.PriorityLevelConfigurationCondition[] atomic
  `,
  "flowcontrolv1.QueuingConfiguration": `
    handSize?: int32
    queueLengthLimit?: int32
    queues?: int32
  `,
  "flowcontrolv1.ResourcePolicyRule": `
    apiGroups: string[] set
    clusterScope?: boolean
    namespaces?: string[] | null set
    resources: string[] set
    verbs: string[] set
  `,
  "flowcontrolv1.ServiceAccountSubject": `
    name: string
    namespace: string
  `,
  "flowcontrolv1.Subject": `
    group?: flowcontrolv1.GroupSubject
    kind: string
    serviceAccount?: flowcontrolv1.ServiceAccountSubject
    user?: flowcontrolv1.UserSubject
  `,
  "flowcontrolv1.UserSubject": `
    name: string
  `,
  "networkingv1.HTTPIngressPath": `
    backend: networkingv1.IngressBackend
    path?: string
    pathType: "Exact" | "ImplementationSpecific" | "Prefix"
  `,
  "networkingv1.HTTPIngressRuleValue": `
    paths: networkingv1.HTTPIngressPath[] atomic
  `,
  "networkingv1.IPAddress": `
    apiVersion?: "networking.k8s.io/v1"
    kind?: "IPAddress"
    metadata: metav1.ObjectMeta
    spec: networkingv1.IPAddressSpec
  `,
  "networkingv1.IPAddressSpec": `
    parentRef: networkingv1.ParentReference
  `,
  "networkingv1.IPBlock": `
    cidr: string
    except?: string[] atomic
  `,
  "networkingv1.Ingress": `
    apiVersion?: "networking.k8s.io/v1"
    kind?: "Ingress"
    metadata: metav1.ObjectMeta
    spec?: networkingv1.IngressSpec
    status?: networkingv1.IngressStatus
  `,
  "networkingv1.IngressBackend": `
    resource?: corev1.TypedLocalObjectReference
    service?: networkingv1.IngressServiceBackend
  `,
  "networkingv1.IngressClass": `
    apiVersion?: "networking.k8s.io/v1"
    kind?: "IngressClass"
    metadata: metav1.ObjectMeta
    spec?: networkingv1.IngressClassSpec
  `,
  "networkingv1.IngressClassParametersReference": `
    apiGroup?: string
    kind: string
    name: string
    namespace?: string
    scope?: string
  `,
  "networkingv1.IngressClassSpec": `
    controller?: string
    parameters?: networkingv1.IngressClassParametersReference
  `,
  "networkingv1.IngressLoadBalancerIngress": `
    hostname?: string
    ip?: string
    ports?: networkingv1.IngressPortStatus[] atomic
  `,
  "networkingv1.IngressLoadBalancerStatus": `
    ingress?: networkingv1.IngressLoadBalancerIngress[] atomic
  `,
  "networkingv1.IngressPortStatus": `
    error?: string
    port: int32
    protocol: "SCTP" | "TCP" | "UDP"
  `,
  "networkingv1.IngressRule": `
    host?: string
    http?: networkingv1.HTTPIngressRuleValue
  `,
  "networkingv1.IngressServiceBackend": `
    name: string
    port?: networkingv1.ServiceBackendPort
  `,
  "networkingv1.IngressSpec": `
    defaultBackend?: networkingv1.IngressBackend
    ingressClassName?: string
    rules?: networkingv1.IngressRule[] atomic
    tls?: networkingv1.IngressTLS[] atomic
  `,
  "networkingv1.IngressStatus": `
    loadBalancer?: networkingv1.IngressLoadBalancerStatus
  `,
  "networkingv1.IngressTLS": `
    hosts?: string[] atomic
    secretName?: string
  `,
  "networkingv1.NetworkPolicy": `
    apiVersion?: "networking.k8s.io/v1"
    kind?: "NetworkPolicy"
    metadata: metav1.ObjectMeta
    spec?: networkingv1.NetworkPolicySpec
  `,
  "networkingv1.NetworkPolicyEgressRule": `
    ports?: networkingv1.NetworkPolicyPort[] atomic
    to?: networkingv1.NetworkPolicyPeer[] atomic
  `,
  "networkingv1.NetworkPolicyIngressRule": `
    from?: networkingv1.NetworkPolicyPeer[] atomic
    ports?: networkingv1.NetworkPolicyPort[] atomic
  `,
  "networkingv1.NetworkPolicyPeer": `
    ipBlock?: networkingv1.IPBlock
    namespaceSelector?: metav1.LabelSelector
    podSelector?: metav1.LabelSelector
  `,
  "networkingv1.NetworkPolicyPort": `
    endPort?: int32
    port?: int-or-string
    protocol?: "SCTP" | "TCP" | "UDP"
  `,
  "networkingv1.NetworkPolicySpec": `
    egress?: networkingv1.NetworkPolicyEgressRule[] atomic
    ingress?: networkingv1.NetworkPolicyIngressRule[] atomic
    podSelector?: metav1.LabelSelector
    policyTypes?: ("Egress" | "Ingress")[] atomic
  `,
  "networkingv1.ParentReference": `
    group?: string
    name: string
    namespace?: string
    resource: string
  `,
  "networkingv1.ServiceBackendPort": `
    atomic
    name?: string
    number?: int32
  `,
  "networkingv1.ServiceCIDR": `
    apiVersion?: "networking.k8s.io/v1"
    kind?: "ServiceCIDR"
    metadata: metav1.ObjectMeta
    spec?: networkingv1.ServiceCIDRSpec
    status?: networkingv1.ServiceCIDRStatus
  `,
  "networkingv1.ServiceCIDRSpec": `
    cidrs?: string[] atomic
  `,
  "networkingv1.ServiceCIDRStatus": `
    conditions?: metav1.Condition[] by type
  `,
  "nodev1.Overhead": `
    podFixed?: map<quantity>
  `,
  "nodev1.RuntimeClass": `
    apiVersion?: "node.k8s.io/v1"
    handler: string
    kind?: "RuntimeClass"
    metadata: metav1.ObjectMeta
    overhead?: nodev1.Overhead
    scheduling?: nodev1.Scheduling
  `,
  "nodev1.Scheduling": `
    nodeSelector?: map<string> atomic
    tolerations?: corev1.Toleration[] atomic
  `,
  "policyv1.PodDisruptionBudget": `
    apiVersion?: "policy/v1"
    kind?: "PodDisruptionBudget"
    metadata: metav1.ObjectMeta
    spec?: policyv1.PodDisruptionBudgetSpec
    status?: policyv1.PodDisruptionBudgetStatus
  `,
  "policyv1.PodDisruptionBudgetSpec": `
    maxUnavailable?: int-or-string
    minAvailable?: int-or-string
    selector?: metav1.LabelSelector
    unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget"
  `,
  "policyv1.PodDisruptionBudgetStatus": `
    conditions?: metav1.Condition[] by type
    currentHealthy: int32
    desiredHealthy: int32
    disruptedPods?: map<date-time>
    disruptionsAllowed: int32
    expectedPods: int32
    observedGeneration?: int64
  `,
  "rbacv1.AggregationRule": `
    clusterRoleSelectors?: metav1.LabelSelector[] atomic
  `,
  "rbacv1.ClusterRole": `
    aggregationRule?: rbacv1.AggregationRule
    apiVersion?: "rbac.authorization.k8s.io/v1"
    kind?: "ClusterRole"
    metadata: metav1.ObjectMeta
    rules?: rbacv1.PolicyRule[] | null atomic
  `,
  "rbacv1.ClusterRoleBinding": `
    apiVersion?: "rbac.authorization.k8s.io/v1"
    kind?: "ClusterRoleBinding"
    metadata: metav1.ObjectMeta
    roleRef: rbacv1.RoleRef
    subjects?: rbacv1.Subject[] atomic
  `,
  "rbacv1.PolicyRule": `
    apiGroups?: string[] atomic
    nonResourceURLs?: string[] atomic
    resourceNames?: string[] atomic
    resources?: string[] atomic
    verbs: string[] atomic
  `,
  "rbacv1.Role": `
    apiVersion?: "rbac.authorization.k8s.io/v1"
    kind?: "Role"
    metadata: metav1.ObjectMeta
    rules?: rbacv1.PolicyRule[] | null atomic
  `,
  "rbacv1.RoleBinding": `
    apiVersion?: "rbac.authorization.k8s.io/v1"
    kind?: "RoleBinding"
    metadata: metav1.ObjectMeta
    roleRef: rbacv1.RoleRef
    subjects?: rbacv1.Subject[] atomic
  `,
  "rbacv1.RoleRef": `
    atomic
    apiGroup: string
    kind: string
    name: string
  `,
  "rbacv1.Subject": `
    atomic
    apiGroup?: string
    kind: string
    name: string
    namespace?: string
  `,
  "resourcev1.AllocatedDeviceStatus": `
    conditions?: metav1.Condition[] | null by type
    data?: object
    device: string
    driver: string
    networkData?: resourcev1.NetworkDeviceData
    pool: string
    shareID?: string
  `,
  "resourcev1.AllocationResult": `
    allocationTimestamp?: date-time
    devices?: resourcev1.DeviceAllocationResult
    nodeSelector?: corev1.NodeSelector
  `,
  "resourcev1.CELDeviceSelector": `
    expression: string
  `,
  "resourcev1.CapacityRequestPolicy": `
    default?: quantity | null
    validRange?: resourcev1.CapacityRequestPolicyRange
    validValues?: quantity[] atomic
  `,
  "resourcev1.CapacityRequestPolicyRange": `
    max?: quantity
    min: quantity
    step?: quantity
  `,
  "resourcev1.CapacityRequirements": `
    requests?: map<quantity>
  `,
  "resourcev1.Counter": `
    value: quantity
  `,
  "resourcev1.CounterSet": `
    counters: map<resourcev1.Counter>
    name: string
  `,
  "resourcev1.Device": `
    allNodes?: boolean
    allowMultipleAllocations?: boolean
    attributes?: map<resourcev1.DeviceAttribute>
    bindingConditions?: string[] atomic
    bindingFailureConditions?: string[] atomic
    bindsToNode?: boolean
    capacity?: map<resourcev1.DeviceCapacity>
    consumesCounters?: resourcev1.DeviceCounterConsumption[] atomic
    name: string
    nodeName?: string
    nodeSelector?: corev1.NodeSelector
    taints?: resourcev1.DeviceTaint[] atomic
  `,
  "resourcev1.DeviceAllocationConfiguration": `
    opaque?: resourcev1.OpaqueDeviceConfiguration
    requests?: string[] atomic
    source: "FromClaim" | "FromClass"
  `,
  "resourcev1.DeviceAllocationResult": `
    config?: resourcev1.DeviceAllocationConfiguration[] atomic
    results?: resourcev1.DeviceRequestAllocationResult[] atomic
  `,
  "resourcev1.DeviceAttribute": `
    bool?: boolean
    int?: int64
    string?: string
    version?: string
  `,
  "resourcev1.DeviceCapacity": `
    requestPolicy?: resourcev1.CapacityRequestPolicy
    value: quantity
  `,
  "resourcev1.DeviceClaim": `
    config?: resourcev1.DeviceClaimConfiguration[] atomic
    constraints?: resourcev1.DeviceConstraint[] atomic
    requests?: resourcev1.DeviceRequest[] | null atomic
  `,
  "resourcev1.DeviceClaimConfiguration": `
    opaque?: resourcev1.OpaqueDeviceConfiguration
    requests?: string[] atomic
  `,
  "resourcev1.DeviceClass": `
    apiVersion?: "resource.k8s.io/v1"
    kind?: "DeviceClass"
    metadata: metav1.ObjectMeta
    spec: resourcev1.DeviceClassSpec
  `,
  "resourcev1.DeviceClassConfiguration": `
    opaque?: resourcev1.OpaqueDeviceConfiguration
  `,
  "resourcev1.DeviceClassSpec": `
    config?: resourcev1.DeviceClassConfiguration[] atomic
    extendedResourceName?: string
    selectors?: resourcev1.DeviceSelector[] atomic
  `,
  "resourcev1.DeviceConstraint": `
    distinctAttribute?: string
    matchAttribute?: string
    requests?: string[] atomic
  `,
  "resourcev1.DeviceCounterConsumption": `
    counterSet: string
    counters: map<resourcev1.Counter>
  `,
  "resourcev1.DeviceRequest": `
    exactly?: resourcev1.ExactDeviceRequest
    firstAvailable?: resourcev1.DeviceSubRequest[] atomic
    name: string
  `,
  "resourcev1.DeviceRequestAllocationResult": `
    adminAccess?: boolean
    bindingConditions?: string[] atomic
    bindingFailureConditions?: string[] atomic
    consumedCapacity?: map<quantity>
    device: string
    driver: string
    pool: string
    request: string
    shareID?: string
    tolerations?: resourcev1.DeviceToleration[] atomic
  `,
  "resourcev1.DeviceSelector": `
    cel?: resourcev1.CELDeviceSelector
  `,
  "resourcev1.DeviceSubRequest": `
    allocationMode?: "All" | "ExactCount"
    capacity?: resourcev1.CapacityRequirements
    count?: int64
    deviceClassName: string
    name: string
    selectors?: resourcev1.DeviceSelector[] atomic
    tolerations?: resourcev1.DeviceToleration[] atomic
  `,
  "resourcev1.DeviceTaint": `
    effect: "NoExecute" | "NoSchedule" | "None"
    key: string
    timeAdded?: date-time
    value?: string
  `,
  "resourcev1.DeviceToleration": `
    effect?: "NoExecute" | "NoSchedule" | "None"
    key?: string
    operator?: "Equal" | "Exists"
    tolerationSeconds?: int64
    value?: string
  `,
  "resourcev1.ExactDeviceRequest": `
    adminAccess?: boolean
    allocationMode?: "All" | "ExactCount"
    capacity?: resourcev1.CapacityRequirements
    count?: int64
    deviceClassName: string
    selectors?: resourcev1.DeviceSelector[] atomic
    tolerations?: resourcev1.DeviceToleration[] atomic
  `,
  "resourcev1.NetworkDeviceData": `
    hardwareAddress?: string
    interfaceName?: string
    ips?: string[] atomic
  `,
  "resourcev1.OpaqueDeviceConfiguration": `
    driver: string
    parameters: object
  `,
  "resourcev1.ResourceClaim": `
    apiVersion?: "resource.k8s.io/v1"
    kind?: "ResourceClaim"
    metadata: metav1.ObjectMeta
    spec: resourcev1.ResourceClaimSpec
    status?: resourcev1.ResourceClaimStatus
  `,
  "resourcev1.ResourceClaimConsumerReference": `
    apiGroup?: string
    name: string
    resource: string
    uid: string
  `,
  "resourcev1.ResourceClaimSpec": `
    devices?: resourcev1.DeviceClaim
  `,
  "resourcev1.ResourceClaimStatus": `
    allocation?: resourcev1.AllocationResult
    devices?: resourcev1.AllocatedDeviceStatus[] atomic
    reservedFor?: resourcev1.ResourceClaimConsumerReference[] by uid
  `,
  "resourcev1.ResourceClaimTemplate": `
    apiVersion?: "resource.k8s.io/v1"
    kind?: "ResourceClaimTemplate"
    metadata: metav1.ObjectMeta
    spec: resourcev1.ResourceClaimTemplateSpec
  `,
  "resourcev1.ResourceClaimTemplateSpec": `
    metadata?: metav1.ObjectMeta
    spec: resourcev1.ResourceClaimSpec
  `,
  "resourcev1.ResourcePool": `
    generation: int64
    name: string
    resourceSliceCount: int64
  `,
  "resourcev1.ResourceSlice": `
    apiVersion?: "resource.k8s.io/v1"
    kind?: "ResourceSlice"
    metadata: metav1.ObjectMeta
    spec: resourcev1.ResourceSliceSpec
  `,
  "resourcev1.ResourceSliceSpec": `
    allNodes?: boolean
    devices?: resourcev1.Device[] atomic
    driver: string
    nodeName?: string
    nodeSelector?: corev1.NodeSelector
    perDeviceNodeSelection?: boolean
    pool: resourcev1.ResourcePool
    sharedCounters?: resourcev1.CounterSet[] atomic
  `,
  "schedulingv1.PriorityClass": `
    apiVersion?: "scheduling.k8s.io/v1"
    description?: string
    globalDefault?: boolean
    kind?: "PriorityClass"
    metadata: metav1.ObjectMeta
    preemptionPolicy?: "Never" | "PreemptLowerPriority"
    value: int32
  `,
  "storagev1.CSIDriver": `
    apiVersion?: "storage.k8s.io/v1"
    kind?: "CSIDriver"
    metadata: metav1.ObjectMeta
    spec: storagev1.CSIDriverSpec
  `,
  "storagev1.CSIDriverSpec": `
    attachRequired?: boolean
    fsGroupPolicy?: string
    nodeAllocatableUpdatePeriodSeconds?: int64
    podInfoOnMount?: boolean
    requiresRepublish?: boolean
    seLinuxMount?: boolean
    serviceAccountTokenInSecrets?: boolean
    storageCapacity?: boolean
    tokenRequests?: storagev1.TokenRequest[] atomic
    volumeLifecycleModes?: string[] set
  `,
  "storagev1.CSINode": `
    apiVersion?: "storage.k8s.io/v1"
    kind?: "CSINode"
    metadata: metav1.ObjectMeta
    spec: storagev1.CSINodeSpec
  `,
  "storagev1.CSINodeDriver": `
    allocatable?: storagev1.VolumeNodeResources
    name: string
    nodeID: string
    topologyKeys?: string[] | null atomic
  `,
  "storagev1.CSINodeSpec": `
    drivers: storagev1.CSINodeDriver[] | null by name
  `,
  "storagev1.CSIStorageCapacity": `
    apiVersion?: "storage.k8s.io/v1"
    capacity?: quantity
    kind?: "CSIStorageCapacity"
    maximumVolumeSize?: quantity
    metadata: metav1.ObjectMeta
    nodeTopology?: metav1.LabelSelector
    storageClassName: string
  `,
  "storagev1.StorageClass": `
    allowVolumeExpansion?: boolean
    allowedTopologies?: corev1.TopologySelectorTerm[] atomic
    apiVersion?: "storage.k8s.io/v1"
    kind?: "StorageClass"
    metadata: metav1.ObjectMeta
    mountOptions?: string[] atomic
    parameters?: map<string>
    provisioner: string
    reclaimPolicy?: "Delete" | "Recycle" | "Retain"
    volumeBindingMode?: "Immediate" | "WaitForFirstConsumer"
  `,
  "storagev1.TokenRequest": `
    audience: string
    expirationSeconds?: int64
  `,
  "storagev1.VolumeAttachment": `
    apiVersion?: "storage.k8s.io/v1"
    kind?: "VolumeAttachment"
    metadata: metav1.ObjectMeta
    spec: storagev1.VolumeAttachmentSpec
    status?: storagev1.VolumeAttachmentStatus
  `,
  "storagev1.VolumeAttachmentSource": `
    inlineVolumeSpec?: corev1.PersistentVolumeSpec
    persistentVolumeName?: string
  `,
  "storagev1.VolumeAttachmentSpec": `
    attacher: string
    nodeName: string
    source: storagev1.VolumeAttachmentSource
  `,
  "storagev1.VolumeAttachmentStatus": `
    attachError?: storagev1.VolumeError
    attached: boolean
    attachmentMetadata?: map<string>
    detachError?: storagev1.VolumeError
  `,
  "storagev1.VolumeAttributesClass": `
    apiVersion?: "storage.k8s.io/v1"
    driverName: string
    kind?: "VolumeAttributesClass"
    metadata: metav1.ObjectMeta
    parameters?: map<string>
  `,
  "storagev1.VolumeError": `
    errorCode?: int32
    message?: string
    time?: date-time | null
  `,
  "storagev1.VolumeNodeResources": `
    count?: int32
  `,
  "apiextensionsv1.CustomResourceColumnDefinition": `
    description?: string
    format?: string
    jsonPath: string
    name: string
    priority?: int32
    type: string
  `,
  "apiextensionsv1.CustomResourceConversion": `
    strategy: string
    webhook?: apiextensionsv1.WebhookConversion
  `,
  "apiextensionsv1.CustomResourceDefinition": `
    apiVersion?: "apiextensions.k8s.io/v1"
    kind?: "CustomResourceDefinition"
    metadata: metav1.ObjectMeta
    spec: apiextensionsv1.CustomResourceDefinitionSpec
    status?: apiextensionsv1.CustomResourceDefinitionStatus
  `,
  "apiextensionsv1.CustomResourceDefinitionCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    observedGeneration?: int64
    reason?: string
    status: string
    type: string
  `,
  "apiextensionsv1.CustomResourceDefinitionNames": `
    categories?: string[] atomic
    kind: string
    listKind?: string
    plural: string
    shortNames?: string[] atomic
    singular?: string
  `,
  "apiextensionsv1.CustomResourceDefinitionSpec": `
    conversion?: apiextensionsv1.CustomResourceConversion
    group: string
    names: apiextensionsv1.CustomResourceDefinitionNames
    preserveUnknownFields?: boolean
    scope: string
    versions: apiextensionsv1.CustomResourceDefinitionVersion[] atomic
  `,
  "apiextensionsv1.CustomResourceDefinitionStatus": `
    acceptedNames?: apiextensionsv1.CustomResourceDefinitionNames
    conditions?: apiextensionsv1.CustomResourceDefinitionCondition[] | null by type
    observedGeneration?: int64
    storedVersions?: string[] atomic
  `,
  "apiextensionsv1.CustomResourceDefinitionVersion": `
    additionalPrinterColumns?: apiextensionsv1.CustomResourceColumnDefinition[] atomic
    deprecated?: boolean
    deprecationWarning?: string
    name: string
    schema?: apiextensionsv1.CustomResourceValidation
    selectableFields?: apiextensionsv1.SelectableField[] atomic
    served: boolean
    storage: boolean
    subresources?: apiextensionsv1.CustomResourceSubresources
  `,
  "apiextensionsv1.CustomResourceSubresourceScale": `
    labelSelectorPath?: string
    specReplicasPath: string
    statusReplicasPath: string
  `,
  "apiextensionsv1.CustomResourceSubresourceStatus": `

  `,
  "apiextensionsv1.CustomResourceSubresources": `
    scale?: apiextensionsv1.CustomResourceSubresourceScale
    status?: apiextensionsv1.CustomResourceSubresourceStatus
  `,
  "apiextensionsv1.CustomResourceValidation": `
    openAPIV3Schema?: apiextensionsv1.JSONSchemaProps
  `,
  "apiextensionsv1.ExternalDocumentation": `
    description?: string
    url?: string
  `,
  "apiextensionsv1.JSONSchemaProps": `
    $ref?: string
    $schema?: string
    additionalItems?: any
    additionalProperties?: any
    allOf?: object[] atomic
    anyOf?: object[] atomic
    default?: any
    definitions?: map<object>
    dependencies?: map<any>
    description?: string
    enum?: any[] atomic
    example?: any
    exclusiveMaximum?: boolean
    exclusiveMinimum?: boolean
    externalDocs?: apiextensionsv1.ExternalDocumentation
    format?: string
    id?: string
    items?: any
    maxItems?: int64
    maxLength?: int64
    maxProperties?: int64
    maximum?: double
    minItems?: int64
    minLength?: int64
    minProperties?: int64
    minimum?: double
    multipleOf?: double
    not?: object
    nullable?: boolean
    oneOf?: object[] atomic
    pattern?: string
    patternProperties?: map<object>
    properties?: map<object>
    required?: string[] atomic
    title?: string
    type?: string
    uniqueItems?: boolean
    x-kubernetes-embedded-resource?: boolean
    x-kubernetes-int-or-string?: boolean
    x-kubernetes-list-map-keys?: string[] atomic
    x-kubernetes-list-type?: string
    x-kubernetes-map-type?: string
    x-kubernetes-preserve-unknown-fields?: boolean
    x-kubernetes-validations?: apiextensionsv1.ValidationRule[] by rule
  `,
  "apiextensionsv1.SelectableField": `
    jsonPath: string
  `,
  "apiextensionsv1.ServiceReference": `
    name: string
    namespace: string
    path?: string
    port?: int32
  `,
  "apiextensionsv1.ValidationRule": `
    fieldPath?: string
    message?: string
    messageExpression?: string
    optionalOldSelf?: boolean
    reason?: "FieldValueDuplicate" | "FieldValueForbidden" | "FieldValueInvalid" | "FieldValueRequired"
    rule: string
  `,
  "apiextensionsv1.WebhookClientConfig": `
    caBundle?: byte
    service?: apiextensionsv1.ServiceReference
    url?: string
  `,
  "apiextensionsv1.WebhookConversion": `
    clientConfig?: apiextensionsv1.WebhookClientConfig
    conversionReviewVersions: string[] atomic
  `,
  "metav1.Condition": `
    lastTransitionTime: date-time | null
    message: string
    observedGeneration?: int64
    reason: string
    status: string
    type: string
  `,
  "metav1.FieldSelectorRequirement": `
    key: string
    operator: string
    values?: string[] atomic
  `,
  "metav1.LabelSelector": `
    atomic
    matchExpressions?: metav1.LabelSelectorRequirement[] atomic
    matchLabels?: map<string>
  `,
  "metav1.LabelSelectorRequirement": `
    key: string
    operator: string
    values?: string[] atomic
  `,
  "metav1.ManagedFieldsEntry": `
    apiVersion?: string
    fieldsType?: string
    fieldsV1?: object
    manager?: string
    operation?: string
    subresource?: string
    time?: date-time
  `,
  "metav1.ObjectMeta": `
    annotations?: map<string>
    creationTimestamp?: date-time
    deletionGracePeriodSeconds?: int64
    deletionTimestamp?: date-time
    finalizers?: string[] set
    generateName?: string
    generation?: int64
    labels?: map<string>
    managedFields?: metav1.ManagedFieldsEntry[] atomic
    name?: string
    namespace?: string
    ownerReferences?: metav1.OwnerReference[] by uid
    resourceVersion?: string
    selfLink?: string
    uid?: string
  `,
  "metav1.OwnerReference": `
    atomic
    apiVersion: string
    blockOwnerDeletion?: boolean
    controller?: boolean
    kind: string
    name: string
    uid: string
  `,
  "apiregistrationv1.APIService": `
    apiVersion?: "apiregistration.k8s.io/v1"
    kind?: "APIService"
    metadata: metav1.ObjectMeta
    spec: apiregistrationv1.APIServiceSpec
    status?: apiregistrationv1.APIServiceStatus
  `,
  "apiregistrationv1.APIServiceCondition": `
    lastTransitionTime?: date-time | null
    message?: string
    reason?: string
    status: string
    type: string
  `,
  "apiregistrationv1.APIServiceSpec": `
    caBundle?: byte
    group?: string
    groupPriorityMinimum: int32
    insecureSkipTLSVerify?: boolean
    service?: apiregistrationv1.ServiceReference
    version?: string
    versionPriority: int32
  `,
  "apiregistrationv1.APIServiceStatus": `
    conditions?: apiregistrationv1.APIServiceCondition[] by type
  `,
  "apiregistrationv1.ServiceReference": `
    name?: string
    namespace?: string
    port?: int32
  `,
};
