import {
  type Child,
  type ContextOf,
  child,
  condition,
  controller,
  declaration,
  defineResource,
  invalid,
  type ObjectOf,
  terminal,
  timestamp,
  type WebhookServerOptions,
  webhookServer,
} from "@windlass/runtime";
import { Job } from "@windlass/runtime/kinds";
import { jobTemplateSpec } from "@windlass/runtime/schemas";
import { Cron } from "croner";
import { z } from "zod";

/** The CronJob of kubebuilder's book. */
export const CronJob = defineResource({
  group: "example.com",
  version: "v1",
  kind: "CronJob",
  spec: z.object({
    schedule: z.string().min(1).describe("When to run, as cron writes it, in UTC"),
    startingDeadlineSeconds: z
      .int32()
      .min(0)
      .optional()
      .describe("How late a run may start; any time if left out"),
    concurrencyPolicy: z
      .enum(["Allow", "Forbid", "Replace"])
      .default("Allow")
      .describe("What to do where the run before is still under way"),
    suspend: z.boolean().default(false).describe("Start nothing; what runs goes on"),
    jobTemplate: jobTemplateSpec().describe("The Job to run"),
    successfulJobsHistoryLimit: z.int32().min(0).default(3).describe("How many Jobs that succeeded are kept"),
    failedJobsHistoryLimit: z.int32().min(0).default(1).describe("How many Jobs that failed are kept"),
  }),
  status: z.object({
    active: z.array(z.string()).optional().describe("The Jobs that are under way"),
    lastScheduleTime: z.iso.datetime().optional().describe("When the last run was due that was started"),
  }),
  printerColumns: [
    { name: "Schedule", jsonPath: ".spec.schedule" },
    { name: "Suspend", jsonPath: ".spec.suspend", type: "boolean" },
    { name: "Last", jsonPath: ".status.lastScheduleTime", type: "date" },
  ],
});
type CronJobObject = ObjectOf<typeof CronJob>;
type JobObject = ObjectOf<typeof Job>;

/** When a Job was due. Its name has it too: however often a run is started, it is one Job. */
const dueAnnotation = "example.com/due-at";

const declared = declaration(CronJob, { owns: [Job] });
type Context = ContextOf<typeof declared>;

/**
 * Starts a Job whenever one is due. The Jobs are made one at a time and stay when they have ended, so they are applied and deleted here
 * rather than returned as `children`.
 */
export const cronJob = controller(CronJob, {
  ...declared,
  reconcile: async (cronJob, context) => {
    const { spec } = cronJob;
    const now = context.now.getTime();
    const schedule = parse(spec.schedule);
    const jobs = context.ownedAll(Job).toSorted((a, b) => dueAt(a) - dueAt(b));
    await forget(jobs, cronJob, context);

    const active = jobs.filter(
      (job) => resultOf(job) === undefined && job.metadata.deletionTimestamp === undefined,
    );
    const last = Math.max(startOf(cronJob), ...jobs.map(dueAt));
    const status = (running: readonly { readonly metadata: { readonly name: string } }[], due = last) => ({
      active: running.map(({ metadata }) => metadata.name),
      ...((due > startOf(cronJob) || cronJob.status?.lastScheduleTime !== undefined) && {
        lastScheduleTime: timestamp(due),
      }),
      conditions: [condition("Ready", true, spec.suspend ? "Suspended" : "Scheduled")],
    });
    if (spec.suspend) return { status: status(active) };

    const next = schedule.nextRun(context.now);
    const wake = next === null ? {} : { requeueAfter: next.getTime() - now };
    const due = lastMissed(schedule, last, now);
    if (due === undefined) return { status: status(active), ...wake };
    const { startingDeadlineSeconds: deadline, concurrencyPolicy } = spec;
    if (deadline !== undefined && now - due > deadline * 1_000) {
      context.events.warning("MissedRun", `the run of ${timestamp(due)} would start later than it may`);
      return { status: status(active), ...wake };
    }
    // The end of a Job that is under way asks for another look.
    if (concurrencyPolicy === "Forbid" && active.length > 0) return { status: status(active), ...wake };
    const replaced = concurrencyPolicy === "Replace" ? active : [];
    for (const job of replaced) await context.delete(Job, job, { propagationPolicy: "Background" });
    const started = await context.apply(jobFor(cronJob, due));
    const running = active.filter((job) => !replaced.includes(job));
    return { status: status([...running, started], due), ...wake };
  },
});

/** Refuses what no schema can: an invalid schedule, and a name that leaves no room for those of Jobs. */
export function cronJobWebhooks(options: Partial<WebhookServerOptions> = {}) {
  return webhookServer({ name: "cron-job-operator", ...options }).validate(CronJob, ({ metadata, spec }) => {
    const fault = faultIn(spec.schedule);
    return [
      metadata.name.length > 52 && invalid("metadata.name", "must have at most 52 characters"),
      fault !== undefined && invalid("spec.schedule", fault),
    ];
  });
}

const cron = (schedule: string) => new Cron(schedule, { paused: true, timezone: "UTC", mode: "5-part" });

function faultIn(schedule: string): string | undefined {
  try {
    cron(schedule);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What was written while no webhook was there is found here. */
function parse(schedule: string): Cron {
  try {
    return cron(schedule);
  } catch (error) {
    // Another try would not help: the user has to change it.
    throw terminal(error, "ScheduleInvalid");
  }
}

/** The last run that was due since, however many there were. */
function lastMissed(schedule: Cron, since: number, now: number): number | undefined {
  const [last] = schedule.previousRuns(1, new Date(now + 1_000));
  return last !== undefined && last.getTime() > since && last.getTime() <= now ? last.getTime() : undefined;
}

/** Runs before this are not missed. */
function startOf({ metadata, status }: CronJobObject): number {
  return Date.parse(status?.lastScheduleTime ?? metadata.creationTimestamp ?? "");
}

function dueAt({ metadata }: JobObject): number {
  return Date.parse(metadata.annotations?.[dueAnnotation] ?? metadata.creationTimestamp ?? "");
}

function resultOf({ status }: JobObject): "Complete" | "Failed" | undefined {
  const ended = status?.conditions?.find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
  return ended && (ended.type === "Complete" ? "Complete" : "Failed");
}

function jobFor(
  { metadata: { name }, spec: { jobTemplate } }: CronJobObject,
  due: number,
): Child<typeof Job> {
  const { metadata, spec } = jobTemplate;
  return child(Job, {
    metadata: {
      ...metadata,
      name: `${name}-${due / 60_000}`,
      annotations: { ...metadata?.annotations, [dueAnnotation]: timestamp(due) },
    },
    spec,
  });
}

/** Deletes the oldest Jobs that have ended, beyond those that are to be kept. */
async function forget(jobs: readonly JobObject[], { spec }: CronJobObject, context: Context): Promise<void> {
  const limits = { Complete: spec.successfulJobsHistoryLimit, Failed: spec.failedJobsHistoryLimit };
  for (const result of ["Complete", "Failed"] as const) {
    const ended = jobs.filter((job) => resultOf(job) === result);
    for (const job of ended.slice(0, Math.max(0, ended.length - limits[result])))
      await context.delete(Job, job, { propagationPolicy: "Background" });
  }
}
