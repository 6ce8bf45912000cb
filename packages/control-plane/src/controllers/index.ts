import { jobControllers } from "../builtin/job/controller.ts";
import { startAdmissionPolicyStatus } from "./admission-policy-status.ts";
import {
  startCertificateApproving,
  startCertificateCleaning,
  startCertificateSigning,
} from "./certificate-requests.ts";
import { startClusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { startCronJobs } from "./cron-job.ts";
import { startDaemonSets } from "./daemon-set.ts";
import { startDeployments } from "./deployment.ts";
import { startDisruption } from "./disruption.ts";
import { startEndpointSliceMirroring } from "./endpoint-mirroring.ts";
import { startEndpointSlices, startEndpoints } from "./endpoints.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { startHorizontalPodAutoscalers } from "./horizontal-pod-autoscaler.ts";
import { startKubernetesService } from "./kubernetes-service.ts";
import { type ControllerDependencies, type Running, together } from "./loop.ts";
import { startNamespaces } from "./namespace.ts";
import { startPersistentVolumes } from "./persistent-volume.ts";
import { startPodGarbageCollector } from "./pod-garbage-collector.ts";
import { startReplicaSets, startReplicationControllers } from "./replica-set.ts";
import { startResourceQuotas } from "./resource-quota.ts";
import { startRootCertificates, startServiceAccounts } from "./service-account.ts";
import { startServiceAccountTokens } from "./service-account-tokens.ts";
import { startStatefulSets } from "./stateful-set.ts";
import { startEventExpiry, startTtlAfterFinished } from "./time-to-live.ts";
import { startClaimProtection, startVolumeProtection } from "./volume-protection.ts";

/** The supported controllers of kube-controller-manager, by their names there. */
const known = {
  "garbage-collector-controller": startGarbageCollector,
  "namespace-controller": startNamespaces,
  "serviceaccount-controller": startServiceAccounts,
  "serviceaccount-token-controller": startServiceAccountTokens,
  "root-ca-certificate-publisher-controller": startRootCertificates,
  "clusterrole-aggregation-controller": startClusterRoleAggregation,
  "deployment-controller": startDeployments,
  "replicaset-controller": startReplicaSets,
  "replicationcontroller-controller": startReplicationControllers,
  "statefulset-controller": startStatefulSets,
  "daemonset-controller": startDaemonSets,
  ...jobControllers,
  "cronjob-controller": startCronJobs,
  "ttl-after-finished-controller": startTtlAfterFinished,
  "endpoints-controller": startEndpoints,
  "endpointslice-controller": startEndpointSlices,
  "endpointslice-mirroring-controller": startEndpointSliceMirroring,
  "disruption-controller": startDisruption,
  "horizontal-pod-autoscaler-controller": startHorizontalPodAutoscalers,
  "persistentvolume-binder-controller": startPersistentVolumes,
  "persistentvolumeclaim-protection-controller": startClaimProtection,
  "persistentvolume-protection-controller": startVolumeProtection,
  "resourcequota-controller": startResourceQuotas,
  "pod-garbage-collector-controller": startPodGarbageCollector,
  "validatingadmissionpolicy-status-controller": startAdmissionPolicyStatus,
  "certificatesigningrequest-signing-controller": startCertificateSigning,
  "certificatesigningrequest-approving-controller": startCertificateApproving,
  "certificatesigningrequest-cleaner-controller": startCertificateCleaning,
  // What the API server itself does in a real cluster.
  "kubernetes-service": startKubernetesService,
  "event-expiry": startEventExpiry,
} satisfies { readonly [name: string]: (deps: ControllerDependencies) => Running };

/**
 * A controller, by the real controller manager's name for it; `kubernetes-service` and
 * `event-expiry` are the API server's own.
 */
export type ControllerName = keyof typeof known;

/** The names of all controllers. */
export const controllerNames = Object.keys(known) as ControllerName[];

/**
 * Which controllers run.
 *
 * - `all`: every one
 * - `none`: what a bare API server is
 * - a list of names: only these
 * - `{ except }`: every one but these
 *
 * The API server's own Service, `default/kubernetes`, is kept whatever is chosen.
 */
export type ControllerChoice =
  | "all"
  | "none"
  | readonly ControllerName[]
  | { readonly except: readonly ControllerName[] };

/** Starts controllers in a fixed order. @throws TypeError for a name that no controller has */
export function startControllers(deps: ControllerDependencies, choice: ControllerChoice): Running {
  return together(chosen(choice).map((name) => known[name](deps)));
}

/** Controllers that always run. */
const always: readonly ControllerName[] = ["kubernetes-service"];

function chosen(choice: ControllerChoice): readonly ControllerName[] {
  if (choice === "none") return always;
  if (choice === "all") return controllerNames;
  const named = "except" in choice ? choice.except : choice;
  for (const name of named) {
    if (!Object.hasOwn(known, name)) {
      throw new TypeError(
        `there is no controller ${JSON.stringify(name)}; there are ${controllerNames.join(", ")}`,
      );
    }
  }
  const isChosen = (name: ControllerName) => named.includes(name) !== "except" in choice;
  return controllerNames.filter((name) => always.includes(name) || isChosen(name));
}
