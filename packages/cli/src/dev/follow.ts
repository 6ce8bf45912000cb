import type { AnyKind, AnyObject, Client } from "@windlass/client";
import { controllerOf } from "@windlass/runtime";
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { describe } from "./describe.ts";

/** What operators make of their objects, and what becomes of that. */
export const childKinds: readonly AnyKind[] = [
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
];

/** Whether someone made the object for another: what a cluster comes with is of no interest. */
export function isChild(object: AnyObject): boolean {
  return controllerOf(object) !== undefined;
}

/** Something that happened to an object. */
export interface Change {
  readonly object: AnyObject;
  /** In a few words: `2 of 3 available`. */
  readonly words: string;
}

/** Tells of each object of a kind when it appears, goes, or when there is something else to say about it. Ends when aborted. */
export async function follow(
  client: Client,
  kind: AnyKind,
  signal: AbortSignal,
  onChange: (change: Change) => void,
): Promise<void> {
  const last = new Map<string, string>();
  while (!signal.aborted) {
    try {
      // A watch ends now and then. The next one begins with what is there, of which nothing is said twice.
      for await (const event of client.watch(kind, { signal })) {
        if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
        const object = { kind: kind.kind, ...(event.object as AnyObject) };
        const { namespace = "", name } = object.metadata;
        const words = event.type === "DELETED" ? "is gone" : describe(object);
        const key = `${namespace}/${name}`;
        if (last.get(key) === words) continue;
        if (event.type === "DELETED") last.delete(key);
        else last.set(key, words);
        onChange({ object, words });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
