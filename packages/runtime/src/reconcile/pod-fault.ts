import { conditionOf, type ObjectOf } from "@windlass/client";
import type { Deployment, Pod, ReplicaSet, StatefulSet } from "@windlass/kinds/builtin";

/**
 * What keeps pods from running: one word for programs, and a sentence for people. Both stay the
 * same though the kubelet goes back and forth between trying and waiting, so a status that has them
 * is not written with each try. Of a program that ends over and over, the sentence has its last
 * line.
 */
export interface PodFault {
  /**
   * `ImagePullFailed`, `CrashLoop`, `Unschedulable`, or the kubelet's own, such as
   * `CreateContainerConfigError`; of a workload also `QuotaExceeded`, `PodsRefused`, and that of a
   * rollout which does not go on.
   */
  readonly reason: string;
  readonly message: string;
}

type PodObject = ObjectOf<typeof Pod>;
type ContainerStatus = NonNullable<NonNullable<PodObject["status"]>["containerStatuses"]>[number];

/**
 * What is wrong with the first of some pods, by name, that something is wrong with. Pods that are
 * being deleted do not count, nor does a container that is ready, whatever happened to it before.
 *
 * @example
 * const fault = podFault(cache.list(Pod, { namespace, labelSelector }));
 * return { status: { conditions: [condition("Ready", !fault, fault?.reason ?? "Up", fault?.message)] } };
 */
export function podFault(pods: readonly PodObject[]): PodFault | undefined {
  const byName = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const pod of byName) {
    const fault = faultOf(pod);
    if (fault) return fault;
  }
  return undefined;
}

/**
 * What keeps a workload from becoming ready: what is wrong with its pods, why none can be created,
 * or that its rollout does not go on.
 *
 * @param pods Those of the workload: a Deployment's are found by its labels.
 */
export function workloadFault(
  workload: ObjectOf<typeof Deployment> | ObjectOf<typeof StatefulSet> | ObjectOf<typeof ReplicaSet>,
  pods: readonly PodObject[],
): PodFault | undefined {
  return podFault(pods) ?? creationFault(workload) ?? rolloutFault(workload);
}

type Workload = Parameters<typeof workloadFault>[0];

function creationFault(workload: Workload): PodFault | undefined {
  const failure = conditionOf(workload, "ReplicaFailure");
  if (failure?.status !== "True") return undefined;
  const { message = "no pod can be created" } = failure;
  return { reason: message.includes("exceeded quota") ? "QuotaExceeded" : "PodsRefused", message };
}

function rolloutFault(workload: Workload): PodFault | undefined {
  const progress = conditionOf(workload, "Progressing");
  if (progress?.status !== "False") return undefined;
  return { reason: progress.reason ?? "Stalled", message: progress.message ?? "the rollout does not go on" };
}

function faultOf(pod: PodObject): PodFault | undefined {
  const { metadata, spec, status } = pod;
  // One that ends well is done, unless it is started again.
  const staysUp = (spec?.restartPolicy ?? "Always") === "Always";
  for (const container of status?.initContainerStatuses ?? []) {
    const fault = containerFault(metadata.name, container, false);
    if (fault) return fault;
  }
  for (const container of status?.containerStatuses ?? []) {
    const fault = containerFault(metadata.name, container, staysUp);
    if (fault) return fault;
  }
  const placed = conditionOf(pod, "PodScheduled");
  if (placed?.status !== "False") return undefined;
  return { reason: "Unschedulable", message: `pod ${metadata.name} has no node: ${placed.message}` };
}

function containerFault(
  pod: string,
  { name, image, state, ready, lastState }: ContainerStatus,
  staysUp: boolean,
): PodFault | undefined {
  const { reason = "", message } = state?.waiting ?? {};
  if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason))
    return { reason: "ImagePullFailed", message: `pod ${pod} cannot pull image ${image}` };
  // Between two crashes the container runs for a moment: that does not make it healthy.
  const end = ready ? undefined : (state?.terminated ?? lastState?.terminated);
  if (end && (end.exitCode !== 0 || staysUp))
    return {
      reason: "CrashLoop",
      message: `container ${name} of pod ${pod} ended with exit code ${end.exitCode}${lastLineOf(end.message)}`,
    };
  if (!reason.endsWith("Error")) return undefined;
  return { reason, message: `container ${name} of pod ${pod} cannot start: ${message}` };
}

/** How a program's times look at the start of a line. */
const time = /^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s*/;

/**
 * What a program said last, from the termination message of its container: `: ` and its last line,
 * without the time at the start, or nothing. Needs `terminationMessagePolicy:
 * "FallbackToLogsOnError"`, unless the program writes its message itself.
 */
export function lastLineOf(message = ""): string {
  const line = (message.trim().split("\n").at(-1) ?? "").replace(time, "");
  return line === "" ? "" : `: ${line.slice(0, 500)}`;
}
