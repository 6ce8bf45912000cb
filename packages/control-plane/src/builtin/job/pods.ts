import type { Container, Job, Pod } from "@windlass/kinds/builtin";
import { inDeletionOrder, type NewPod, podFromTemplate, templateOf } from "../../controllers/pods.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { failsByIndex, indexKey, indexOf } from "./indexes.ts";
import { verdictOn } from "./policies.ts";
import { failureCountKey, failuresBefore, ignoredCountKey, trackingFinalizer } from "./survey.ts";

/**
 * A pod of a job; with an index, the pod of that index.
 *
 * @param lastTry the failed pod that it follows, where indexes fail on their own account
 */
export function jobPod(
  job: Stored<Job>,
  index: number | undefined,
  lastTry: Stored<Pod> | undefined,
): NewPod {
  const pod = podFromTemplate(templateOf(job), job);
  const { metadata, spec } = pod;
  const { name, uid } = job.metadata;
  metadata.finalizers = [...(metadata.finalizers ?? []), trackingFinalizer];
  const manual = job.spec.manualSelector === true;
  metadata.labels = {
    ...metadata.labels,
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
    ...metadata.annotations,
    [indexKey]: String(index),
    ...(failsByIndex(job) ? failureCounts(job, lastTry) : {}),
  };
  spec.hostname = `${name}-${index}`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) addIndexVariable(container);
  return pod;
}

function failureCounts(job: Stored<Job>, lastTry: Stored<Pod> | undefined): Record<string, string> {
  if (!lastTry) return { [failureCountKey]: "0" };
  const { counted, ignored } = failuresBefore(lastTry);
  const counts = verdictOn(job, lastTry).action !== "Ignore";
  const ignoredNow = ignored + (counts ? 0 : 1);
  return {
    [failureCountKey]: String(counted + (counts ? 1 : 0)),
    ...(ignoredNow > 0 ? { [ignoredCountKey]: String(ignoredNow) } : {}),
  };
}

function addIndexVariable(container: Draft<Container>): void {
  const variables = container.env ?? [];
  if (variables.some(({ name }) => name === "JOB_COMPLETION_INDEX")) return;
  const valueFrom = { fieldRef: { apiVersion: "v1", fieldPath: `metadata.labels['${indexKey}']` } };
  container.env = [...variables, { name: "JOB_COMPLETION_INDEX", valueFrom }];
}

/**
 * Which of a job's running pods are deleted: all whose index is taken or no longer there, and at
 * least so many.
 */
export function surplusPods(
  job: Stored<Job>,
  active: readonly Stored<Pod>[],
  atLeast: number,
): readonly Stored<Pod>[] {
  const ordered = inDeletionOrder(active);
  if (job.spec.completionMode !== "Indexed") return ordered.slice(0, Math.max(0, atLeast));
  const kept = new Map<number, Stored<Pod>>();
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
