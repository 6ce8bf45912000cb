import { expect, test } from "vitest";
import { type JsonObject, textOf } from "../json.ts";
import { names, podTemplate, stage, workload } from "./stage.ts";

async function run(): Promise<string[]> {
  await using world = await stage({ nodes: [{ name: "a" }, { name: "b" }] });
  const trace: string[] = [];
  world.plane.store.subscribeAll(({ type, bucket, key, entry }) => {
    trace.push(`${type} ${bucket} ${key} ${entry.revision} ${textOf(entry.object.metadata.uid)}`);
  });
  world.plane.node.on("flaky-*", { kind: "fail", times: 2 });
  const template = podTemplate({}, { spec: { restartPolicy: "Never" } });
  await world.create(
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
  await world.pass(180_000);
  await world.change("deployments.apps", "web", (object) => {
    (object.spec as JsonObject).replicas = 1;
  });
  await world.delete("deployments.apps", "flaky");
  return trace;
}

test("the same steps give the same trace: names, uids, versions and order", async () => {
  const first = await run();
  expect(first.length).toBeGreaterThan(200);
  expect(await run()).toEqual(first);
});

test("only what is chosen runs", async () => {
  await using none = await stage({ controllers: "none" });
  await none.create(workload("Deployment", "web", { replicas: 1 }));
  expect(none.list("replicasets.apps")).toEqual([]);
  await using some = await stage({ controllers: ["deployment-controller"] });
  await some.create(workload("Deployment", "web", { replicas: 1 }));
  expect([some.list("replicasets.apps").length, some.list("pods").length]).toEqual([1, 0]);
  await using most = await stage({ controllers: { except: ["garbage-collector-controller"] } });
  await most.create(workload("Deployment", "web", { replicas: 1 }));
  await most.delete("deployments.apps", "web");
  expect(most.list("replicasets.apps")).toHaveLength(1);
  await expect(stage({ controllers: ["no-such"] as never })).rejects.toThrow(
    'there is no controller "no-such"',
  );
});

test("a settled cluster writes nothing, however much time passes", async () => {
  await using world = await stage();
  await world.create(
    workload("Deployment", "web", { replicas: 2 }),
    workload("StatefulSet", "db", { replicas: 1, serviceName: "db" }),
  );
  // Events are forgotten after an hour; after that nothing is left to happen.
  await world.pass(2 * 3_600_000);
  const { revision } = world.plane.store;
  await world.pass(24 * 3_600_000);
  expect(world.plane.store.revision).toBe(revision);
  expect(world.clock.pending).toBe(0);
});

test("work grows with the number of workloads, not with its square", async () => {
  const writes = async (count: number) => {
    await using world = await stage();
    const before = world.plane.store.revision;
    await world.create(
      ...Array.from({ length: count }, (_, index) => workload("Deployment", `web-${index}`, { replicas: 1 })),
    );
    expect(names(world.list("pods"))).toHaveLength(count);
    return world.plane.store.revision - before;
  };
  const [few, many] = [await writes(10), await writes(100)];
  expect(many).toBeLessThanOrEqual(few * 11);
});
