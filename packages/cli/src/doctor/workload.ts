import { type Client, ignoreNotFound } from "@windlass/client";
import { Deployment, Lease } from "@windlass/runtime/kinds";
import type { Component } from "../generate/resolve.ts";
import { type Finding, fault, fine, warning } from "./finding.ts";

/** Whether the pods of a component run. */
export async function examineDeployment(
  client: Client,
  component: Component,
  namespace: string,
): Promise<Finding> {
  const { name } = component;
  const about = `Deployment ${name}`;
  const present = await ignoreNotFound(client.get(Deployment, { namespace, name }));
  if (present === undefined)
    return fault(
      about,
      `is not in ${namespace}`,
      "kubectl apply --server-side -k config/default, or say with --namespace where it is",
    );
  const { metadata, spec, status } = present;
  const wanted = spec?.replicas ?? 1;
  if (spec?.paused === true)
    return warning(
      about,
      "is paused: changes of it do nothing",
      `kubectl -n ${namespace} rollout resume deploy/${name}`,
    );
  if (wanted === 0)
    return fault(
      about,
      "is scaled to 0",
      `kubectl -n ${namespace} scale deploy/${name} --replicas ${component.replicas}`,
    );
  const { availableReplicas: available = 0, updatedReplicas: updated = 0, replicas = 0 } = status ?? {};
  const pods = `kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=${name}; kubectl -n ${namespace} logs deploy/${name}`;
  const words = `${available} of ${wanted} available`;
  const stuck = whyStuck(present);
  if (stuck !== undefined) return fault(about, `${words}, but ${stuck}`, pods);
  if (available === 0) return fault(about, words, pods);
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return warning(
      about,
      `${words}, but its newest change has not been looked at`,
      "does the cluster's controller manager run? If so, ask again in a moment",
    );
  const rollout = `kubectl -n ${namespace} rollout status deploy/${name}`;
  if (updated < wanted)
    return warning(about, `${words}, but only ${updated} of the newest template`, rollout);
  if (replicas > updated)
    return warning(about, `${words}, but ${replicas - updated} of an older template too`, rollout);
  return available >= wanted ? fine(about, words) : warning(about, words, pods);
}

/** Why a rollout does not go on: its deadline has passed, or pods cannot be made. */
function whyStuck({ status }: Deployment): string | undefined {
  const conditions = status?.conditions ?? [];
  const stuck =
    conditions.find(({ type, status: is }) => type === "ReplicaFailure" && is === "True") ??
    conditions.find(({ type, status: is }) => type === "Progressing" && is === "False");
  if (stuck === undefined) return undefined;
  const { reason = stuck.type, message } = stuck;
  return `its rollout is stuck: ${message === undefined ? reason : `${reason}: ${message}`}`;
}

/** Whether somebody leads. */
export async function examineLease(
  client: Client,
  name: string,
  namespace: string,
  now: number,
): Promise<Finding> {
  const about = `Lease ${name}`;
  const remedy = `kubectl -n ${namespace} logs deploy/${name} says why nobody takes it`;
  const present = await ignoreNotFound(client.get(Lease, { namespace, name }));
  const { holderIdentity = "", renewTime, leaseDurationSeconds = 0 } = present?.spec ?? {};
  if (holderIdentity === "" || renewTime === undefined) return fault(about, "nobody leads", remedy);
  const ageMs = now - Date.parse(renewTime);
  if (ageMs <= leaseDurationSeconds * 1_000) return fine(about, `held by ${holderIdentity}`);
  return fault(about, `${holderIdentity} has not renewed it for ${Math.round(ageMs / 1_000)} s`, remedy);
}
