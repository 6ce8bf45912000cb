import { clone, type JsonObject, textOf } from "../json.ts";
import { objectAt } from "../storage/object-fields.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { isDeleting, listAt, mapAt, numberAt, timeAt } from "./objects.ts";
import { controllerReference } from "./ownership.ts";

/** Whether a pod has ended, well or badly. */
export function isFinished(pod: StoredObject): boolean {
  const phase = field(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether a pod counts towards its owner's replicas. */
export function isActive(pod: StoredObject): boolean {
  return !isFinished(pod) && !isDeleting(pod);
}

/** Whether a pod is being deleted and has not ended yet. */
export function isTerminating(pod: StoredObject): boolean {
  return isDeleting(pod) && !isFinished(pod);
}

export function podCondition(pod: JsonObject, type: string): JsonObject | undefined {
  return listAt(pod, "status", "conditions").find((condition) => condition.type === type);
}

export function isReady(pod: StoredObject): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/**
 * When a ready pod counts as available, in milliseconds since the epoch; undefined if it is not
 * ready.
 */
export function availableSince(pod: StoredObject, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return Date.parse(textOf(ready.lastTransitionTime)) + minReadySeconds * 1_000;
}

/** Which of these pods are available now, and when the next of the ready ones will be. */
export function availability(
  pods: readonly StoredObject[],
  minReadySeconds: number,
  now: number,
): { readonly available: readonly StoredObject[]; readonly nextMs: number | undefined } {
  const since = pods.map((pod) => availableSince(pod, minReadySeconds));
  const later = since.filter((at) => at !== undefined && at > now) as number[];
  return {
    available: pods.filter((_, index) => (since[index] ?? Number.POSITIVE_INFINITY) <= now),
    nextMs: later.length > 0 ? Math.min(...later) - now : undefined,
  };
}

/**
 * Pods in the order in which they go when fewer are wanted: those that do the least before those
 * that serve.
 *
 * @param crowd how many related pods are on each node; of pods that are equal otherwise, those on
 *   crowded nodes go first
 */
export function inDeletionOrder(
  pods: readonly StoredObject[],
  crowd: ReadonlyMap<string, number> = new Map(),
): StoredObject[] {
  const phases = ["Pending", "Unknown", "Running"];
  const keys = (pod: StoredObject): number[] => [
    field(pod, "spec", "nodeName") ? 1 : 0,
    phases.indexOf(textOf(field(pod, "status", "phase"))),
    isReady(pod) ? 1 : 0,
    deletionCost(pod),
    -(crowd.get(textOf(field(pod, "spec", "nodeName"))) ?? 0),
    -(timeAt(podCondition(pod, "Ready"), "lastTransitionTime") ?? 0),
    -Math.max(
      0,
      ...listAt(pod, "status", "containerStatuses").map(({ restartCount }) => Number(restartCount)),
    ),
    -(timeAt(pod, "metadata", "creationTimestamp") ?? 0),
  ];
  return pods
    .map((pod) => ({ pod, rank: keys(pod) }))
    .sort((a, b) => {
      const at = a.rank.findIndex((value, index) => value !== b.rank[index]);
      if (at >= 0) return (a.rank[at] as number) - (b.rank[at] as number);
      return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1;
    })
    .map(({ pod }) => pod);
}

function deletionCost(pod: StoredObject): number {
  const text = textOf(field(pod, "metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost"));
  return /^-?\d+$/.test(text) ? Number(text) : 0;
}

/** A pod of a workload's template, named by the server. */
export function podFromTemplate(template: JsonObject, owner: StoredObject): JsonObject {
  const { metadata, spec } = template;
  const labels = mapAt(metadata, "labels");
  const annotations = mapAt(metadata, "annotations");
  const finalizers = field(metadata, "finalizers");
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(Object.keys(labels).length > 0 ? { labels: { ...labels } } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations: { ...annotations } } : {}),
      ...(finalizers === undefined ? {} : { finalizers: clone(finalizers) }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: clone((spec ?? {}) as JsonObject),
  };
}

/** The template that a workload's pods are made of. */
export function templateOf(workload: StoredObject): JsonObject {
  return objectAt(workload, "spec", "template");
}

/** The number that a workload's spec asks for. */
export function wantedReplicas(workload: StoredObject): number {
  return numberAt(workload, ["spec", "replicas"], 1);
}
