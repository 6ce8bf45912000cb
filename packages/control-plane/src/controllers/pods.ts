import type { JsonObject } from "../json.ts";
import { textOf } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";

/** Whether a pod counts towards its owner's replicas. */
export function isActive(pod: StoredObject): boolean {
  const phase = field(pod, "status", "phase");
  return phase !== "Succeeded" && phase !== "Failed" && pod.metadata.deletionTimestamp === undefined;
}

export function podCondition(pod: JsonObject, type: string): JsonObject | undefined {
  const conditions = field(pod, "status", "conditions");
  return (Array.isArray(conditions) ? (conditions as JsonObject[]) : []).find(
    (condition) => condition.type === type,
  );
}

export function isReady(pod: StoredObject): boolean {
  return podCondition(pod, "Ready")?.status === "True";
}

/** When a ready pod counts as available, in milliseconds since the epoch; undefined if it is not ready. */
export function availableSince(pod: StoredObject, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, "Ready");
  if (ready?.status !== "True") return undefined;
  if (minReadySeconds === 0) return 0;
  return Date.parse(textOf(ready.lastTransitionTime)) + minReadySeconds * 1_000;
}

/** Which pod of several goes first when fewer are wanted: lower goes first. Those that do the least go before those that serve. */
export function deletionRank(pod: StoredObject): number {
  const unscheduled = !field(pod, "spec", "nodeName");
  const phase = field(pod, "status", "phase");
  const stage = unscheduled ? 0 : phase === "Pending" ? 1 : isReady(pod) ? 3 : 2;
  const cost = Number(
    field(pod, "metadata", "annotations", "controller.kubernetes.io/pod-deletion-cost") ?? 0,
  );
  const age = Date.parse(textOf(pod.metadata.creationTimestamp));
  // Of equals the youngest goes: it has done the least so far.
  return stage * 1e16 + cost * 1e3 - age / 1e3;
}
