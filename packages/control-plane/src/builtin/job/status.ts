import { count, listAt } from "../../controllers/objects.ts";
import { isActive, isReady, isTerminating } from "../../controllers/pods.ts";
import type { JsonObject } from "../../json.ts";
import type { StoredObject } from "../../storage/store.ts";
import { failsByIndex, indexList, isIndexed } from "./indexes.ts";
import type { JobSurvey } from "./survey.ts";

/**
 * A job's status with what its indexes have come to and what its pods do now.
 *
 * @param pods as they are now
 */
export function jobStatus(
  job: StoredObject,
  survey: JobSurvey,
  before: JsonObject,
  pods: readonly StoredObject[],
): JsonObject {
  const { active: _active, ...rest } = before;
  const active = pods.filter(isActive);
  const status: JsonObject = {
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
export function withJobCondition(status: JsonObject, next: JsonObject): JsonObject[] {
  const before = listAt(status, "conditions");
  return before.some(({ type }) => type === next.type)
    ? before.map((known) => (known.type === next.type ? next : known))
    : [...before, next];
}
