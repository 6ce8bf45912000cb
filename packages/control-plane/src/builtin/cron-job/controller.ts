import type { CronJob, Job } from "@windlass/kinds/builtin";
import { eventRecorder, reference } from "../../controllers/events.ts";
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
  createObject,
  deleteIfPresent,
  isDeleting,
  stored,
  writeStatus,
} from "../../controllers/objects.ts";
import { controlledBy, controllerKey, controllerReference } from "../../controllers/ownership.ts";
import { clone } from "../../json.ts";
import { millisOf, namespaceOf, numberAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import { StatusError } from "../../status.ts";
import type { Draft, Stored } from "../../storage/typed.ts";
import { finishedCondition } from "../job/end.ts";
import { parseSchedule, type Schedule, zonedTime } from "./schedule.ts";

type CronJobStatus = NonNullable<CronJob["status"]>;

/** Starts the Jobs of CronJobs on schedule. */
export function startCronJobs(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { clock } = registry;
  const context = controllerContext("cronjob-controller");
  const record = eventRecorder(registry, { component: "cronjob-controller", context });
  const cronJobs = builtin<CronJob>(registry, "batch", "v1", "cronjobs");
  const jobs = builtin<Job>(registry, "batch", "v1", "jobs");

  return startLoop(deps, {
    name: "cronjob-controller",
    watches: { [cronJobs.bucket]: ownKey, [jobs.bucket]: controllerKey("batch", "CronJob") },
    reconcile: async (key) => {
      const cronJob = stored(registry, cronJobs, key);
      if (!cronJob || isDeleting(cronJob)) return undefined;
      const status = await withFinished(cronJob);
      await cleanUp(cronJob);
      const started = await startDue(cronJob, status);
      await writeStatus(registry, cronJobs, cronJob, started.status, context);
      return started.again;
    },
  });

  function jobsOf(cronJob: Stored<CronJob>): Stored<Job>[] {
    return controlledBy(registry, jobs, cronJob.metadata.uid);
  }

  /** The status after finished jobs were removed from it. */
  async function withFinished(cronJob: Stored<CronJob>): Promise<CronJobStatus> {
    const own = jobsOf(cronJob);
    const { active: before = [], ...status }: Draft<CronJobStatus> = clone(
      cronJob.status ?? {},
    ) as Draft<CronJobStatus>;
    const active: typeof before = [];
    for (const known of before) {
      const job = own.find(({ metadata }) => metadata.uid === known.uid);
      const finished = job && finishedCondition(job);
      if (!job) {
        await record(cronJob, {
          type: "Normal",
          reason: "MissingJob",
          message: `Active job went missing: ${known.name ?? ""}`,
        });
      } else if (finished) {
        await record(cronJob, {
          type: "Normal",
          reason: "SawCompletedJob",
          message: `Saw completed job: ${job.metadata.name}, condition: ${finished.type}`,
        });
      } else active.push(known);
    }
    for (const job of own) {
      const listed = before.some(({ uid }) => uid === job.metadata.uid);
      if (!listed && !finishedCondition(job)) {
        await record(cronJob, {
          type: "Warning",
          reason: "UnexpectedJob",
          message: `Saw a job that the controller did not create or forgot: ${job.metadata.name}`,
        });
      }
      const end = job.status?.completionTime;
      if (finishedCondition(job)?.type === "Complete" && (end ?? "") > (status.lastSuccessfulTime ?? "")) {
        status.lastSuccessfulTime = end as string;
      }
    }
    return active.length > 0 ? { ...status, active } : status;
  }

  async function cleanUp(cronJob: Stored<CronJob>): Promise<void> {
    for (const [type, part, usual] of [
      ["Complete", "successfulJobsHistoryLimit", 3],
      ["Failed", "failedJobsHistoryLimit", 1],
    ] as const) {
      const done = jobsOf(cronJob)
        .filter((job) => finishedCondition(job)?.type === type)
        .toSorted((a, b) => beganAt(a) - beganAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
      const keep = numberAt(cronJob, "spec", part) ?? usual;
      for (const job of done.slice(0, Math.max(0, done.length - keep))) await remove(cronJob, job);
    }
  }

  async function remove(cronJob: Stored<CronJob>, job: Stored<Job>): Promise<void> {
    if (!(await deleteIfPresent(registry, jobs, job, context))) return;
    await record(cronJob, {
      type: "Normal",
      reason: "SuccessfulDelete",
      message: `Deleted job ${job.metadata.name}`,
    });
  }

  async function startDue(
    cronJob: Stored<CronJob>,
    status: CronJobStatus,
  ): Promise<{ status: CronJobStatus; again: Again | undefined }> {
    if (cronJob.spec.suspend === true) return { status, again: undefined };
    const text = cronJob.spec.schedule;
    let schedule: Schedule;
    try {
      schedule = parseSchedule(text, cronJob.spec.timeZone);
    } catch {
      await record(cronJob, {
        type: "Warning",
        reason: "UnparseableSchedule",
        message: `unparseable schedule for cronjob: ${JSON.stringify(text)}`,
      });
      return { status, again: undefined };
    }
    const now = clock.now();
    const deadline = cronJob.spec.startingDeadlineSeconds;
    const from = millisOf(status.lastScheduleTime) ?? millisOf(cronJob.metadata.creationTimestamp) ?? now;
    const since = deadline !== undefined ? Math.max(from, now - deadline * 1_000) : from;
    const due = schedule.last(since, now);
    const next = schedule.next(schedule.last(from, now) ?? from);
    const again = next === undefined ? undefined : { requeueAfterMs: Math.max(0, next - now) };
    if (due === undefined) return { status, again };
    if (missed(schedule, since, now) > mostMissed) {
      await record(cronJob, {
        type: "Warning",
        reason: "TooManyMissedTimes",
        message:
          "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
      });
    }
    return { status: (await start(cronJob, due, status)) ?? status, again };
  }

  /** @returns the status with the new job; undefined if there is none */
  async function start(
    cronJob: Stored<CronJob>,
    due: number,
    status: CronJobStatus,
  ): Promise<CronJobStatus | undefined> {
    const active = status.active ?? [];
    const policy = cronJob.spec.concurrencyPolicy;
    if (policy === "Forbid" && active.length > 0) {
      await record(cronJob, {
        type: "Normal",
        reason: "JobAlreadyActive",
        message: "Not starting job because prior execution is running and concurrency policy is Forbid",
      });
      return undefined;
    }
    let left: typeof active = active;
    if (policy === "Replace") {
      for (const job of jobsOf(cronJob)) {
        if (active.some(({ uid }) => uid === job.metadata.uid)) await remove(cronJob, job);
      }
      left = [];
    }
    const lastScheduleTime = timestamp({ ...clock, now: () => due });
    try {
      const job = await createObject(registry, jobs, namespaceOf(cronJob), jobFor(cronJob, due), context);
      await record(cronJob, {
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Created job ${job.metadata.name}`,
      });
      return { ...status, active: [...left, reference(job)], lastScheduleTime };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      // Created by an earlier reconcile that did not get to write the status.
      if (error.reason === "AlreadyExists") return { ...status, lastScheduleTime };
      await record(cronJob, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Error creating job: ${error.message}`,
      });
      throw error;
    }
  }
}

/** More missed times than these are worth a warning. */
const mostMissed = 100;

/** How many runs were missed, estimated from the interval between the first two. */
function missed(schedule: Schedule, since: number, now: number): number {
  const first = schedule.next(since);
  const second = first === undefined ? undefined : schedule.next(first);
  if (first === undefined || second === undefined || second > now) return 1;
  return Math.floor((now - first) / (second - first)) + 1;
}

/** The job of a point in time: the same name for the same minute, so that it is made once. */
function jobFor(cronJob: Stored<CronJob>, due: number): object {
  const { metadata, spec } = clone(cronJob.spec.jobTemplate);
  const { labels = {}, annotations } = metadata ?? {};
  return {
    metadata: {
      name: `${cronJob.metadata.name}-${Math.floor(due / 60_000)}`,
      ...(Object.keys(labels).length > 0 ? { labels: { ...labels } } : {}),
      annotations: {
        ...annotations,
        "batch.kubernetes.io/cronjob-scheduled-timestamp": zonedTime(due, cronJob.spec.timeZone),
      },
      ownerReferences: [controllerReference(cronJob)],
    },
    spec,
  };
}

function beganAt(job: Stored<Job>): number {
  return millisOf(job.status?.startTime) ?? 0;
}
