import {
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Namespace,
  PodDisruptionBudget,
  ResourceQuota,
  Service,
  StatefulSet,
} from "@windlass/runtime/kinds";
import { expect, test } from "vitest";
import { Simulation } from "./simulate.ts";
import { firstDifference, type Trace } from "./trace.ts";

const namespace = "play";

function podsOf(app: string) {
  return {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [{ name: "c", image: "nginx:1.25" }] } },
  };
}

function jobSpec(more: object = {}) {
  const containers = [{ name: "c", image: "busybox:1.36" }];
  return { ...more, template: { spec: { restartPolicy: "Never" as const, containers } } };
}

/**
 * Gives every controller something to do, all at once, for ten minutes; then the namespace goes
 * with all in it.
 */
async function play(seed: number): Promise<Trace> {
  await using world = await Simulation.start({
    seed,
    controlPlane: { nodes: [{ name: "one" }, { name: "two" }] },
  });
  const { client, plane } = world;
  plane.node.on("flaky-*", "crash-loop");
  await client.create(Namespace, { metadata: { name: namespace } });
  const named = (name: string) => ({ namespace, name });
  const claim = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
  await Promise.all([
    client.create(StatefulSet, {
      metadata: named("db"),
      spec: {
        ...podsOf("db"),
        serviceName: "db",
        replicas: 3,
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claim }],
      },
    }),
    client.create(DaemonSet, { metadata: named("agent"), spec: podsOf("agent") }),
    client.create(Deployment, { metadata: named("flaky"), spec: { ...podsOf("flaky"), replicas: 2 } }),
    client.create(Job, {
      metadata: named("once"),
      spec: jobSpec({ completions: 5, parallelism: 2, ttlSecondsAfterFinished: 30 }),
    }),
    client.create(CronJob, {
      metadata: named("tick"),
      spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec() } },
    }),
    client.create(Service, {
      metadata: named("db"),
      spec: { selector: { app: "db" }, ports: [{ port: 5432 }] },
    }),
    client.create(PodDisruptionBudget, {
      metadata: named("db"),
      spec: { minAvailable: 2, selector: { matchLabels: { app: "db" } } },
    }),
    client.create(ResourceQuota, { metadata: named("quota"), spec: { hard: { pods: "100" } } }),
    client.create(HorizontalPodAutoscaler, {
      metadata: named("flaky"),
      spec: {
        minReplicas: 3,
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "flaky" },
      },
    }),
  ]);
  await world.advance(330_000);
  const rollout = { spec: { template: { metadata: { annotations: { restarted: "yes" } } } } };
  await client.patch(StatefulSet, named("db"), { type: "merge", patch: rollout });
  await client.patch(Deployment, named("flaky"), { type: "merge", patch: rollout });
  await world.advance(200_000);
  await client.delete(Namespace, { name: namespace });
  await world.advance(120_000);
  return world.trace;
}

test("every controller at once does the same again, byte for byte, and cleans up behind itself", async () => {
  const [one, other] = [await play(1), await play(1)];
  expect(firstDifference(one, other)).toBeUndefined();
  const has = (text: string) => one.lines.some((line) => line.includes(text));
  for (const name of ["db-2", "once-", "tick-"])
    expect(has(`server ADDED pods play/${name}`), name).toBe(true);
  expect(has("server DELETED namespaces play ")).toBe(true);
});
