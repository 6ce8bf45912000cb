import type { ObjectOf } from "@windlass/runtime";
import type { Pod } from "@windlass/runtime/kinds";
import { group } from "../fields.ts";

/** On a pod that gets no new actions because it is to go: since when. */
export const drainingAnnotation = `${group}/draining-since`;
/** On such a pod that has ended its actions: since when. */
export const idleAnnotation = `${group}/idle-since`;
/** On a pod that was the next to be deleted, and is so no more: since when. */
export const releasedAnnotation = `${group}/released-since`;
/** Kubernetes' own: of a ReplicaSet's pods, those with the lowest go first. */
export const deletionCostAnnotation = "controller.kubernetes.io/pod-deletion-cost";

/** How far the drain of a pod has come. Epoch milliseconds. */
export function marksOf({ metadata: { annotations = {} } }: ObjectOf<typeof Pod>) {
  return {
    markedAt: timeIn(annotations[drainingAnnotation]),
    firstAt: timeIn(annotations[idleAnnotation]),
    releasedAt: timeIn(annotations[releasedAnnotation]),
  };
}

/** A mark that cannot be read is one, from long ago: the pod was to go. */
function timeIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text) || 0;
}

/** The annotations of each step. Null takes one away. */
export const drainMarks = {
  draining: (now: Date) => ({ [drainingAnnotation]: now.toISOString() }),
  idle: (now: Date) => ({ [idleAnnotation]: now.toISOString(), [deletionCostAnnotation]: "-1000" }),
  notIdle: (now: Date) => ({
    [idleAnnotation]: null,
    [deletionCostAnnotation]: null,
    [releasedAnnotation]: now.toISOString(),
  }),
  none: { [drainingAnnotation]: null, [idleAnnotation]: null, [deletionCostAnnotation]: null },
};
