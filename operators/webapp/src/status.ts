import {
  condition,
  conditionOf,
  isReady,
  type ObjectOf,
  type Wanted,
  workloadFault,
} from "@windlass/runtime";
import { Deployment, type Pod } from "@windlass/runtime/kinds";
import { managedBy, nameLabel } from "./children.ts";
import type { App, WebApp } from "./webapp.ts";

/**
 * What is to be said of an app, from what is seen of its Deployment and pods; with an event if it
 * is news.
 */
export function observe(
  app: App,
  deployment?: ObjectOf<typeof Deployment>,
  pods: () => readonly ObjectOf<typeof Pod>[] = () => [],
): Required<Pick<Wanted<typeof WebApp>, "status" | "events">> {
  const { replicas = 0, availableReplicas = 0 } = deployment?.status ?? {};
  const wanted = deployment?.spec?.replicas ?? app.spec.replicas;
  const phase = phaseOf(app, deployment);
  const isUp = phase === "Ready";
  const fault = isUp || !deployment ? undefined : workloadFault(deployment, pods());
  const reason = fault?.reason ?? (isUp && wanted === 0 ? "ScaledToZero" : phase);
  const count = `${availableReplicas} of ${wanted} replicas are available`;
  const message = fault ? `${count}; ${fault.message}` : count;
  const isNews = reason !== conditionOf(app, "Ready")?.reason;
  return {
    status: {
      phase,
      replicas,
      availableReplicas,
      selector: `${nameLabel}=${app.metadata.name},${managedBy}`,
      url: `http://${app.spec.host ?? `${app.metadata.name}.${app.metadata.namespace}.svc`}/`,
      conditions: [
        condition("Ready", isUp, reason, message),
        condition("Progressing", !isUp && reason !== "ProgressDeadlineExceeded", phase),
        condition("Degraded", fault !== undefined, fault?.reason ?? "AsExpected", fault?.message),
      ],
    },
    events: isNews ? [{ type: fault ? "Warning" : "Normal", reason, message }] : [],
  };
}

function phaseOf(app: App, deployment: ObjectOf<typeof Deployment> | undefined) {
  if (app.metadata.deletionTimestamp !== undefined) return "Deleting";
  if (deployment === undefined) return "Created";
  if (isReady(Deployment, deployment)) return "Ready";
  const { metadata, spec, status } = deployment;
  // Once the present template has been rolled out, all that still changes is how many there are.
  const isRolledOut = conditionOf(deployment, "Progressing")?.reason === "NewReplicaSetAvailable";
  if (isRolledOut && ((status?.replicas ?? 0) !== spec.replicas || app.status?.phase === "Scaling"))
    return "Scaling";
  return status?.observedGeneration === metadata.generation ? "WaitingForPods" : "Reconciling";
}
