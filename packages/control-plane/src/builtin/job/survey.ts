import type { Job, Pod } from "@windlass/kinds/builtin";
import { isDeleting } from "../../controllers/objects.ts";
import { isActive, podCondition } from "../../controllers/pods.ts";
import { textOf } from "../../json.ts";
import { millisOf, valueAt } from "../../json-fields.ts";
import type { Stored } from "../../storage/typed.ts";
import { failsByIndex, indexOf, isIndexed, parseIndexes } from "./indexes.ts";
import { isFailed, verdictOn } from "./policies.ts";

/** Keeps a Job's pods from vanishing before they are counted. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

/** How often an index failed before this pod, and how often in ways that do not count. */
export const failureCountKey = "batch.kubernetes.io/job-index-failure-count";
export const ignoredCountKey = "batch.kubernetes.io/job-index-ignored-failure-count";

/** The counts of a Job's pods, including those already in its status. */
export interface JobSurvey {
  readonly pods: readonly Stored<Pod>[];
  readonly active: readonly Stored<Pod>[];
  /** Pods that have ended since the status was written, and count. */
  readonly fresh: { readonly succeeded: readonly Stored<Pod>[]; readonly failed: readonly Stored<Pod>[] };
  readonly succeeded: number;
  readonly failed: number;
  /** The indexes that have succeeded; empty for a Job without. */
  readonly completed: ReadonlySet<number>;
  /** The indexes that are given up; empty unless they fail on their own account. */
  readonly givenUp: ReadonlySet<number>;
  /**
   * For each index that waits for its next try, the pod of the last one. It stays until its
   * successor is there, which takes over from it how often the index has failed.
   */
  readonly lastTry: ReadonlyMap<number, Stored<Pod>>;
}

export function isTracked(pod: Stored<Pod>): boolean {
  const { finalizers } = pod.metadata;
  return Array.isArray(finalizers) && finalizers.includes(trackingFinalizer);
}

/** Looks at all pods of a job. */
export function surveyOf(job: Stored<Job>, pods: readonly Stored<Pod>[]): JobSurvey {
  const uncounted = (part: string) =>
    new Set((valueAt(job, "status", "uncountedTerminatedPods", part) ?? []) as string[]);
  const [oldSucceeded, oldFailed] = [uncounted("succeeded"), uncounted("failed")];
  const tracked = pods.filter(isTracked);
  const valid = isIndexed(job) ? tracked.filter((pod) => indexOf(job, pod) !== undefined) : tracked;
  const unknown = valid.filter(({ metadata: { uid } }) => !oldSucceeded.has(uid) && !oldFailed.has(uid));
  const fresh = {
    succeeded: unknown.filter((pod) => pod.status?.phase === "Succeeded"),
    failed: unknown.filter((pod) => isFailed(job, pod)),
  };
  const counting = fresh.failed.filter((pod) => verdictOn(job, pod).action !== "Ignore");
  const active = pods.filter(isActive);
  const completed = listed(job, "completedIndexes");
  if (isIndexed(job)) for (const pod of fresh.succeeded) completed.add(indexOf(job, pod) as number);
  const givenUp = new Set<number>();
  if (failsByIndex(job)) {
    for (const index of listed(job, "failedIndexes")) givenUp.add(index);
    for (const pod of valid) if (isLastStraw(job, pod)) givenUp.add(indexOf(job, pod) as number);
  }
  return {
    pods,
    active,
    fresh,
    succeeded: isIndexed(job)
      ? completed.size
      : (job.status?.succeeded ?? 0) + oldSucceeded.size + fresh.succeeded.length,
    failed: (job.status?.failed ?? 0) + oldFailed.size + counting.length,
    completed,
    givenUp,
    lastTry: failsByIndex(job) ? lastTries(job, valid, active, [completed, givenUp]) : new Map(),
  };
}

function listed(job: Stored<Job>, part: "completedIndexes" | "failedIndexes"): Set<number> {
  const text = textOf(valueAt(job, "status", part));
  return new Set(parseIndexes(text, job.spec.completions ?? 0));
}

/** Whether a pod is the failure by which its index is given up. */
function isLastStraw(job: Stored<Job>, pod: Stored<Pod>): boolean {
  if (!isFailed(job, pod)) return false;
  const { action } = verdictOn(job, pod);
  if (action === "FailIndex") return true;
  return action !== "Ignore" && failuresBefore(pod).counted >= (job.spec.backoffLimitPerIndex ?? 0);
}

function lastTries(
  job: Stored<Job>,
  tracked: readonly Stored<Pod>[],
  active: readonly Stored<Pod>[],
  ended: readonly ReadonlySet<number>[],
): Map<number, Stored<Pod>> {
  const busy = new Set(active.map((pod) => indexOf(job, pod)));
  const found = new Map<number, Stored<Pod>>();
  for (const pod of tracked.filter((one) => isFailed(job, one))) {
    const index = indexOf(job, pod) as number;
    if (busy.has(index) || ended.some((indexes) => indexes.has(index))) continue;
    const other = found.get(index);
    const isLater =
      other === undefined || (totalBefore(other) <= totalBefore(pod) && finishedAt(other) <= finishedAt(pod));
    if (isLater) found.set(index, pod);
  }
  return found;
}

/** How often a pod's index had failed when the pod was made. */
export function failuresBefore(pod: Stored<Pod>): { readonly counted: number; readonly ignored: number } {
  const read = (key: string) => {
    const text = textOf(pod.metadata.annotations?.[key]);
    return /^\d{1,9}$/.test(text) ? Number(text) : 0;
  };
  return { counted: read(failureCountKey), ignored: read(ignoredCountKey) };
}

/** `failuresBefore`, those that do not count among them. */
export function totalBefore(pod: Stored<Pod>): number {
  const { counted, ignored } = failuresBefore(pod);
  return counted + ignored;
}

/**
 * When a pod ended, estimated from what is recorded: by its containers, by its deletion, by when it
 * was last ready.
 */
export function finishedAt(pod: Stored<Pod>): number {
  const statuses = pod.status?.containerStatuses ?? [];
  const ends = statuses.flatMap(({ state }) => millisOf(state?.terminated?.finishedAt) ?? []);
  if (ends.length > 0 && ends.length === statuses.length) return Math.max(...ends);
  if (isDeleting(pod)) {
    const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
    return (millisOf(pod.metadata.deletionTimestamp) ?? 0) - grace * 1_000;
  }
  const ready = podCondition(pod, "Ready");
  const left = ready?.status === "False" ? millisOf(ready.lastTransitionTime) : undefined;
  return left ?? millisOf(pod.metadata.creationTimestamp) ?? 0;
}
