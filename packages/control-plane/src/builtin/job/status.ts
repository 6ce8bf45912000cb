import type { Job, Pod } from "@windlass/kinds/builtin";
import { count } from "../../controllers/objects.ts";
import { isActive, isReady, isTerminating } from "../../controllers/pods.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { failsByIndex, indexList, isIndexed } from "./indexes.ts";
import type { JobSurvey } from "./survey.ts";

export type JobStatus = NonNullable<Job["status"]>;
export type JobCondition = NonNullable<JobStatus["conditions"]>[number];

/**
 * A job's status with what its indexes have come to and what its pods do now.
 *
 * @param pods as they are now
 */
export function jobStatus(
  job: Stored<Job>,
  survey: JobSurvey,
  before: JobStatus,
  pods: readonly Stored<Pod>[],
): Draft<JobStatus> {
  const { active: _active, ...rest } = before as Draft<JobStatus>;
  const active = pods.filter(isActive);
  const status: Draft<JobStatus> = {
    ...rest,
    ...count("active", active.length),
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
  };
  if (!isIndexed(job)) return status;
  const { completedIndexes: _completed, succeeded: _succeeded, ...others } = status;
  return {
    ...others,
    ...(survey.completed.size > 0
      ? { completedIndexes: indexList(survey.completed), succeeded: survey.completed.size }
      : {}),
    ...(failsByIndex(job) ? { failedIndexes: indexList(survey.givenUp) } : {}),
  };
}

/** A status's conditions with one of them replaced where it stands, or added. */
export function withJobCondition(status: JobStatus, next: JobCondition): JobCondition[] {
  const before = status.conditions ?? [];
  return before.some(({ type }) => type === next.type)
    ? before.map((known) => (known.type === next.type ? next : known))
    : [...before, next];
}
