import { controllerOf } from "@windlass/kinds";
import type { Job, Pod } from "@windlass/kinds/builtin";
import { eventRecorder } from "../../controllers/events.ts";
import {
  type Again,
  type ControllerDependencies,
  ownKey,
  type Running,
  startLoop,
} from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  count,
  createObject,
  deleteIfPresent,
  isDeleting,
  setFinalizer,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { claim, claimantKeys, controlledBy, selectorOf, within } from "../../controllers/ownership.ts";
import { isTerminating } from "../../controllers/pods.ts";
import { millisOf, namespaceOf } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import { StatusError } from "../../status.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { isTerminatingNamespace } from "../replica-set/controller.ts";
import { type Failures, indexWaitMs, waitMs, withEnded } from "./backoff.ts";
import { decidedCondition, endOf, finishedCondition, isComplete } from "./end.ts";
import { failsByIndex, indexOf, isIndexed } from "./indexes.ts";
import { jobPod, surplusPods } from "./pods.ts";
import { isFailed, verdictOn } from "./policies.ts";
import { type JobCondition, type JobStatus, jobStatus, withJobCondition } from "./status.ts";
import { isTracked, type JobSurvey, surveyOf, trackingFinalizer } from "./survey.ts";

/** Who runs a Job if it does not say otherwise. */
const ownName = "kubernetes.io/job-controller";

const reached = {
  type: "SuccessCriteriaMet",
  reason: "CompletionsReached",
  message: "Reached expected number of succeeded pods",
} as const;

/** The result of one reconcile of a Job. */
interface Outcome {
  /** The status with what has changed of it. */
  readonly begun: Draft<JobStatus>;
  /** The condition by which the job ends. */
  readonly target: JobCondition | undefined;
  /**
   * Whether a failed pod's successor has to wait. Until then the real controller says that nothing
   * is active, whatever is.
   */
  readonly waits: boolean;
}

/** Runs the pods of Jobs until enough have succeeded, or too many have failed. */
export function startJobs(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { clock } = registry;
  const context = controllerContext("job-controller");
  const record = eventRecorder(registry, { component: "job-controller", context });
  const jobs = builtin<Job>(registry, "batch", "v1", "jobs");
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  /**
   * Failures in a row by the job's uid. Forgotten with this process, as the real controller forgets
   * them.
   */
  const failures = new Map<string, Failures>();

  return startLoop(deps, {
    name: "job-controller",
    watches: {
      [jobs.bucket]: (change) => {
        if (change.type === "DELETED") failures.delete(change.entry.object.metadata.uid);
        return ownKey(change);
      },
      [pods.bucket]: claimantKeys(registry, jobs),
    },
    reconcile: async (key) => {
      const job = stored(registry, jobs, key);
      if (!job) for (const pod of leftBy(key)) await release(pod);
      if (!job || (job.spec.managedBy ?? ownName) !== ownName) return undefined;
      if (finishedCondition(job) || isDeleting(job)) {
        for (const pod of podsOf(job)) if (isTracked(pod)) await release(pod);
        return undefined;
      }
      for (const pod of podsOf(job)) {
        if (isTracked(pod) && !selectorOf(job)(pod.metadata.labels)) {
          await release(pod);
        }
      }
      // Pods that a job has not tracked would never be counted.
      await claim(registry, job, pods, context, isTracked);
      return await advance(job);
    },
  });

  function podsOf(job: Stored<Job>): Stored<Pod>[] {
    return controlledBy(registry, pods, job.metadata.uid);
  }

  /** Pods with the tracking finalizer of a Job that was deleted: it is removed. */
  function leftBy(key: string): Stored<Pod>[] {
    const slash = key.indexOf("/");
    return [...within(registry, pods, key.slice(0, slash))].filter((pod) => {
      const owner = controllerOf(pod);
      return isTracked(pod) && owner?.kind === "Job" && owner.name === key.slice(slash + 1);
    });
  }

  async function release(pod: Stored<Pod>): Promise<void> {
    await setFinalizer(registry, pods, pod, context, trackingFinalizer, "absent");
  }

  async function write(job: Stored<Job>, status: JobStatus): Promise<Stored<Job>> {
    return await writeStatus(registry, jobs, job, status, context);
  }

  function condition(type: string, status: string, reason: string, message: string): JobCondition {
    const now = timestamp(clock);
    return { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
  }

  async function advance(job: Stored<Job>): Promise<Again | undefined> {
    const survey = surveyOf(job, podsOf(job));
    const known = failures.get(job.metadata.uid) ?? { count: 0, lastAt: 0 };
    const ended = withEnded(known, survey.fresh);
    const suspended = job.spec.suspend === true;
    let wait: number | undefined;
    const decided = decidedCondition(job);
    let end = decided ? undefined : endOf(job, survey, deadlineMs(job));
    if (decided || end) await stop(job, survey.active);
    else {
      wait = suspended ? await dismiss(job, survey.active) : await manage(job, survey, ended);
      if (isComplete(job, survey, podsOf(job))) end = reached;
    }
    const startTime = job.status?.startTime ?? (suspended ? undefined : timestamp(clock));
    const status: Draft<JobStatus> = {
      ...(job.status as Draft<JobStatus> | undefined),
      ...(startTime === undefined ? {} : { startTime }),
    };
    const target = decided ?? (end && condition(end.type, "True", end.reason, end.message));
    if (!target) await suspension(job, status, suspended);
    const next = await take(job, survey, { begun: status, target, waits: wait !== undefined });
    failures.set(job.metadata.uid, ended);
    const soonest = Math.min(wait ?? Number.POSITIVE_INFINITY, deadlineMs(next) ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(soonest) && !target ? { requeueAfterMs: soonest } : undefined;
  }

  /** Records that the job was suspended or resumed; resuming resets its start time. */
  async function suspension(job: Stored<Job>, status: Draft<JobStatus>, suspended: boolean): Promise<void> {
    const known = (job.status?.conditions ?? []).find(({ type }) => type === "Suspended");
    if ((known?.status === "True") === suspended) return;
    const [state, reason, message] = suspended
      ? ["True", "JobSuspended", "Job suspended"]
      : ["False", "JobResumed", "Job resumed"];
    status.conditions = withJobCondition(
      status,
      condition("Suspended", state, reason, message),
    ) as Draft<JobCondition>[];
    if (!suspended) status.startTime = timestamp(clock);
    await record(job, { type: "Normal", reason: suspended ? "Suspended" : "Resumed", message });
  }

  /**
   * Takes ended pods into the count: first written down, by uid or index and with what they decide,
   * then released, then added up, so that none counts twice. Says that the job has ended once
   * nothing of it is left running.
   */
  async function take(
    job: Stored<Job>,
    survey: JobSurvey,
    { begun, target, waits }: Outcome,
  ): Promise<Stored<Job>> {
    const before = (part: "succeeded" | "failed") => job.status?.uncountedTerminatedPods?.[part] ?? [];
    const uncounted = { succeeded: [...before("succeeded")], failed: [...before("failed")] };
    const done = survey.pods.filter((pod) => isTracked(pod) && mayGo(job, survey, pod, target));
    for (const pod of done) {
      const { uid } = pod.metadata;
      const part = partOf(job, pod, target);
      if (part !== undefined && !before(part).includes(uid)) uncounted[part].push(uid);
    }
    if (target) begun.conditions = withJobCondition(begun, target) as Draft<JobCondition>[];
    const status = () =>
      jobStatus(job, survey, begun, waits ? survey.pods.filter(isTerminating) : podsOf(job));
    const toAdd = uncounted.succeeded.length + uncounted.failed.length;
    let next = job;
    if (done.length > 0 || toAdd > 0) {
      next = await write(job, {
        ...status(),
        uncountedTerminatedPods: {
          ...(uncounted.succeeded.length > 0 ? { succeeded: uncounted.succeeded } : {}),
          ...(uncounted.failed.length > 0 ? { failed: uncounted.failed } : {}),
        },
      });
    }
    for (const pod of done) await release(pod);
    const now = status();
    const total: JobStatus = {
      ...now,
      ...count("succeeded", (now.succeeded ?? 0) + uncounted.succeeded.length),
      ...count("failed", (now.failed ?? 0) + uncounted.failed.length),
      uncountedTerminatedPods: {},
    };
    if (!target || podsOf(job).some((pod) => isTerminating(pod) || isTracked(pod))) {
      return await write(next, total);
    }
    return await finish(next, total, target);
  }

  async function finish(job: Stored<Job>, total: JobStatus, target: JobCondition): Promise<Stored<Job>> {
    const failed = target.type === "FailureTarget";
    const { reason = "", message = "" } = target;
    const final = condition(failed ? "Failed" : "Complete", "True", reason, message);
    const ended = await write(job, {
      ...total,
      conditions: withJobCondition(total, final),
      ...(failed ? {} : { completionTime: timestamp(clock) }),
    });
    if (failed) await record(job, { type: "Warning", reason, message });
    else await record(job, { type: "Normal", reason: "Completed", message: "Job completed" });
    return ended;
  }

  /** Whether a pod need not be kept any longer. */
  function mayGo(
    job: Stored<Job>,
    survey: JobSurvey,
    pod: Stored<Pod>,
    target: JobCondition | undefined,
  ): boolean {
    if (target || pod.status?.phase === "Succeeded") return true;
    if (!isFailed(job, pod)) return false;
    const index = indexOf(job, pod);
    const last = index === undefined ? undefined : survey.lastTry.get(index);
    const followed = podsOf(job).some((other) => !isFailed(job, other) && indexOf(job, other) === index);
    return last?.metadata.uid !== pod.metadata.uid || followed;
  }

  /**
   * How a pod counts, where that is by its uid. When a job fails, whatever still runs fails with
   * it.
   */
  function partOf(
    job: Stored<Job>,
    pod: Stored<Pod>,
    target: JobCondition | undefined,
  ): "succeeded" | "failed" | undefined {
    const outside = isIndexed(job) && indexOf(job, pod) === undefined;
    if (pod.status?.phase === "Succeeded") return isIndexed(job) ? undefined : "succeeded";
    const failed = isFailed(job, pod) || target?.type === "FailureTarget";
    return failed && !outside && verdictOn(job, pod).action !== "Ignore" ? "failed" : undefined;
  }

  function deadlineMs(job: Stored<Job>): number | undefined {
    const limit = job.spec.activeDeadlineSeconds;
    const start = millisOf(job.status?.startTime);
    if (typeof limit !== "number" || start === undefined || job.spec.suspend === true) return undefined;
    return start + limit * 1_000 - clock.now();
  }

  /** Makes and removes pods. @returns how long to wait before more may be made */
  async function manage(job: Stored<Job>, survey: JobSurvey, ended: Failures): Promise<number | undefined> {
    const { active, succeeded } = survey;
    const parallelism = job.spec.parallelism ?? 1;
    const completions = job.spec.completions;
    const open = succeeded > 0 ? active.length : parallelism;
    const wanted =
      typeof completions === "number" ? Math.max(0, Math.min(parallelism, completions - succeeded)) : open;
    const surplus = surplusPods(job, active, active.length - wanted);
    if (surplus.length > 0) return await dismiss(job, surplus);
    const waiting = job.spec.podReplacementPolicy === "Failed" ? survey.pods.filter(isTerminating).length : 0;
    const missing = wanted - active.length - waiting;
    if (missing <= 0) return undefined;
    if (isIndexed(job)) return await fillIndexes(job, survey, missing, ended);
    const left = waitMs(ended, clock.now());
    if (left > 0) return left;
    for (let made = 0; made < missing; made++) if (!(await create(job))) break;
    return undefined;
  }

  /**
   * Makes the pods of the first indexes that have none.
   *
   * @returns how long to wait before more may be made
   */
  async function fillIndexes(
    job: Stored<Job>,
    survey: JobSurvey,
    missing: number,
    ended: Failures,
  ): Promise<number | undefined> {
    const now = clock.now();
    const waitOf = (index: number) =>
      failsByIndex(job) ? indexWaitMs(survey.lastTry.get(index), now) : waitMs(ended, now);
    const free = freeIndexes(job, survey).slice(0, missing);
    const due = free.filter((index) => waitOf(index) === 0);
    for (const index of due) if (!(await create(job, index, survey.lastTry.get(index)))) break;
    if (due.length > 0) return undefined;
    const later = free.map(waitOf).filter((left) => left > 0);
    return later.length > 0 ? Math.min(...later) : undefined;
  }

  function freeIndexes(job: Stored<Job>, survey: JobSurvey): number[] {
    const taken = new Set([...survey.completed, ...survey.givenUp]);
    const replacing = job.spec.podReplacementPolicy === "Failed" ? isTerminating : () => false;
    for (const pod of [...survey.active, ...survey.pods.filter(replacing)]) {
      const index = indexOf(job, pod);
      if (index !== undefined) taken.add(index);
    }
    const completions = job.spec.completions ?? 0;
    return Array.from({ length: completions }, (_, index) => index).filter((index) => !taken.has(index));
  }

  async function create(job: Stored<Job>, index?: number, lastTry?: Stored<Pod>): Promise<boolean> {
    try {
      const pod = jobPod(job, index, lastTry);
      const created = await createObject(registry, pods, namespaceOf(job), pod, context);
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
  async function dismiss(job: Stored<Job>, unwanted: readonly Stored<Pod>[]): Promise<undefined> {
    for (const pod of unwanted) await release(pod);
    await stop(job, unwanted);
    return undefined;
  }

  async function stop(job: Stored<Job>, unwanted: readonly Stored<Pod>[]): Promise<void> {
    for (const pod of unwanted) {
      if (!(await deleteIfPresent(registry, pods, pod, context))) continue;
      await record(job, {
        type: "Normal",
        reason: "SuccessfulDelete",
        message: `Deleted pod: ${pod.metadata.name}`,
      });
    }
  }
}
