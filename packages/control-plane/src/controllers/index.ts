import { certificateSigningRequestControllers } from "../builtin/certificate-signing-request/controller.ts";
import { cronJobControllers } from "../builtin/cron-job/controller.ts";
import { daemonSetControllers } from "../builtin/daemon-set/controller.ts";
import { deploymentControllers } from "../builtin/deployment/controller.ts";
import { horizontalPodAutoscalerControllers } from "../builtin/horizontal-pod-autoscaler/controller.ts";
import { jobControllers } from "../builtin/job/controller.ts";
import { namespaceControllers } from "../builtin/namespace/controller.ts";
import { podDisruptionBudgetControllers } from "../builtin/pod-disruption-budget/controller.ts";
import { replicaSetControllers } from "../builtin/replica-set/controller.ts";
import { statefulSetControllers } from "../builtin/stateful-set/controller.ts";
import { startAdmissionPolicyStatus } from "./admission-policy-status.ts";
import { startClusterRoleAggregation } from "./cluster-role-aggregation.ts";
import { startEndpointSliceMirroring } from "./endpoint-mirroring.ts";
import { startEndpointSlices, startEndpoints } from "./endpoints.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { startKubernetesService } from "./kubernetes-service.ts";
import { type ControllerDependencies, type Running, together } from "./loop.ts";
import { startPersistentVolumes } from "./persistent-volume.ts";
import { startPodGarbageCollector } from "./pod-garbage-collector.ts";
import { startResourceQuotas } from "./resource-quota.ts";
import { startRootCertificates, startServiceAccounts } from "./service-account.ts";
import { startServiceAccountTokens } from "./service-account-tokens.ts";
import { startEventExpiry, startTtlAfterFinished } from "./time-to-live.ts";
import { startClaimProtection, startVolumeProtection } from "./volume-protection.ts";

/** The supported controllers of kube-controller-manager, by their names there. */
const known = {
  "garbage-collector-controller": startGarbageCollector,
  ...namespaceControllers,
  "serviceaccount-controller": startServiceAccounts,
  "serviceaccount-token-controller": startServiceAccountTokens,
  "root-ca-certificate-publisher-controller": startRootCertificates,
  "clusterrole-aggregation-controller": startClusterRoleAggregation,
  ...deploymentControllers,
  ...replicaSetControllers,
  ...statefulSetControllers,
  ...daemonSetControllers,
  ...jobControllers,
  ...cronJobControllers,
  "ttl-after-finished-controller": startTtlAfterFinished,
  "endpoints-controller": startEndpoints,
  "endpointslice-controller": startEndpointSlices,
  "endpointslice-mirroring-controller": startEndpointSliceMirroring,
  ...podDisruptionBudgetControllers,
  ...horizontalPodAutoscalerControllers,
  "persistentvolume-binder-controller": startPersistentVolumes,
  "persistentvolumeclaim-protection-controller": startClaimProtection,
  "persistentvolume-protection-controller": startVolumeProtection,
  "resourcequota-controller": startResourceQuotas,
  "pod-garbage-collector-controller": startPodGarbageCollector,
  "validatingadmissionpolicy-status-controller": startAdmissionPolicyStatus,
  ...certificateSigningRequestControllers,
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
