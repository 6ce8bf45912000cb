import { certificateSigningRequestColumns } from "../builtin/certificate-signing-request/columns.ts";
import { cronJobColumns } from "../builtin/cron-job/columns.ts";
import { daemonSetColumns } from "../builtin/daemon-set/columns.ts";
import { deploymentColumns } from "../builtin/deployment/columns.ts";
import { horizontalPodAutoscalerColumns } from "../builtin/horizontal-pod-autoscaler/columns.ts";
import { jobColumns } from "../builtin/job/columns.ts";
import { namespaceColumns } from "../builtin/namespace/columns.ts";
import { podDisruptionBudgetColumns } from "../builtin/pod-disruption-budget/columns.ts";
import { replicaSetColumns, replicationControllerColumns } from "../builtin/replica-set/columns.ts";
import { statefulSetColumns } from "../builtin/stateful-set/columns.ts";
import * as access from "./access.ts";
import * as cluster from "./cluster.ts";
import type { Cells, KindColumns } from "./kind-columns.ts";
import * as network from "./network.ts";
import { podCells } from "./pod.ts";
import * as storage from "./storage.ts";
import * as workloads from "./workloads.ts";

/** The kinds that declare their columns in a folder of their own. */
const declared: readonly KindColumns[] = [
  certificateSigningRequestColumns,
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  horizontalPodAutoscalerColumns,
  jobColumns,
  namespaceColumns,
  podDisruptionBudgetColumns,
  replicaSetColumns,
  replicationControllerColumns,
  statefulSetColumns,
];

/** By `plural.group`. What is not here shows its name and the time it was created. */
const builtin: { readonly [resource: string]: Cells } = {
  ...Object.fromEntries(declared.map(({ resource, cells }) => [resource, cells])),
  "componentstatuses.": cluster.componentStatusCells,
  "configmaps.": cluster.configMapCells,
  "endpoints.": network.endpointsCells,
  "events.": cluster.eventCells,
  "nodes.": cluster.nodeCells,
  "persistentvolumeclaims.": storage.persistentVolumeClaimCells,
  "persistentvolumes.": storage.persistentVolumeCells,
  "pods.": podCells,
  "podtemplates.": workloads.podTemplateCells,
  "resourcequotas.": cluster.resourceQuotaCells,
  "secrets.": cluster.secretCells,
  "serviceaccounts.": cluster.nameAndAge,
  "services.": network.serviceCells,
  "apiservices.apiregistration.k8s.io": cluster.apiServiceCells,
  "controllerrevisions.apps": workloads.controllerRevisionCells,
  "events.events.k8s.io": cluster.eventCells,
  "ingressclasses.networking.k8s.io": network.ingressClassCells,
  "ingresses.networking.k8s.io": network.ingressCells,
  "ipaddresses.networking.k8s.io": network.ipAddressCells,
  "networkpolicies.networking.k8s.io": network.networkPolicyCells,
  "servicecidrs.networking.k8s.io": network.serviceCidrCells,
  "clusterrolebindings.rbac.authorization.k8s.io": access.bindingCells,
  "rolebindings.rbac.authorization.k8s.io": access.bindingCells,
  "csidrivers.storage.k8s.io": storage.csiDriverCells,
  "csinodes.storage.k8s.io": storage.csiNodeCells,
  "storageclasses.storage.k8s.io": storage.storageClassCells,
  "volumeattachments.storage.k8s.io": storage.volumeAttachmentCells,
  "volumeattributesclasses.storage.k8s.io": storage.volumeAttributesClassCells,
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": access.webhookConfigurationCells,
  "validatingadmissionpolicies.admissionregistration.k8s.io": access.admissionPolicyCells,
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": access.admissionPolicyBindingCells,
  "validatingwebhookconfigurations.admissionregistration.k8s.io": access.webhookConfigurationCells,
  "priorityclasses.scheduling.k8s.io": cluster.priorityClassCells,
  "leases.coordination.k8s.io": cluster.leaseCells,
  "runtimeclasses.node.k8s.io": cluster.runtimeClassCells,
  "endpointslices.discovery.k8s.io": network.endpointSliceCells,
  "deviceclasses.resource.k8s.io": cluster.nameAndAge,
  "resourceclaims.resource.k8s.io": cluster.resourceClaimCells,
  "resourceclaimtemplates.resource.k8s.io": cluster.nameAndAge,
  "resourceslices.resource.k8s.io": cluster.resourceSliceCells,
  "flowschemas.flowcontrol.apiserver.k8s.io": access.flowSchemaCells,
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": access.priorityLevelCells,
};

/** Whether a kind shows more than the least there is to show. */
export function hasOwnCells(group: string, plural: string): boolean {
  return Object.hasOwn(builtin, `${plural}.${group}`);
}

export function builtinCells(group: string, plural: string): Cells {
  return builtin[`${plural}.${group}`] ?? cluster.nameAndCreation;
}
