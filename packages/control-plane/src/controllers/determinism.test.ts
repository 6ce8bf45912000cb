import { expect, test } from "vitest";
import { type JsonObject, textOf } from "../json.ts";
import { names, podTemplate, startCluster, workload } from "./cluster.fixture.ts";

async function run(): Promise<string[]> {
  await using cluster = await startCluster({ nodes: [{ name: "a" }, { name: "b" }] });
  const trace: string[] = [];
  cluster.plane.store.subscribeAll(({ type, bucket, key, entry }) => {
    trace.push(`${type} ${bucket} ${key} ${entry.revision} ${textOf(entry.object.metadata.uid)}`);
  });
  cluster.plane.node.on("flaky-*", { kind: "fail", times: 2 });
  const template = podTemplate({}, { spec: { restartPolicy: "Never" } });
  await cluster.create(
    workload("Deployment", "web", { replicas: 3 }),
    workload("Deployment", "flaky", { replicas: 2 }),
    workload("StatefulSet", "db", { replicas: 2, serviceName: "db" }),
    workload("DaemonSet", "agent"),
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "tick" },
      spec: { schedule: "* * * * *", jobTemplate: { spec: { completions: 1, template } } },
    },
  );
  await cluster.pass(180_000);
  await cluster.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).replicas = 1;
  });
  await cluster.delete("deployments.apps", "flaky");
  return trace;
}

test("the same steps give the same trace: names, uids, versions and order", async () => {
  const first = await run();
  expect(first.length).toBeGreaterThan(200);
  expect(await run()).toEqual(first);
});

test("only what is chosen runs", async () => {
  await using none = await startCluster({ controllers: "none" });
  await none.create(workload("Deployment", "web", { replicas: 1 }));
  expect(none.list("replicasets.apps")).toEqual([]);
  await using some = await startCluster({ controllers: ["deployment-controller"] });
  await some.create(workload("Deployment", "web", { replicas: 1 }));
  expect([some.list("replicasets.apps").length, some.list("pods").length]).toEqual([1, 0]);
  await using most = await startCluster({ controllers: { except: ["garbage-collector-controller"] } });
  await most.create(workload("Deployment", "web", { replicas: 1 }));
  await most.delete("deployments.apps", "web");
  expect(most.list("replicasets.apps")).toHaveLength(1);
  // @ts-expect-error There is no such controller.
  await expect(startCluster({ controllers: ["no-such"] })).rejects.toThrow(
    'there is no controller "no-such"',
  );
});

test("a settled cluster writes nothing, however much time passes", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    workload("Deployment", "web", { replicas: 2 }),
    workload("StatefulSet", "db", { replicas: 1, serviceName: "db" }),
  );
  // Events are forgotten after an hour; after that nothing is left to happen.
  await cluster.pass(2 * 3_600_000);
  const { revision } = cluster.plane.store;
  await cluster.pass(24 * 3_600_000);
  expect(cluster.plane.store.revision).toBe(revision);
  expect(cluster.clock.pending).toBe(0);
});

test("work grows with the number of workloads, not with its square", async () => {
  const writes = async (count: number) => {
    await using cluster = await startCluster();
    const before = cluster.plane.store.revision;
    await cluster.create(
      ...Array.from({ length: count }, (_, index) => workload("Deployment", `web-${index}`, { replicas: 1 })),
    );
    expect(names(cluster.list("pods"))).toHaveLength(count);
    return cluster.plane.store.revision - before;
  };
  const [few, many] = [await writes(10), await writes(100)];
  expect(many).toBeLessThanOrEqual(few * 11);
});
