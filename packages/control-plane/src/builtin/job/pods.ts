import { listAt, mapAt } from "../../controllers/objects.ts";
import { inDeletionOrder, podFromTemplate, templateOf } from "../../controllers/pods.ts";
import type { JsonObject } from "../../json.ts";
import { field, type StoredObject } from "../../storage/store.ts";
import { failsByIndex, indexKey, indexOf } from "./indexes.ts";
import { verdictOn } from "./policies.ts";
import { failureCountKey, failuresBefore, ignoredCountKey, trackingFinalizer } from "./survey.ts";

/**
 * A pod of a job; with an index, the pod of that index.
 *
 * @param lastTry the failed pod that it follows, where indexes fail on their own account
 */
export function jobPod(
  job: StoredObject,
  index: number | undefined,
  lastTry: StoredObject | undefined,
): JsonObject {
  const pod = podFromTemplate(templateOf(job), job);
  const metadata = pod.metadata as JsonObject;
  const { name, uid } = job.metadata;
  metadata.finalizers = [...((metadata.finalizers ?? []) as string[]), trackingFinalizer];
  const manual = field(job, "spec", "manualSelector") === true;
  metadata.labels = {
    ...mapAt(metadata, "labels"),
    ...(manual
      ? {}
      : {
          "batch.kubernetes.io/controller-uid": uid,
          "batch.kubernetes.io/job-name": name,
          "controller-uid": uid,
          "job-name": name,
        }),
    ...(index === undefined ? {} : { [indexKey]: String(index) }),
  };
  if (index === undefined) return pod;
  metadata.generateName = `${name}-${index}-`;
  metadata.annotations = {
    ...mapAt(metadata, "annotations"),
    [indexKey]: String(index),
    ...(failsByIndex(job) ? failureCounts(job, lastTry) : {}),
  };
  const spec = pod.spec as JsonObject;
  spec.hostname = `${name}-${index}`;
  for (const part of ["initContainers", "containers"]) {
    for (const container of listAt(spec, part)) addIndexVariable(container);
  }
  return pod;
}

function failureCounts(job: StoredObject, lastTry: StoredObject | undefined): JsonObject {
  if (!lastTry) return { [failureCountKey]: "0" };
  const { counted, ignored } = failuresBefore(lastTry);
  const counts = verdictOn(job, lastTry).action !== "Ignore";
  const ignoredNow = ignored + (counts ? 0 : 1);
  return {
    [failureCountKey]: String(counted + (counts ? 1 : 0)),
    ...(ignoredNow > 0 ? { [ignoredCountKey]: String(ignoredNow) } : {}),
  };
}

function addIndexVariable(container: JsonObject): void {
  const variables = listAt(container, "env");
  if (variables.some(({ name }) => name === "JOB_COMPLETION_INDEX")) return;
  const valueFrom = { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${indexKey}']` } };
  container.env = [...variables, { name: "JOB_COMPLETION_INDEX", valueFrom }];
}

/**
 * Which of a job's running pods are deleted: all whose index is taken or no longer there, and at
 * least so many.
 */
export function surplusPods(
  job: StoredObject,
  active: readonly StoredObject[],
  atLeast: number,
): readonly StoredObject[] {
  const ordered = inDeletionOrder(active);
  if (field(job, "spec", "completionMode") !== "Indexed") return ordered.slice(0, Math.max(0, atLeast));
  const kept = new Map<number, StoredObject>();
  // The last in the order in which pods go is the best of its index.
  for (const pod of ordered) {
    const index = indexOf(job, pod);
    if (index !== undefined) kept.set(index, pod);
  }
  const best = new Set(kept.values());
  const twice = ordered.filter((pod) => !best.has(pod));
  const more = ordered.filter((pod) => best.has(pod)).slice(0, Math.max(0, atLeast - twice.length));
  return [...twice, ...more];
}
