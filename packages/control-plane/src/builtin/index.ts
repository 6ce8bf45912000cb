import {
  validatingAdmissionPolicyBindingKind,
  validatingAdmissionPolicyKind,
} from "./admission-policy/index.ts";
import { apiServiceKind } from "./api-service/index.ts";
import { certificateSigningRequestKind } from "./certificate-signing-request/index.ts";
import { componentStatusKind } from "./component-status.ts";
import { configMapKind } from "./config-map.ts";
import { controllerRevisionKind } from "./controller-revision.ts";
import { cronJobKind } from "./cron-job/index.ts";
import { csiDriverKind } from "./csi-driver/index.ts";
import { csiNodeKind, csiStorageCapacityKind } from "./csi-node.ts";
import { customResourceDefinitionKind } from "./custom-resource-definition.ts";
import { daemonSetKind } from "./daemon-set/index.ts";
import type { KindDeclaration } from "./declaration.ts";
import { deploymentKind } from "./deployment/index.ts";
import { endpointSliceKind, endpointsKind } from "./endpoints/index.ts";
import { eventKind, modernEventKind } from "./event/index.ts";
import { flowSchemaKind, priorityLevelConfigurationKind } from "./flow-control/index.ts";
import { horizontalPodAutoscalerKind } from "./horizontal-pod-autoscaler/index.ts";
import { ingressClassKind, ingressKind } from "./ingress/index.ts";
import { ipAddressKind } from "./ip-address/index.ts";
import { jobKind } from "./job/index.ts";
import { leaseKind } from "./lease.ts";
import { limitRangeKind } from "./limit-range.ts";
import { namespaceKind } from "./namespace/index.ts";
import { networkPolicyKind } from "./network-policy.ts";
import { nodeKind } from "./node/index.ts";
import { persistentVolumeKind } from "./persistent-volume/index.ts";
import { persistentVolumeClaimKind } from "./persistent-volume-claim/index.ts";
import { podKind, podTemplateKind } from "./pod/index.ts";
import { podDisruptionBudgetKind } from "./pod-disruption-budget/index.ts";
import { priorityClassKind } from "./priority-class/index.ts";
import { replicaSetKind, replicationControllerKind } from "./replica-set/index.ts";
import { resourceClaimKind, resourceClaimTemplateKind } from "./resource-claim.ts";
import { resourceQuotaKind } from "./resource-quota/index.ts";
import { deviceClassKind, resourceSliceKind } from "./resource-slice.ts";
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from "./role/index.ts";
import { runtimeClassKind } from "./runtime-class.ts";
import { secretKind } from "./secret.ts";
import { serviceKind } from "./service/index.ts";
import { serviceAccountKind } from "./service-account/index.ts";
import { serviceCidrKind } from "./service-cidr/index.ts";
import { statefulSetKind } from "./stateful-set/index.ts";
import { storageClassKind } from "./storage-class.ts";
import { volumeAttachmentKind } from "./volume-attachment/index.ts";
import { volumeAttributesClassKind } from "./volume-attributes-class.ts";
import {
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
} from "./webhook-configuration.ts";

/**
 * What is particular to each of Kubernetes' own kinds. A kind that is not here follows the rules of
 * all kinds.
 */
export const declarations = [
  namespaceKind,
  serviceAccountKind,
  roleKind,
  clusterRoleKind,
  roleBindingKind,
  clusterRoleBindingKind,
  configMapKind,
  secretKind,
  podKind,
  podTemplateKind,
  nodeKind,
  limitRangeKind,
  resourceQuotaKind,
  componentStatusKind,
  eventKind,
  modernEventKind,
  deploymentKind,
  replicaSetKind,
  replicationControllerKind,
  statefulSetKind,
  daemonSetKind,
  controllerRevisionKind,
  jobKind,
  cronJobKind,
  endpointsKind,
  endpointSliceKind,
  serviceKind,
  serviceCidrKind,
  ipAddressKind,
  ingressKind,
  ingressClassKind,
  networkPolicyKind,
  podDisruptionBudgetKind,
  horizontalPodAutoscalerKind,
  persistentVolumeKind,
  persistentVolumeClaimKind,
  storageClassKind,
  volumeAttachmentKind,
  volumeAttributesClassKind,
  csiDriverKind,
  csiNodeKind,
  csiStorageCapacityKind,
  resourceClaimKind,
  resourceClaimTemplateKind,
  resourceSliceKind,
  deviceClassKind,
  leaseKind,
  priorityClassKind,
  runtimeClassKind,
  certificateSigningRequestKind,
  customResourceDefinitionKind,
  apiServiceKind,
  validatingAdmissionPolicyKind,
  validatingAdmissionPolicyBindingKind,
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
  flowSchemaKind,
  priorityLevelConfigurationKind,
] as const satisfies readonly KindDeclaration[];

const byKind: ReadonlyMap<string, KindDeclaration> = new Map(
  declarations.map((declaration) => [`${declaration.group}/${declaration.kind}`, declaration]),
);

/** The declaration of a kind, in all its versions. */
export function declarationOf({
  group,
  kind,
}: Pick<KindDeclaration, "group" | "kind">): KindDeclaration | undefined {
  return byKind.get(`${group}/${kind}`);
}
