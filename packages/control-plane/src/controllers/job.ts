import { type JsonObject, textOf } from "../json.ts";
import { timestamp } from "../registry/metadata.ts";
import { StatusError } from "../status.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { eventRecorder } from "./events.ts";
import { completedIndexes, indexOf, type JobFailure, jobFailure, jobPod, parseIndexes } from "./job-pods.ts";
import { type Again, type ControllerWorld, ownKey, type Running, startLoop } from "./loop.ts";
import {
  builtin,
  controllerContext,
  count,
  createObject,
  deleteIfPresent,
  isDeleting,
  listAt,
  namespaceOf,
  numberAt,
  setFinalizer,
  timeAt,
  writeStatus,
} from "./objects.ts";
import { controlledBy, controllerKey } from "./ownership.ts";
import { inDeletionOrder, isActive, isReady, isTerminating } from "./pods.ts";
import { isTerminatingNamespace } from "./replica-set.ts";

/** Keeps a Job's pods from vanishing before they are counted. */
export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

/** The condition by which a Job's status says that it has ended. */
export function finishedCondition(job: StoredObject): JsonObject | undefined {
  return listAt(job, "status", "conditions").find(
    ({ type, status }) => (type === "Complete" || type === "Failed") && status === "True",
  );
}

/** Failed pods are replaced after so long at first, then twice that, and so on up to the limit. */
const firstBackoffMs = 10_000;
const lastBackoffMs = 600_000;

/** Runs pods until enough of them have succeeded, or too many have failed. */
export function startJobs(world: ControllerWorld): Running {
  const { registry } = world;
  const { store, clock } = registry;
  const context = controllerContext("job-controller");
  const record = eventRecorder(registry, { component: "job-controller", context });
  const jobs = builtin(registry, "batch", "v1", "jobs");
  const pods = builtin(registry, "", "v1", "pods");

  return startLoop(world, {
    name: "job-controller",
    watches: { [jobs.bucket]: ownKey, [pods.bucket]: controllerKey("batch", "Job") },
    reconcile: async (key) => {
      const job = store.get(jobs.bucket, key)?.object;
      if (
        !job ||
        (field(job, "spec", "managedBy") !== undefined &&
          field(job, "spec", "managedBy") !== "kubernetes.io/job-controller")
      ) {
        return undefined;
      }
      if (finishedCondition(job) || isDeleting(job)) {
        for (const pod of podsOf(job)) if (isTracked(pod)) await release(pod);
        return undefined;
      }
      return await advance(await counted(await started(job)));
    },
  });

  function podsOf(job: StoredObject): StoredObject[] {
    return controlledBy(registry, pods.bucket, job.metadata.uid);
  }

  async function release(pod: StoredObject): Promise<void> {
    await setFinalizer(registry, pods, pod, context, trackingFinalizer, "absent");
  }

  async function write(job: StoredObject, status: JsonObject): Promise<StoredObject> {
    return await writeStatus(registry, jobs, job, status, context);
  }

  function condition(type: string, status: string, reason: string, message: string): JsonObject {
    const now = timestamp(clock);
    return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
  }

  /** Notes when the job began, or that it is held back. */
  async function started(job: StoredObject): Promise<StoredObject> {
    const status = { ...((job.status ?? {}) as JsonObject) };
    const suspended = field(job, "spec", "suspend") === true;
    const known = listAt(job, "status", "conditions").find(({ type }) => type === "Suspended");
    if (suspended && known?.status !== "True") {
      delete status.startTime;
      status.conditions = replaced(job, condition("Suspended", "True", "JobSuspended", "Job suspended"));
      const next = await write(job, status);
      await record(job, { type: "Normal", reason: "Suspended", message: "Job suspended" });
      return next;
    }
    if (!suspended && known?.status === "True") {
      status.startTime = timestamp(clock);
      status.conditions = replaced(job, condition("Suspended", "False", "JobResumed", "Job resumed"));
      const next = await write(job, status);
      await record(job, { type: "Normal", reason: "Resumed", message: "Job resumed" });
      return next;
    }
    return job;
  }

  /** Takes finished pods into the count: first written down by uid, then released, then added up, so that none counts twice. */
  async function counted(job: StoredObject): Promise<StoredObject> {
    const failing = listAt(job, "status", "conditions").some(({ type }) => type === "FailureTarget");
    const before = (part: string) =>
      (field(job, "status", "uncountedTerminatedPods", part) ?? []) as string[];
    const uncounted = { succeeded: [...before("succeeded")], failed: [...before("failed")] };
    const done = podsOf(job).filter((pod) => isTracked(pod) && outcome(job, pod, failing) !== undefined);
    const indexes = new Set(parseIndexes(textOf(field(job, "status", "completedIndexes"))));
    const indexed = field(job, "spec", "completionMode") === "Indexed";
    let ignored = 0;
    for (const pod of done) {
      const what = outcome(job, pod, failing) as "succeeded" | "failed" | "ignored";
      const { uid } = pod.metadata;
      if (what === "ignored") ignored++;
      else if (indexed && what === "succeeded") indexes.add(indexOf(pod) ?? -1);
      else if (!uncounted[what].includes(uid)) uncounted[what].push(uid);
    }
    if (uncounted.succeeded.length + uncounted.failed.length + done.length === 0) return job;
    const status: JsonObject = {
      ...((job.status ?? {}) as JsonObject),
      ...(indexed && indexes.size > 0
        ? { completedIndexes: completedIndexes([...indexes]), succeeded: indexes.size }
        : {}),
      uncountedTerminatedPods: {
        ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
        ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
      },
    };
    if (done.length > ignored) await write(job, status);
    for (const pod of done) await release(pod);
    return await write(job, {
      ...status,
      ...count("succeeded", numberAt(status, ["succeeded"], 0) + uncounted.succeeded.length),
      ...count("failed", numberAt(status, ["failed"], 0) + uncounted.failed.length),
      uncountedTerminatedPods: {},
    });
  }

  /** How a pod counts; undefined while it may still go either way. */
  function outcome(
    job: StoredObject,
    pod: StoredObject,
    failing: boolean,
  ): "succeeded" | "failed" | "ignored" | undefined {
    const phase = field(pod, "status", "phase");
    if (phase === "Succeeded") return "succeeded";
    const lost =
      phase === "Failed" ||
      (isDeleting(pod) && (failing || field(job, "spec", "podReplacementPolicy") !== "Failed"));
    if (!lost) return undefined;
    return jobFailure(job, pod) === "ignore" ? "ignored" : "failed";
  }

  async function advance(job: StoredObject): Promise<Again | undefined> {
    const own = podsOf(job);
    const target = listAt(job, "status", "conditions").find(
      ({ type, status }) => (type === "FailureTarget" || type === "SuccessCriteriaMet") && status === "True",
    );
    if (target) return await end(job, target);
    const failure = failureOf(job, own);
    if (failure) {
      const met = condition("FailureTarget", "True", failure.reason, failure.message);
      return await end(await write(job, { ...numbers(job), conditions: replaced(job, met) }), met);
    }
    if (isComplete(job, own)) {
      const met = condition(
        "SuccessCriteriaMet",
        "True",
        "CompletionsReached",
        "Reached expected number of succeeded pods",
      );
      return await end(await write(job, { ...numbers(job), conditions: replaced(job, met) }), met);
    }
    const suspended = field(job, "spec", "suspend") === true;
    const waitMs = suspended ? await dismiss(job, own.filter(isActive)) : await manage(job, own);
    const status = numbers(job);
    if (!suspended && status.startTime === undefined) status.startTime = timestamp(clock);
    const next = await write(job, status);
    const deadline = deadlineMs(next);
    const soonest = Math.min(waitMs ?? Number.POSITIVE_INFINITY, deadline ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(soonest) ? { requeueAfterMs: soonest } : undefined;
  }

  /** The job's end is decided: nothing may run any more, and then the status says so for good. */
  async function end(job: StoredObject, target: JsonObject): Promise<Again | undefined> {
    const left = podsOf(job).filter(isActive);
    for (const pod of left) {
      if (!(await deleteIfPresent(registry, pods, pod, context))) continue;
      await record(job, {
        type: "Normal",
        reason: "SuccessfulDelete",
        message: `Deleted pod: ${pod.metadata.name}`,
      });
    }
    const running = podsOf(job).some((pod) => isActive(pod) || isTerminating(pod) || isTracked(pod));
    if (running) {
      await write(job, numbers(job));
      return undefined;
    }
    const failed = target.type === "FailureTarget";
    const { reason, message } = target;
    const final = condition(failed ? "Failed" : "Complete", "True", textOf(reason), textOf(message));
    await write(job, {
      ...numbers(job),
      conditions: replaced(job, final),
      ...(failed ? {} : { completionTime: timestamp(clock) }),
    });
    await record(
      job,
      failed
        ? { type: "Warning", reason: textOf(reason), message: textOf(message) }
        : { type: "Normal", reason: "Completed", message: "Job completed" },
    );
    return undefined;
  }

  function failureOf(job: StoredObject, own: readonly StoredObject[]): JobFailure | undefined {
    for (const pod of own) {
      const verdict = field(pod, "status", "phase") === "Failed" ? jobFailure(job, pod) : "count";
      if (typeof verdict === "object") return verdict;
    }
    const limit = numberAt(job, ["spec", "backoffLimit"], 6);
    const restarts = own
      .filter((pod) => !isDeleting(pod) && field(pod, "spec", "restartPolicy") === "OnFailure")
      .flatMap((pod) => [
        ...listAt(pod, "status", "initContainerStatuses"),
        ...listAt(pod, "status", "containerStatuses"),
      ])
      .reduce((total, { restartCount }) => total + Number(restartCount ?? 0), 0);
    const tooOften = restarts > 0 && restarts >= limit;
    if (numberAt(job, ["status", "failed"], 0) > limit || tooOften) {
      return { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
    }
    const left = deadlineMs(job);
    return left !== undefined && left <= 0
      ? { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" }
      : undefined;
  }

  function deadlineMs(job: StoredObject): number | undefined {
    const limit = field(job, "spec", "activeDeadlineSeconds");
    const start = timeAt(job, "status", "startTime");
    if (typeof limit !== "number" || start === undefined || field(job, "spec", "suspend") === true)
      return undefined;
    return start + limit * 1_000 - clock.now();
  }

  function isComplete(job: StoredObject, own: readonly StoredObject[]): boolean {
    const succeeded = numberAt(job, ["status", "succeeded"], 0);
    const wanted = field(job, "spec", "completions");
    if (typeof wanted === "number") return succeeded >= wanted;
    return succeeded > 0 && !own.some(isActive);
  }

  /** Makes and removes pods. @returns how long to wait before more may be made */
  async function manage(job: StoredObject, own: readonly StoredObject[]): Promise<number | undefined> {
    const active = own.filter(isActive);
    const parallelism = numberAt(job, ["spec", "parallelism"], 1);
    const succeeded = numberAt(job, ["status", "succeeded"], 0);
    const completions = field(job, "spec", "completions");
    const waiting =
      field(job, "spec", "podReplacementPolicy") === "Failed" ? own.filter(isTerminating).length : 0;
    const wanted =
      typeof completions === "number"
        ? Math.min(parallelism, completions - succeeded)
        : succeeded > 0
          ? Math.min(active.length, parallelism)
          : parallelism;
    if (active.length > wanted) await dismiss(job, inDeletionOrder(active).slice(0, active.length - wanted));
    const missing = wanted - active.length - waiting;
    if (missing <= 0) return undefined;
    const waitMs = backoffMs(own);
    if (waitMs > 0) return waitMs;
    const indexes = field(job, "spec", "completionMode") === "Indexed" ? freeIndexes(job, own) : undefined;
    for (let made = 0; made < missing; made++) {
      const index = indexes?.[made];
      if (indexes && index === undefined) break;
      if (!(await create(job, index))) break;
    }
    return undefined;
  }

  async function create(job: StoredObject, index: number | undefined): Promise<boolean> {
    try {
      const created = await createObject(
        registry,
        pods,
        namespaceOf(job),
        jobPod(job, index, trackingFinalizer),
        context,
      );
      await record(job, {
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Created pod: ${created.metadata.name}`,
      });
      return true;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (isTerminatingNamespace(error)) return false;
      await record(job, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Error creating: ${error.message}`,
      });
      throw error;
    }
  }

  /** Removes pods that are not wanted any more; they do not count as failed. */
  async function dismiss(job: StoredObject, unwanted: readonly StoredObject[]): Promise<undefined> {
    for (const pod of unwanted) {
      await release(pod);
      if (!(await deleteIfPresent(registry, pods, pod, context))) continue;
      await record(job, {
        type: "Normal",
        reason: "SuccessfulDelete",
        message: `Deleted pod: ${pod.metadata.name}`,
      });
    }
    return undefined;
  }

  function freeIndexes(job: StoredObject, own: readonly StoredObject[]): number[] {
    const taken = new Set(parseIndexes(textOf(field(job, "status", "completedIndexes"))));
    for (const pod of own.filter(isActive)) taken.add(indexOf(pod) ?? -1);
    const completions = numberAt(job, ["spec", "completions"], 0);
    return Array.from({ length: completions }, (_, index) => index).filter((index) => !taken.has(index));
  }

  /** Each failure since the last success doubles the wait for the next pod. */
  function backoffMs(own: readonly StoredObject[]): number {
    const ended = (phase: string) =>
      own
        .filter((pod) => field(pod, "status", "phase") === phase)
        .map((pod) => Math.max(timeAt(pod, "metadata", "creationTimestamp") ?? 0, ...finishTimes(pod)));
    const lastSuccess = Math.max(0, ...ended("Succeeded"));
    const failures = ended("Failed").filter((at) => at > lastSuccess);
    if (failures.length === 0) return 0;
    const wait = Math.min(firstBackoffMs * 2 ** (failures.length - 1), lastBackoffMs);
    return Math.max(0, Math.max(...failures) + wait - clock.now());
  }

  /** The job's status with what its pods do now. */
  function numbers(job: StoredObject): JsonObject {
    const own = podsOf(job);
    const active = own.filter(isActive);
    const { active: _active, ...rest } = (job.status ?? {}) as JsonObject;
    return {
      ...rest,
      ...count("active", active.length),
      ready: active.filter(isReady).length,
      terminating: own.filter(isTerminating).length,
      uncountedTerminatedPods: (rest.uncountedTerminatedPods ?? {}) as JsonObject,
    };
  }
}

function finishTimes(pod: StoredObject): number[] {
  return listAt(pod, "status", "containerStatuses").map(
    (status) => timeAt(status, "state", "terminated", "finishedAt") ?? 0,
  );
}

function isTracked(pod: StoredObject): boolean {
  const finalizers = pod.metadata.finalizers;
  return Array.isArray(finalizers) && finalizers.includes(trackingFinalizer);
}

/** The job's conditions with one of them replaced where it stands, or added. */
function replaced(job: StoredObject, next: JsonObject): JsonObject[] {
  const before = listAt(job, "status", "conditions");
  return before.some(({ type }) => type === next.type)
    ? before.map((known) => (known.type === next.type ? next : known))
    : [...before, next];
}
