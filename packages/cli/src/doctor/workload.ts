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
  const { spec, status } = present;
  const wanted = spec?.replicas ?? 1;
  if (wanted === 0)
    return fault(
      about,
      "is scaled to 0",
      `kubectl -n ${namespace} scale deploy/${name} --replicas ${component.replicas}`,
    );
  const available = status?.availableReplicas ?? 0;
  const words = `${available} of ${wanted} available`;
  if (available >= wanted) return fine(about, words);
  const remedy = `kubectl -n ${namespace} describe pods -l app.kubernetes.io/name=${name}; kubectl -n ${namespace} logs deploy/${name}`;
  return available === 0 ? fault(about, words, remedy) : warning(about, words, remedy);
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
