import { type AnyKind, controllerOf, manager, timestamp } from "@windlass/runtime";
import { Job, type JobTemplateSpecInput } from "@windlass/runtime/kinds";
import { existing, Simulation, testReconcile } from "@windlass/testing";
import { describe, expect, test } from "vitest";
import { CronJob, cronJob, cronJobWebhooks } from "./cron-job.ts";

const jobTemplate: JobTemplateSpecInput = {
  metadata: { labels: { app: "backup" } },
  spec: {
    template: {
      spec: {
        restartPolicy: "Never",
        containers: [{ name: "dump", image: "dump:1", command: ["sleep", "90"] }],
      },
    },
  },
};
const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const created = { name: "backup", creationTimestamp: timestamp(at("09:59:30").getTime()) };
const everyMinute = { schedule: "* * * * *", jobTemplate };

type Result = "Complete" | "Failed" | undefined;

/** The Job of a run, and how it ended. */
const job = (time: string, result?: Result) =>
  existing(Job, {
    metadata: {
      name: `backup-${at(time).getTime() / 60_000}`,
      uid: time,
      annotations: { "example.com/due-at": timestamp(at(time).getTime()) },
    },
    ...(result && { status: { conditions: [{ type: result, status: "True" }] } }),
  });

async function look(
  spec: Partial<Parameters<typeof CronJob.make>[1]>,
  { now, jobs = [] }: { readonly now: string; readonly jobs?: readonly ReturnType<typeof job>[] },
) {
  const object = CronJob.make(created, { ...everyMinute, ...spec });
  const tried = await testReconcile(cronJob, object, { now: at(now), owned: jobs });
  return {
    started: tried.children.map(({ object }) => object.metadata.name.split("-").at(-1)),
    deleted: tried.writes
      .filter(({ verb }) => verb === "delete")
      .map(({ key }) => key.name.split("-").at(-1)),
    active: tried.status?.active?.length,
    last: tried.status?.lastScheduleTime,
    requeueAfter: tried.requeueAfter,
    events: tried.events.map(({ reason }) => reason),
  };
}
const minute = (time: string) => String(at(time).getTime() / 60_000);

describe("a run", () => {
  test("is awaited until it is due", async () => {
    const seen = await look({}, { now: "09:59:40" });
    expect(seen).toMatchObject({ started: [], requeueAfter: 20_000, active: 0 });
    expect(seen.last).toBeUndefined();
  });

  test("starts when it is due, and is not started twice", async () => {
    const first = await look({}, { now: "10:00:00" });
    expect(first).toMatchObject({ started: [minute("10:00:00")], active: 1, requeueAfter: 60_000 });
    expect(first.last).toBe("2026-01-01T10:00:00Z");
    const again = await look({}, { now: "10:00:01", jobs: [job("10:00:00")] });
    expect(again).toMatchObject({ started: [], active: 1, last: "2026-01-01T10:00:00Z" });
  });

  test("that was missed is started late, the last one alone", async () => {
    const { started } = await look({}, { now: "12:34:56", jobs: [job("10:00:00", "Complete")] });
    expect(started).toEqual([minute("12:34:00")]);
  });

  test("is skipped once its deadline has passed, and the event says so", async () => {
    const hourly = { schedule: "0 * * * *", startingDeadlineSeconds: 60 };
    expect(await look(hourly, { now: "10:00:59" })).toMatchObject({ started: [minute("10:00:00")] });
    const late = await look(hourly, { now: "10:01:01" });
    expect(late).toMatchObject({ started: [], events: ["MissedRun"], requeueAfter: 3_539_000 });
  });

  test("is not started while the CronJob is suspended", async () => {
    const seen = await look({ suspend: true }, { now: "10:00:00", jobs: [] });
    expect(seen).toMatchObject({ started: [], requeueAfter: undefined });
  });

  test("of an invalid schedule is not tried again", async () => {
    await expect(look({ schedule: "soon" }, { now: "10:00:00" })).rejects.toMatchObject({
      reason: "ScheduleInvalid",
    });
  });
});

describe("while the run before is under way", () => {
  const given = { now: "10:01:00", jobs: [job("10:00:00")] };

  test("Allow starts another", async () => {
    expect(await look({}, given)).toMatchObject({ started: [minute("10:01:00")], deleted: [], active: 2 });
  });

  test("Forbid waits for its end", async () => {
    expect(await look({ concurrencyPolicy: "Forbid" }, given)).toMatchObject({ started: [], active: 1 });
    const ended = { now: "10:01:30", jobs: [job("10:00:00", "Complete")] };
    const { started } = await look({ concurrencyPolicy: "Forbid" }, ended);
    expect(started).toEqual([minute("10:01:00")]);
  });

  test("Replace ends it", async () => {
    const seen = await look({ concurrencyPolicy: "Replace" }, given);
    expect(seen).toMatchObject({ started: [minute("10:01:00")], deleted: [minute("10:00:00")], active: 1 });
  });
});

test("of the Jobs that have ended the last are kept, those that failed apart", async () => {
  const results = ["Failed", "Complete", "Complete", "Failed", "Complete"] as const;
  const jobs = results.map((result, index) => job(`10:0${index}:00`, result));
  const { deleted } = await look(
    { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 },
    { now: "10:04:30", jobs },
  );
  expect(deleted).toEqual(["10:01:00", "10:02:00", "10:00:00", "10:03:00"].map(minute));
});

test("in a cluster Jobs run at their time, end, and go in the end", async () => {
  await using world = await Simulation.start({ seed: 1 });
  await world.install(CronJob);
  await world.run("cron-job", (options) => manager(options).add(cronJob));
  const key = { namespace: "default", name: "backup" };
  await world.client.create(CronJob, {
    metadata: key,
    spec: { ...everyMinute, successfulJobsHistoryLimit: 2 },
  });
  for (let passed = 0; passed < 8; passed++) await world.advance(60_000);
  const jobs = (await world.client.list(Job, { namespace: "default" })).items;
  const succeeded = jobs.filter(({ status }) => status?.succeeded === 1);
  expect(succeeded).toHaveLength(2);
  const { status, metadata } = await world.client.get(CronJob, key);
  const running = jobs.filter((one) => !succeeded.includes(one)).map(({ metadata }) => metadata.name);
  expect(status?.active?.toSorted()).toEqual(running.toSorted());
  for (const one of jobs) {
    expect(controllerOf(one)?.uid).toBe(metadata.uid);
    expect(one.metadata.labels).toMatchObject({ app: "backup" });
  }
});

test("its webhook refuses an invalid schedule, and a name that is too long", async () => {
  await using world = await Simulation.start({ seed: 1 });
  const server = cronJobWebhooks(world.webhooks("cron-job-operator"));
  await world.install(CronJob);
  await world.run("cron-job", (options) => manager(options).add(cronJob).add(server));
  const create = (name: string, schedule: string) =>
    world.client.create(CronJob, {
      metadata: { namespace: "default", name },
      spec: { ...everyMinute, schedule },
    });
  await expect(create("a", "61 * * * *")).rejects.toThrow(
    "spec.schedule: CronPattern: Invalid value for minute",
  );
  await expect(create("a".repeat(53), "* * * * *")).rejects.toThrow("metadata.name: must have at most 52");
  await create("a".repeat(52), "* * * * *");
});

test("a policy that there is not is refused when it is written", async () => {
  await using world = await Simulation.start({ seed: 1 });
  await world.install(CronJob);
  const wrong = {
    metadata: { namespace: "default", name: "a" },
    spec: { ...everyMinute, concurrencyPolicy: "Wait" },
  };
  await expect(world.client.create<AnyKind>(CronJob, wrong)).rejects.toThrow(
    'spec.concurrencyPolicy: Unsupported value: "Wait"',
  );
});
