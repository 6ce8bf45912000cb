import { certificateSigningRequest } from "../../builtin/certificate-signing-request/strategy.ts";
import { cronJob } from "../../builtin/cron-job/strategy.ts";
import { daemonSet } from "../../builtin/daemon-set/strategy.ts";
import { deployment } from "../../builtin/deployment/strategy.ts";
import {
  horizontalPodAutoscaler,
  horizontalPodAutoscalerV1,
} from "../../builtin/horizontal-pod-autoscaler/strategy.ts";
import { job } from "../../builtin/job/strategy.ts";
import { namespace } from "../../builtin/namespace/strategy.ts";
import { podDisruptionBudget } from "../../builtin/pod-disruption-budget/strategy.ts";
import { replicaSet, replicationController } from "../../builtin/replica-set/strategy.ts";
import { statefulSet } from "../../builtin/stateful-set/strategy.ts";
import type { GroupVersionKind } from "../../kinds/index.ts";
import type { Strategy } from "../strategy.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./access.ts";
import { validatingAdmissionPolicy, validatingAdmissionPolicyBinding } from "./admission-policy.ts";
import { priorityClass, runtimeClass } from "./classes.ts";
import { configMap } from "./config-map.ts";
import { controllerRevision } from "./controller-revision.ts";
import { customResourceDefinition } from "./custom-resource-definition.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";
import { event, modernEvent } from "./event.ts";
import { ingress, ingressClass } from "./ingress.ts";
import { ipAddressObject } from "./ip-address.ts";
import { lease } from "./lease.ts";
import { limitRange } from "./limit-range.ts";
import { networkPolicy } from "./network-policy.ts";
import { node } from "./node.ts";
import { persistentVolume } from "./persistent-volume.ts";
import { persistentVolumeClaim } from "./persistent-volume-claim.ts";
import { plainKinds } from "./plain.ts";
import { pod, podTemplate } from "./pod.ts";
import { resourceClaim, resourceClaimTemplate } from "./resource-claim.ts";
import { resourceQuota } from "./resource-quota.ts";
import { secret } from "./secret.ts";
import { service } from "./service.ts";
import { serviceCidr } from "./service-cidr.ts";
import { apiService } from "./service-registration.ts";
import { csiDriver, storageClass, volumeAttachment } from "./storage-class.ts";
import { mutatingWebhookConfiguration, validatingWebhookConfiguration } from "./webhook-configuration.ts";

/** The rules of each built-in kind. Those that are not here have none of their own. */
const strategies: { readonly [kind: string]: Strategy } = {
  ...plainKinds,
  "/ConfigMap": configMap,
  "/Endpoints": endpoints,
  "/Event": event,
  "/LimitRange": limitRange,
  "/Namespace": namespace,
  "/Node": node,
  "/PersistentVolume": persistentVolume,
  "/PersistentVolumeClaim": persistentVolumeClaim,
  "/Pod": pod,
  "/PodTemplate": podTemplate,
  "/ReplicationController": replicationController,
  "/ResourceQuota": resourceQuota,
  "/Secret": secret,
  "/Service": service,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": mutatingWebhookConfiguration,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": validatingAdmissionPolicy,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": validatingAdmissionPolicyBinding,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": validatingWebhookConfiguration,
  "apiextensions.k8s.io/CustomResourceDefinition": customResourceDefinition,
  "apiregistration.k8s.io/APIService": apiService,
  "apps/ControllerRevision": controllerRevision,
  "apps/DaemonSet": daemonSet,
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "apps/StatefulSet": statefulSet,
  "autoscaling/HorizontalPodAutoscaler": horizontalPodAutoscaler,
  "batch/CronJob": cronJob,
  "batch/Job": job,
  "certificates.k8s.io/CertificateSigningRequest": certificateSigningRequest,
  "coordination.k8s.io/Lease": lease,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "events.k8s.io/Event": modernEvent,
  "networking.k8s.io/Ingress": ingress,
  "networking.k8s.io/IngressClass": ingressClass,
  "networking.k8s.io/IPAddress": ipAddressObject,
  "networking.k8s.io/ServiceCIDR": serviceCidr,
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "node.k8s.io/RuntimeClass": runtimeClass,
  "policy/PodDisruptionBudget": podDisruptionBudget,
  "resource.k8s.io/ResourceClaim": resourceClaim,
  "resource.k8s.io/ResourceClaimTemplate": resourceClaimTemplate,
  "rbac.authorization.k8s.io/ClusterRole": clusterRole,
  "rbac.authorization.k8s.io/ClusterRoleBinding": clusterRoleBinding,
  "rbac.authorization.k8s.io/Role": role,
  "rbac.authorization.k8s.io/RoleBinding": roleBinding,
  "scheduling.k8s.io/PriorityClass": priorityClass,
  "storage.k8s.io/CSIDriver": csiDriver,
  "storage.k8s.io/StorageClass": storageClass,
  "storage.k8s.io/VolumeAttachment": volumeAttachment,
};

/** Versions of a kind that are not like the others. */
const older: { readonly [kind: string]: Strategy } = {
  "autoscaling/v1/HorizontalPodAutoscaler": horizontalPodAutoscalerV1,
};

export function strategyOf({ group, version, kind }: GroupVersionKind): Strategy {
  return older[`${group}/${version}/${kind}`] ?? strategies[`${group}/${kind}`] ?? {};
}
