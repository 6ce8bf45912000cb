import fc from "fast-check";
import { expect, test } from "vitest";
import { names, podTemplate, startCluster, type TestCluster } from "../../controllers/cluster.fixture.ts";
import { type JsonObject, textOf } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import { parseSchedule } from "../cron-job/schedule.ts";
import { indexList, parseIndexes } from "./indexes.ts";

function job(name: string, spec: JsonObject, more: Parameters<typeof podTemplate>[1] = {}): JsonObject {
  const template = podTemplate({}, { ...more, spec: { restartPolicy: "Never", ...more.spec } });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: { completions: 1, ...spec, template },
  };
}

const status = (cluster: TestCluster, name: string) => cluster.get("jobs.batch", name)?.status as JsonObject;
const conditions = (cluster: TestCluster, name: string) =>
  ((status(cluster, name)?.conditions ?? []) as JsonObject[]).map(
    ({ type, status: met, reason }) => `${type as string}=${met as string}: ${reason as string}`,
  );

test("a Job is complete once enough pods have succeeded, and its pods are free to go", async () => {
  await using cluster = await startCluster();
  await cluster.create(job("good", { completions: 3, parallelism: 2 }));
  expect(status(cluster, "good")).toMatchObject({
    succeeded: 3,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
  expect(conditions(cluster, "good")).toEqual([
    "SuccessCriteriaMet=True: CompletionsReached",
    "Complete=True: CompletionsReached",
  ]);
  expect(cluster.list("pods")).toHaveLength(3);
  expect(cluster.list("pods").flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  expect(cluster.events("Job").at(-1)).toBe("Completed: Job completed");
});

test("a pod that ended without saying when still has its back-off", async () => {
  await using cluster = await startCluster();
  await cluster.create(job("mute", { backoffLimit: 6 }, { spec: { nodeSelector: { none: "such" } } }));
  const fail = (name: string) =>
    cluster.changeStatus("pods", name, (pod) => {
      const ended = { name: "main", image: "i", imageID: "", ready: false, restartCount: 0 };
      const state = { terminated: { exitCode: 1 } };
      pod.status = { phase: "Failed", containerStatuses: [{ ...ended, state }] };
    });
  const [first = ""] = names(cluster.list("pods"));
  await fail(first);
  const [read] = valueAt(cluster.get("pods", first), "status", "containerStatuses") as JsonObject[];
  expect(read?.state).toMatchObject({ terminated: { startedAt: null, finishedAt: null } });
  await cluster.pass(9_000);
  expect(cluster.list("pods")).toHaveLength(1);
  await cluster.pass(2_000);
  expect(cluster.list("pods")).toHaveLength(2);
});

test("pods that still ran go with a Job that is deleted in the background", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("busy-*", "run");
  await cluster.create(job("busy", { completions: 2, parallelism: 2 }));
  expect(cluster.list("pods")).toHaveLength(2);
  await cluster.delete("jobs.batch", "busy", { propagationPolicy: "Background" });
  expect(cluster.list("pods")).toEqual([]);
});

test("a Job takes back a pod that was taken from it, and releases one that it no longer selects", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("busy-*", "run");
  await cluster.create(job("busy", { completions: 2, parallelism: 2 }));
  const [taken = "", strayed = ""] = names(cluster.list("pods"));
  await cluster.change("pods", taken, (pod) => {
    delete (pod.metadata as JsonObject).ownerReferences;
  });
  expect(cluster.get("pods", taken)?.metadata.ownerReferences).toMatchObject([{ name: "busy" }]);
  await cluster.change("pods", strayed, (pod) => {
    (pod.metadata as JsonObject).labels = {};
  });
  const metadata = cluster.get("pods", strayed)?.metadata;
  expect([metadata?.ownerReferences ?? [], metadata?.finalizers ?? []]).toEqual([[], []]);
  expect(cluster.list("pods")).toHaveLength(3);
});

test("the pods of an Indexed Job know their index, and the status lists the finished ones", async () => {
  await using cluster = await startCluster();
  await cluster.create(job("indexed", { completions: 4, parallelism: 4, completionMode: "Indexed" }));
  expect(status(cluster, "indexed")).toMatchObject({ succeeded: 4, completedIndexes: "0-3" });
  const hosts = cluster.list("pods").map((pod) => textOf(valueAt(pod, "spec", "hostname")));
  expect(hosts.toSorted()).toEqual(["indexed-0", "indexed-1", "indexed-2", "indexed-3"]);
});

test("failed pods are replaced after growing waits, until the limit is reached", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("bad-*", { kind: "fail", exitCode: 3 });
  await cluster.create(job("bad", { backoffLimit: 2 }));
  expect(status(cluster, "bad")).toMatchObject({ failed: 1 });
  await cluster.pass(9_000);
  expect(cluster.list("pods")).toHaveLength(1);
  await cluster.pass(1_000);
  expect(cluster.list("pods")).toHaveLength(2);
  await cluster.pass(19_000);
  expect(cluster.list("pods")).toHaveLength(2);
  await cluster.pass(1_000);
  expect(status(cluster, "bad")).toMatchObject({ failed: 3 });
  expect(conditions(cluster, "bad")).toEqual([
    "FailureTarget=True: BackoffLimitExceeded",
    "Failed=True: BackoffLimitExceeded",
  ]);
});

test("a Job that takes too long is ended, its pods with it", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("late-*", "run");
  await cluster.create(job("late", { activeDeadlineSeconds: 60 }));
  expect(status(cluster, "late")).toMatchObject({ active: 1, ready: 1 });
  await cluster.pass(60_000);
  expect(conditions(cluster, "late")).toEqual([
    "FailureTarget=True: DeadlineExceeded",
    "Failed=True: DeadlineExceeded",
  ]);
  expect(cluster.list("pods")).toEqual([]);
});

test("a suspended Job has no pods, and restarts when it is resumed", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("nap-*", "run");
  await cluster.create(job("nap", {}));
  const suspend = (value: boolean) => (object: JsonObject) => {
    (object.spec as JsonObject).suspend = value;
  };
  await cluster.change("jobs.batch", "nap", suspend(true));
  expect(cluster.list("pods")).toEqual([]);
  expect(conditions(cluster, "nap")).toEqual(["Suspended=True: JobSuspended"]);
  expect(status(cluster, "nap")).not.toHaveProperty("failed");
  await cluster.change("jobs.batch", "nap", suspend(false));
  expect(cluster.list("pods")).toHaveLength(1);
  expect(conditions(cluster, "nap")).toEqual(["Suspended=False: JobResumed"]);
});

test("a pod failure policy can end a Job at once, or not count a failure", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("fatal-*", { kind: "fail", exitCode: 42 });
  const onExitCodes = { operator: "In", values: [42] };
  await cluster.create(job("fatal", { podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes }] } }));
  expect(conditions(cluster, "fatal")).toEqual([
    "FailureTarget=True: PodFailurePolicy",
    "Failed=True: PodFailurePolicy",
  ]);
});

test("a finished Job goes when its time has come", async () => {
  await using cluster = await startCluster();
  await cluster.create(job("brief", { ttlSecondsAfterFinished: 30 }));
  await cluster.pass(29_000);
  expect(cluster.get("jobs.batch", "brief")).toBeDefined();
  await cluster.pass(1_000);
  expect(cluster.get("jobs.batch", "brief")).toBeUndefined();
  expect(cluster.list("pods")).toEqual([]);
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
  await using cluster = await startCluster();
  await cluster.create(cronJob({ schedule: "0 * * * *" }));
  expect(cluster.list("jobs.batch")).toEqual([]);
  const first = (cluster.clock.now() + hour) / 60_000;
  await cluster.pass(5 * hour);
  expect(names(cluster.list("jobs.batch"))).toEqual([2, 3, 4].map((later) => `tick-${first + later * 60}`));
  expect(cluster.get("cronjobs.batch", "tick")?.status).toMatchObject({
    lastScheduleTime: "2026-01-01T05:00:00Z",
    lastSuccessfulTime: "2026-01-01T05:00:00Z",
  });
  expect(cluster.events("CronJob").slice(-3)).toEqual([
    `SuccessfulCreate: Created job tick-${first + 240}`,
    `SawCompletedJob: Saw completed job: tick-${first + 240}, condition: Complete`,
    `SuccessfulDelete: Deleted job tick-${first + 60}`,
  ]);
});

test("what runs still keeps the next from starting, is replaced by it, or runs beside it", async () => {
  for (const [policy, jobs] of [
    ["Forbid", 1],
    ["Replace", 1],
    ["Allow", 3],
  ] as const) {
    await using cluster = await startCluster();
    cluster.plane.node.on("tick-*", "run");
    await cluster.create(cronJob({ schedule: "@hourly", concurrencyPolicy: policy }));
    await cluster.pass(3 * hour);
    expect(cluster.list("jobs.batch")).toHaveLength(jobs);
    const [only] = cluster.list("jobs.batch");
    const age = cluster.clock.now() - Date.parse(only?.metadata.creationTimestamp as string);
    expect(age).toBe(policy === "Replace" ? 0 : 2 * hour);
  }
});

test("a suspended CronJob starts nothing, and of what it missed only the last, if that is not too long ago", async () => {
  await using cluster = await startCluster();
  await cluster.create(cronJob({ schedule: "0 * * * *", suspend: true, startingDeadlineSeconds: 600 }));
  await cluster.pass(3 * hour + 5 * 60_000);
  expect(cluster.list("jobs.batch")).toEqual([]);
  await cluster.change("cronjobs.batch", "tick", (object) => {
    (object.spec as JsonObject).suspend = false;
  });
  expect(names(cluster.list("jobs.batch"))).toEqual([`tick-${(Date.UTC(2026, 0, 1) + 3 * hour) / 60_000}`]);
});

test("of many missed times the last one counts, and a warning says that they were many", async () => {
  await using cluster = await startCluster();
  await cluster.create(cronJob({ schedule: "*/5 * * * *", suspend: true }));
  await cluster.pass(9 * hour + 60_000);
  await cluster.change("cronjobs.batch", "tick", (object) => {
    (object.spec as JsonObject).suspend = false;
  });
  expect(names(cluster.list("jobs.batch"))).toEqual([`tick-${(Date.UTC(2026, 0, 1) + 9 * hour) / 60_000}`]);
  expect(cluster.events("CronJob")[0]).toBe(
    "TooManyMissedTimes: too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
  );
});

test("a Job that a user creates from a CronJob is reported in an event, and left alone", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("by-hand-*", "run");
  await cluster.create(cronJob({ schedule: "0 * * * *" }));
  const owner = cluster.get("cronjobs.batch", "tick");
  const byHand = job("by-hand", {});
  const { uid = "" } = owner?.metadata ?? {};
  byHand.metadata = {
    name: "by-hand",
    ownerReferences: [{ apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid, controller: true }],
  };
  await cluster.create(byHand);
  expect(cluster.events("CronJob")).toEqual([
    "UnexpectedJob: Saw a job that the controller did not create or forgot: by-hand",
  ]);
  expect(status(cluster, "by-hand")).toMatchObject({ active: 1 });
});

test("a period runs from when it last came round, whatever happens in between", async () => {
  await using cluster = await startCluster();
  await cluster.create(cronJob({ schedule: "@every 1h" }));
  await cluster.pass(hour / 2);
  await cluster.change("cronjobs.batch", "tick", (object) => {
    (object.metadata as JsonObject).labels = { touched: "yes" };
  });
  await cluster.pass(hour / 2);
  expect(cluster.list("jobs.batch")).toHaveLength(1);
});

test("a Job says when it was due by the clock of its zone", async () => {
  await using cluster = await startCluster();
  await cluster.create(cronJob({ schedule: "0 12 * * *", timeZone: "America/New_York" }));
  await cluster.pass(24 * hour);
  const key = "batch.kubernetes.io/cronjob-scheduled-timestamp";
  const due = cluster.list("jobs.batch").map((one) => valueAt(one, "metadata", "annotations", key));
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
