import type { Job, Pod } from "@windlass/kinds/builtin";
import { isActive, isFinished } from "../../controllers/pods.ts";
import type { Stored } from "../../storage/typed.ts";
import { failsByIndex, isIndexed } from "./indexes.ts";
import { isFailed, satisfiedRule, verdictOn } from "./policies.ts";
import type { JobCondition } from "./status.ts";
import type { JobSurvey } from "./survey.ts";

/** How a Job ends, and why: decided first, and recorded as final once no pod is left running. */
export interface JobEnd {
  readonly type: "SuccessCriteriaMet" | "FailureTarget";
  readonly reason: string;
  readonly message: string;
}

/** The condition by which a Job's status says that it has ended. */
export function finishedCondition(job: Stored<Job>): JobCondition | undefined {
  return (job.status?.conditions ?? []).find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
}

/** The condition by which a Job's status says how it is about to end. */
export function decidedCondition(job: Stored<Job>): JobCondition | undefined {
  const met = (job.status?.conditions ?? []).filter(({ status }) => status === "True");
  return (
    met.find(({ type }) => type === "SuccessCriteriaMet") ?? met.find(({ type }) => type === "FailureTarget")
  );
}

/** How a job has to end; undefined while it may go on. @param leftMs of its deadline */
export function endOf(job: Stored<Job>, survey: JobSurvey, leftMs: number | undefined): JobEnd | undefined {
  const failure = failureOf(job, survey, leftMs);
  if (failure) return { type: "FailureTarget", ...failure };
  if (!isIndexed(job)) return undefined;
  const rule = satisfiedRule(job, survey.completed);
  if (rule === undefined) return undefined;
  return {
    type: "SuccessCriteriaMet",
    reason: "SuccessPolicy",
    message: `Matched rules at index ${rule}`,
  };
}

function failureOf(
  job: Stored<Job>,
  survey: JobSurvey,
  leftMs: number | undefined,
): { readonly reason: string; readonly message: string } | undefined {
  for (const pod of survey.pods) {
    const verdict = isFailed(job, pod) ? verdictOn(job, pod) : undefined;
    if (verdict?.action === "FailJob") return { reason: "PodFailurePolicy", message: verdict.message };
  }
  const limit = job.spec.backoffLimit ?? 6;
  if (survey.failed > limit || restartsReach(limit, survey.pods)) {
    return { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  if (leftMs !== undefined && leftMs <= 0) {
    return { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  if (!failsByIndex(job)) return undefined;
  const given = survey.givenUp.size;
  const most = job.spec.maxFailedIndexes;
  if (typeof most === "number" && given > most) {
    return {
      reason: "MaxFailedIndexesExceeded",
      message: "Job has exceeded the specified maximal number of failed indexes",
    };
  }
  const all = job.spec.completions ?? 0;
  return given > 0 && given + survey.completed.size >= all
    ? { reason: "FailedIndexes", message: "Job has failed indexes" }
    : undefined;
}

/**
 * Whether containers that are started again in their pod have been so as often as pods may fail.
 */
function restartsReach(limit: number, pods: readonly Stored<Pod>[]): boolean {
  const restarts = pods
    .filter((pod) => pod.spec.restartPolicy === "OnFailure" && !isFinished(pod))
    .flatMap((pod) => [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
    ])
    .reduce((total, { restartCount }) => total + restartCount, 0);
  return restarts > 0 && restarts >= limit;
}

/** Whether enough pods have succeeded. @param pods as they are now, those just made among them */
export function isComplete(job: Stored<Job>, survey: JobSurvey, pods: readonly Stored<Pod>[]): boolean {
  if (pods.some(isActive)) return false;
  const wanted = job.spec.completions;
  return typeof wanted === "number" ? survey.succeeded >= wanted : survey.succeeded > 0;
}
