import { expect, test } from "vitest";
import { podTemplate, startCluster, type TestCluster } from "../../controllers/cluster.fixture.ts";
import type { JsonObject } from "../../json.ts";
import { valueAt } from "../../json-fields.ts";
import type { StoredObject } from "../../storage/store.ts";

const indexKey = "batch.kubernetes.io/job-completion-index";
const failures = "batch.kubernetes.io/job-index-failure-count";
const ignored = "batch.kubernetes.io/job-index-ignored-failure-count";

/** An Indexed job whose pods do what the test says, and nothing else: there is no node. */
async function indexedJob(spec: JsonObject): Promise<TestCluster> {
  const cluster = await startCluster({ nodes: "none" });
  await cluster.create({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "job" },
    spec: {
      completionMode: "Indexed",
      ...spec,
      template: podTemplate({}, { spec: { restartPolicy: "Never" } }),
    },
  });
  return cluster;
}

const status = (cluster: TestCluster) => cluster.get("jobs.batch", "job")?.status as JsonObject;
const conditions = (cluster: TestCluster) =>
  ((status(cluster).conditions ?? []) as JsonObject[]).map(
    ({ type, reason }) => `${type as string}: ${reason as string}`,
  );
const annotation = (pod: StoredObject | undefined, key: string) =>
  valueAt(pod, "metadata", "annotations", key);
const podOf = (cluster: TestCluster, index: number) =>
  cluster
    .list("pods")
    .find(
      (pod) => annotation(pod, indexKey) === String(index) && valueAt(pod, "status", "phase") === "Pending",
    );

async function end(cluster: TestCluster, index: number, exitCode: number, conditions: JsonObject[] = []) {
  const now = `${new Date(cluster.clock.now()).toISOString().slice(0, 19)}Z`;
  const terminated = { exitCode, finishedAt: now, startedAt: now, reason: "Ended", containerID: "a://b" };
  const running = podOf(cluster, index);
  if (!running) throw new Error(`index ${index} has no pod`);
  await cluster.changeStatus("pods", running.metadata.name, (pod) => {
    pod.status = {
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      conditions,
      containerStatuses: [
        { name: "main", image: "app", imageID: "", ready: false, restartCount: 0, state: { terminated } },
      ],
    };
  });
}

test("an index that may fail once is tried again after a wait, and given up the second time", async () => {
  await using cluster = await indexedJob({ completions: 3, parallelism: 3, backoffLimitPerIndex: 1 });
  expect(annotation(podOf(cluster, 1), failures)).toBe("0");
  await end(cluster, 1, 1);
  expect(status(cluster)).toMatchObject({ failedIndexes: "" });
  expect(status(cluster)).not.toHaveProperty("failed");
  await cluster.pass(9_000);
  expect(podOf(cluster, 1)).toBeUndefined();
  await cluster.pass(1_000);
  expect(annotation(podOf(cluster, 1), failures)).toBe("1");
  expect(status(cluster)).toMatchObject({ failed: 1, active: 3 });
  await end(cluster, 1, 1);
  expect(status(cluster)).toMatchObject({ failed: 2, failedIndexes: "1", active: 2 });
  await end(cluster, 0, 0);
  await end(cluster, 2, 0);
  expect(status(cluster)).toMatchObject({ completedIndexes: "0,2", failedIndexes: "1", succeeded: 2 });
  expect(conditions(cluster)).toEqual(["FailureTarget: FailedIndexes", "Failed: FailedIndexes"]);
});

test("while a failed pod's successor waits, nothing is said to be active", async () => {
  await using cluster = await indexedJob({ completions: 2, parallelism: 2, backoffLimit: 3 });
  await end(cluster, 0, 1);
  expect(status(cluster)).toMatchObject({ failed: 1 });
  expect(status(cluster)).not.toHaveProperty("active");
  await cluster.pass(10_000);
  expect(status(cluster)).toMatchObject({ active: 2 });
});

test("more failed indexes than allowed end the job, and what ran counts as failed with it", async () => {
  await using cluster = await indexedJob({
    completions: 4,
    parallelism: 4,
    backoffLimitPerIndex: 0,
    maxFailedIndexes: 1,
  });
  await end(cluster, 1, 1);
  expect(conditions(cluster)).toEqual([]);
  await end(cluster, 3, 1);
  expect(status(cluster)).toMatchObject({ failed: 4, failedIndexes: "1,3" });
  expect(conditions(cluster)).toEqual([
    "FailureTarget: MaxFailedIndexesExceeded",
    "Failed: MaxFailedIndexesExceeded",
  ]);
});

test("a policy can give up an index at once, and leave a failure out of the count", async () => {
  await using cluster = await indexedJob({
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 3,
    podFailurePolicy: {
      rules: [
        { action: "FailIndex", onExitCodes: { operator: "In", values: [42] } },
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
      ],
    },
  });
  await end(cluster, 0, 1, [{ type: "DisruptionTarget", status: "True" }]);
  await cluster.pass(10_000);
  expect(annotation(podOf(cluster, 0), failures)).toBe("0");
  expect(annotation(podOf(cluster, 0), ignored)).toBe("1");
  expect(status(cluster)).not.toHaveProperty("failed");
  await end(cluster, 0, 42);
  expect(status(cluster)).toMatchObject({ failed: 1, failedIndexes: "0" });
});

test("a success policy ends the job before all indexes have succeeded, and nothing counts as failed", async () => {
  await using cluster = await indexedJob({
    completions: 4,
    parallelism: 4,
    successPolicy: { rules: [{ succeededIndexes: "0,2-3", succeededCount: 2 }] },
  });
  await end(cluster, 1, 0);
  await end(cluster, 2, 0);
  expect(conditions(cluster)).toEqual([]);
  await end(cluster, 0, 0);
  expect(status(cluster)).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  expect(status(cluster)).not.toHaveProperty("failed");
  expect(conditions(cluster)).toEqual(["SuccessCriteriaMet: SuccessPolicy", "Complete: SuccessPolicy"]);
});

test("an Indexed job can be made smaller and larger: indexes beyond its end are forgotten", async () => {
  await using cluster = await indexedJob({ completions: 3, parallelism: 3 });
  await end(cluster, 2, 0);
  const resize = (size: number) => (job: JsonObject) => {
    Object.assign(job.spec as JsonObject, { completions: size, parallelism: size });
  };
  await cluster.change("jobs.batch", "job", resize(1));
  expect(status(cluster)).toMatchObject({ active: 1 });
  expect(status(cluster)).not.toHaveProperty("completedIndexes");
  await cluster.change("jobs.batch", "job", resize(2));
  await end(cluster, 0, 0);
  await end(cluster, 1, 0);
  expect(status(cluster)).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
});

test("a pod that a client deletes counts as failed, and its successor waits", async () => {
  await using cluster = await indexedJob({ completions: 1, parallelism: 1, completionMode: "NonIndexed" });
  const [pod] = cluster.list("pods");
  await cluster.delete("pods", pod?.metadata.name as string);
  expect(status(cluster)).toMatchObject({ failed: 1 });
  expect(cluster.list("pods")).toEqual([]);
  await cluster.pass(10_000);
  expect(cluster.list("pods")).toHaveLength(1);
});
