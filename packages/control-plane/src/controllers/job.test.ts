import fc from "fast-check";
import { expect, test } from "vitest";
import { type JsonObject, textOf } from "../json.ts";
import { field } from "../storage/store.ts";
import { parseSchedule } from "./cron-schedule.ts";
import { indexList, parseIndexes } from "./job-indexes.ts";
import { names, podTemplate, type Stage, stage } from "./stage.ts";

function job(name: string, spec: JsonObject, more: Parameters<typeof podTemplate>[1] = {}): JsonObject {
  const template = podTemplate({}, { ...more, spec: { restartPolicy: "Never", ...more.spec } });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: { completions: 1, ...spec, template },
  };
}

const status = (world: Stage, name: string) => world.get("jobs.batch", name)?.status as JsonObject;
const conditions = (world: Stage, name: string) =>
  ((status(world, name)?.conditions ?? []) as JsonObject[]).map(
    ({ type, status: met, reason }) => `${type as string}=${met as string}: ${reason as string}`,
  );

test("a Job is complete once enough pods have succeeded, and its pods are free to go", async () => {
  await using world = await stage();
  await world.create(job("good", { completions: 3, parallelism: 2 }));
  expect(status(world, "good")).toMatchObject({
    succeeded: 3,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  expect(conditions(world, "good")).toEqual([
    "SuccessCriteriaMet=True: CompletionsReached",
    "Complete=True: CompletionsReached",
  ]);
  expect(world.list("pods")).toHaveLength(3);
  expect(world.list("pods").flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  expect(world.events("Job").at(-1)).toBe("Completed: Job completed");
});

test("pods that still ran go with a Job that is deleted in the background", async () => {
  await using world = await stage();
  world.plane.node.on("busy-*", "run");
  await world.create(job("busy", { completions: 2, parallelism: 2 }));
  expect(world.list("pods")).toHaveLength(2);
  await world.delete("jobs.batch", "busy", { propagationPolicy: "Background" });
  expect(world.list("pods")).toEqual([]);
});

test("a Job takes back a pod that was taken from it, and lets go of one that it no longer selects", async () => {
  await using world = await stage();
  world.plane.node.on("busy-*", "run");
  await world.create(job("busy", { completions: 2, parallelism: 2 }));
  const [taken = "", strayed = ""] = names(world.list("pods"));
  await world.change("pods", taken, (pod) => {
    delete (pod.metadata as JsonObject).ownerReferences;
  });
  expect(world.get("pods", taken)?.metadata.ownerReferences).toMatchObject([{ name: "busy" }]);
  await world.change("pods", strayed, (pod) => {
    (pod.metadata as JsonObject).labels = {};
  });
  const metadata = world.get("pods", strayed)?.metadata;
  expect([metadata?.ownerReferences ?? [], metadata?.finalizers ?? []]).toEqual([[], []]);
  expect(world.list("pods")).toHaveLength(3);
});

test("the pods of an Indexed Job know their index, and the status lists the finished ones", async () => {
  await using world = await stage();
  await world.create(job("indexed", { completions: 4, parallelism: 4, completionMode: "Indexed" }));
  expect(status(world, "indexed")).toMatchObject({ succeeded: 4, completedIndexes: "0-3" });
  const hosts = world.list("pods").map((pod) => textOf(field(pod, "spec", "hostname")));
  expect(hosts.toSorted()).toEqual(["indexed-0", "indexed-1", "indexed-2", "indexed-3"]);
});

test("failed pods are replaced after growing waits, until the limit is reached", async () => {
  await using world = await stage();
  world.plane.node.on("bad-*", { kind: "fail", exitCode: 3 });
  await world.create(job("bad", { backoffLimit: 2 }));
  expect(status(world, "bad")).toMatchObject({ failed: 1 });
  await world.pass(9_000);
  expect(world.list("pods")).toHaveLength(1);
  await world.pass(1_000);
  expect(world.list("pods")).toHaveLength(2);
  await world.pass(19_000);
  expect(world.list("pods")).toHaveLength(2);
  await world.pass(1_000);
  expect(status(world, "bad")).toMatchObject({ failed: 3 });
  expect(conditions(world, "bad")).toEqual([
    "FailureTarget=True: BackoffLimitExceeded",
    "Failed=True: BackoffLimitExceeded",
  ]);
});

test("a Job that takes too long is ended, its pods with it", async () => {
  await using world = await stage();
  world.plane.node.on("late-*", "run");
  await world.create(job("late", { activeDeadlineSeconds: 60 }));
  expect(status(world, "late")).toMatchObject({ active: 1, ready: 1 });
  await world.pass(60_000);
  expect(conditions(world, "late")).toEqual([
    "FailureTarget=True: DeadlineExceeded",
    "Failed=True: DeadlineExceeded",
  ]);
  expect(world.list("pods")).toEqual([]);
});

test("a suspended Job has no pods, and starts anew when it is resumed", async () => {
  await using world = await stage();
  world.plane.node.on("nap-*", "run");
  await world.create(job("nap", {}));
  const suspend = (value: boolean) => (object: JsonObject) => {
    (object.spec as JsonObject).suspend = value;
  };
  await world.change("jobs.batch", "nap", suspend(true));
  expect(world.list("pods")).toEqual([]);
  expect(conditions(world, "nap")).toEqual(["Suspended=True: JobSuspended"]);
  expect(status(world, "nap")).not.toHaveProperty("failed");
  await world.change("jobs.batch", "nap", suspend(false));
  expect(world.list("pods")).toHaveLength(1);
  expect(conditions(world, "nap")).toEqual(["Suspended=False: JobResumed"]);
});

test("a pod failure policy can end a Job at once, or not count a failure", async () => {
  await using world = await stage();
  world.plane.node.on("fatal-*", { kind: "fail", exitCode: 42 });
  const onExitCodes = { operator: "In", values: [42] };
  await world.create(job("fatal", { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes }] } }));
  expect(conditions(world, "fatal")).toEqual([
    "FailureTarget=True: PodFailurePolicy",
    "Failed=True: PodFailurePolicy",
  ]);
});

test("a finished Job goes when its time has come", async () => {
  await using world = await stage();
  await world.create(job("brief", { ttlSecondsAfterFinished: 30 }));
  await world.pass(29_000);
  expect(world.get("jobs.batch", "brief")).toBeDefined();
  await world.pass(1_000);
  expect(world.get("jobs.batch", "brief")).toBeUndefined();
  expect(world.list("pods")).toEqual([]);
});

function cronJob(spec: JsonObject): JsonObject {
  const { metadata: _metadata, apiVersion: _version, kind: _kind, ...jobTemplate } = job("unused", {});
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick" },
    spec: { jobTemplate, ...spec },
  };
}
const hour = 3_600_000;

test("a CronJob starts a Job when it is time, named by the minute, and keeps a short history", async () => {
  await using world = await stage();
  await world.create(cronJob({ schedule: "0 * * * *" }));
  expect(world.list("jobs.batch")).toEqual([]);
  const first = (world.clock.now() + hour) / 60_000;
  await world.pass(5 * hour);
  expect(names(world.list("jobs.batch"))).toEqual([2, 3, 4].map((later) => `tick-${first + later * 60}`));
  expect(world.get("cronjobs.batch", "tick")?.status).toMatchObject({
    lastScheduleTime: "2026-01-01T05:00:00Z",
    lastSuccessfulTime: "2026-01-01T05:00:00Z",
  });
  expect(world.events("CronJob").slice(-3)).toEqual([
    `SuccessfulCreate: Created job tick-${first + 240}`,
    `SawCompletedJob: Saw completed job: tick-${first + 240}, condition: Complete`,
    `SuccessfulDelete: Deleted job tick-${first + 60}`,
  ]);
});

test("what runs still keeps the next from starting, gives way to it, or runs beside it", async () => {
  for (const [policy, jobs] of [
    ["Forbid", 1],
    ["Replace", 1],
    ["Allow", 3],
  ] as const) {
    await using world = await stage();
    world.plane.node.on("tick-*", "run");
    await world.create(cronJob({ schedule: "@hourly", concurrencyPolicy: policy }));
    await world.pass(3 * hour);
    expect(world.list("jobs.batch")).toHaveLength(jobs);
    const [only] = world.list("jobs.batch");
    const age = world.clock.now() - Date.parse(only?.metadata.creationTimestamp as string);
    expect(age).toBe(policy === "Replace" ? 0 : 2 * hour);
  }
});

test("a suspended CronJob starts nothing, and of what it missed only the last, if that is not too long ago", async () => {
  await using world = await stage();
  await world.create(cronJob({ schedule: "0 * * * *", suspend: true, startingDeadlineSeconds: 600 }));
  await world.pass(3 * hour + 5 * 60_000);
  expect(world.list("jobs.batch")).toEqual([]);
  await world.change("cronjobs.batch", "tick", (object) => {
    (object.spec as JsonObject).suspend = false;
  });
  expect(names(world.list("jobs.batch"))).toEqual([`tick-${(Date.UTC(2026, 0, 1) + 3 * hour) / 60_000}`]);
});

test("of many missed times the last one counts, and a warning says that they were many", async () => {
  await using world = await stage();
  await world.create(cronJob({ schedule: "*/5 * * * *", suspend: true }));
  await world.pass(9 * hour + 60_000);
  await world.change("cronjobs.batch", "tick", (object) => {
    (object.spec as JsonObject).suspend = false;
  });
  expect(names(world.list("jobs.batch"))).toEqual([`tick-${(Date.UTC(2026, 0, 1) + 9 * hour) / 60_000}`]);
  expect(world.events("CronJob")[0]).toBe(
    "TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
  );
});

test("what somebody starts from a CronJob by hand is told, and left alone", async () => {
  await using world = await stage();
  world.plane.node.on("by-hand-*", "run");
  await world.create(cronJob({ schedule: "0 * * * *" }));
  const owner = world.get("cronjobs.batch", "tick");
  const byHand = job("by-hand", {});
  const { uid = "" } = owner?.metadata ?? {};
  byHand.metadata = {
    name: "by-hand",
    ownerReferences: [{ apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid, controller: true }],
  };
  await world.create(byHand);
  expect(world.events("CronJob")).toEqual([
    "UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand",
  ]);
  expect(status(world, "by-hand")).toMatchObject({ active: 1 });
});

test("a period runs from when it last came round, whatever happens in between", async () => {
  await using world = await stage();
  await world.create(cronJob({ schedule: "@every 1h" }));
  await world.pass(hour / 2);
  await world.change("cronjobs.batch", "tick", (object) => {
    (object.metadata as JsonObject).labels = { touched: "yes" };
  });
  await world.pass(hour / 2);
  expect(world.list("jobs.batch")).toHaveLength(1);
});

test("a Job says when it was due by the clock of its zone", async () => {
  await using world = await stage();
  await world.create(cronJob({ schedule: "0 12 * * *", timeZone: "America/New_York" }));
  await world.pass(24 * hour);
  const key = "batch.kubernetes.io/cronjob-scheduled-timestamp";
  const due = world.list("jobs.batch").map((one) => field(one, "metadata", "annotations", key));
  expect(due).toEqual(["2026-01-01T12:00:00-05:00"]);
});

test("schedules are reckoned in their time zone", () => {
  const schedule = parseSchedule("30 9 * * *", "America/New_York");
  expect(schedule.next(Date.UTC(2026, 0, 1))).toBe(Date.UTC(2026, 0, 1, 14, 30));
  expect(schedule.last(Date.UTC(2026, 6, 1), Date.UTC(2026, 6, 2))).toBe(Date.UTC(2026, 6, 1, 13, 30));
  expect(parseSchedule("@every 1h30m", undefined).next(0)).toBe(5_400_000);
});

test("a list of indexes survives being written and read", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(50)), (indexes) => {
      expect(parseIndexes(indexList(indexes))).toEqual(indexes.toSorted((a, b) => a - b));
    }),
  );
});
