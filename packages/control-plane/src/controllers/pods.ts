import type { ObjectMetaInput } from "@windlass/kinds";
import type {
  DaemonSet,
  Deployment,
  Job,
  Pod,
  PodCondition,
  PodSpec,
  PodTemplateSpec,
  ReplicaSet,
  StatefulSet,
} from "@windlass/kinds/builtin";
import { clone } from "../json.ts";
import { millisOf } from "../json-fields.ts";
import type { StoredObject } from "../storage/store.ts";
import type { Draft, Stored } from "../storage/typed.ts";
import { isDeleting } from "./objects.ts";
import { controllerReference } from "./ownership.ts";

/** Whether a pod has ended, well or badly. */
export function isFinished(pod: Stored<Pod>): boolean {
  const phase = pod.status?.phase;
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether a pod counts towards its owner's replicas. */
export function isActive(pod: Stored<Pod>): boolean {
  return !isFinished(pod) && !isDeleting(pod);
}

/** Whether a pod is being deleted and has not ended yet. */
export function isTerminating(pod: Stored<Pod>): boolean {
  return isDeleting(pod) && !isFinished(pod);
}

export function podCondition(pod: Stored<Pod>, type: string): PodCondition | undefined {
  return (pod.status?.conditions ?? []).find((condition) => condition.type === type);
}

export function isReady(pod: Stored<Pod>): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/**
 * When a ready pod counts as available, in milliseconds since the epoch; undefined if it is not
 * ready.
 */
export function availableSince(pod: Stored<Pod>, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return Date.parse(ready.lastTransitionTime ?? "") + minReadySeconds * 1_000;
}

/** Which of these pods are available now, and when the next of the ready ones will be. */
export function availability(
  pods: readonly Stored<Pod>[],
  minReadySeconds: number,
  now: number,
): { readonly available: readonly Stored<Pod>[]; readonly nextMs: number | undefined } {
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
  pods: readonly Stored<Pod>[],
  crowd: ReadonlyMap<string, number> = new Map(),
): Stored<Pod>[] {
  const phases = ["Pending", "Unknown", "Running"];
  const keys = (pod: Stored<Pod>): number[] => [
    pod.spec.nodeName ? 1 : 0,
    phases.indexOf(pod.status?.phase ?? ""),
    isReady(pod) ? 1 : 0,
    deletionCost(pod),
    -(crowd.get(pod.spec.nodeName ?? "") ?? 0),
    -(millisOf(podCondition(pod, "Ready")?.lastTransitionTime) ?? 0),
    -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    -(millisOf(pod.metadata.creationTimestamp) ?? 0),
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

function deletionCost(pod: Stored<Pod>): number {
  const text = pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? "";
  return /^-?\d+$/.test(text) ? Number(text) : 0;
}

/** A pod that a controller is about to create. */
export interface NewPod {
  metadata: Draft<ObjectMetaInput>;
  spec: Draft<PodSpec>;
}

/** What all workloads have: a template for their pods. */
export type Workload = Deployment | ReplicaSet | StatefulSet | DaemonSet | Job;

/** A pod of a workload's template, named by the server. */
export function podFromTemplate({ metadata, spec }: PodTemplateSpec, owner: StoredObject): NewPod {
  const { labels = {}, annotations = {}, finalizers } = metadata ?? {};
  return {
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(Object.keys(labels).length > 0 ? { labels: { ...labels } } : {}),
      ...(Object.keys(annotations).length > 0 ? { annotations: { ...annotations } } : {}),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: clone(spec) as Draft<PodSpec>,
  };
}

/** The template that a workload's pods are made of. */
export function templateOf(workload: Stored<Workload>): PodTemplateSpec {
  // A ReplicaSet's is optional in its published schema alone: validation asks for it.
  return workload.spec.template as PodTemplateSpec;
}

/** The number that a workload's spec asks for. */
export function wantedReplicas(workload: Stored<Deployment | ReplicaSet | StatefulSet>): number {
  return workload.spec.replicas ?? 1;
}
