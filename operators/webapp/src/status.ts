import { condition, type ObjectOf, type Wanted } from "@windlass/runtime";
import type { Deployment, Pod } from "@windlass/runtime/kinds";
import { managedBy, nameLabel } from "./children.ts";
import { faultOf } from "./faults.ts";
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
  const isReady = phase === "Ready";
  const fault = isReady || !deployment ? undefined : faultOf(deployment, pods());
  const reason = fault?.reason ?? (isReady && wanted === 0 ? "ScaledToZero" : phase);
  const count = `${availableReplicas} of ${wanted} replicas are available`;
  const message = fault ? `${count}; ${fault.message}` : count;
  const isNews = reason !== app.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
  return {
    status: {
      phase,
      replicas,
      availableReplicas,
      selector: `${nameLabel}=${app.metadata.name},${managedBy}`,
      url: `http://${app.spec.host ?? `${app.metadata.name}.${app.metadata.namespace}.svc`}/`,
      conditions: [
        condition("Ready", isReady, reason, message),
        condition("Progressing", !isReady && reason !== "ProgressDeadlineExceeded", phase),
        condition("Degraded", fault !== undefined, fault?.reason ?? "AsExpected", fault?.message),
      ],
    },
    events: isNews ? [{ type: fault ? "Warning" : "Normal", reason, message }] : [],
  };
}

function phaseOf(app: App, deployment: ObjectOf<typeof Deployment> | undefined) {
  if (app.metadata.deletionTimestamp !== undefined) return "Deleting";
  if (deployment === undefined) return "Created";
  const { metadata, spec, status } = deployment;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, observedGeneration = 0 } = status ?? {};
  const wanted = spec?.replicas ?? 1;
  const isSeen = observedGeneration >= (metadata.generation ?? 0);
  if (isSeen && replicas === wanted && updatedReplicas === wanted && availableReplicas === wanted)
    return "Ready";
  // Once the present template has been rolled out, all that still changes is how many there are.
  const isRolledOut = status?.conditions?.some(({ reason }) => reason === "NewReplicaSetAvailable");
  if (isRolledOut && (replicas !== wanted || app.status?.phase === "Scaling")) return "Scaling";
  return isSeen ? "WaitingForPods" : "Reconciling";
}
