import { ManualClock, seededRandom } from "@windlass/clock";
import { expect, test } from "vitest";
import { z } from "zod";
import { condition, controller, defineResource, manager, noTracing, silentLogger } from "../index.ts";
import { Deployment, type DeploymentInput, Service, type ServiceInput } from "../kinds/index.ts";
import { ModelCluster } from "../reconcile/model-cluster.ts";

const WebApp = defineResource({
  group: "example.com",
  version: "v1",
  kind: "WebApp",
  spec: z.object({ image: z.string(), replicas: z.int().default(1), expose: z.boolean().default(true) }),
  status: z.object({ availableReplicas: z.int().optional() }),
});
type App = ReturnType<typeof WebApp.make>;

function deploymentFor(app: App): DeploymentInput {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: app.metadata.name },
    spec: {
      replicas: app.spec.replicas,
      selector: { matchLabels: { app: app.metadata.name } },
      template: {
        metadata: { labels: { app: app.metadata.name } },
        spec: { containers: [{ name: "app", image: app.spec.image }] },
      },
    },
  };
}

function serviceFor(app: App): ServiceInput {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: app.metadata.name },
    spec: { selector: { app: app.metadata.name }, ports: [{ name: "http", port: 80 }] },
  };
}

const webapp = controller(WebApp, {
  owns: [Deployment, Service],
  reconcile: (app, { owned }) => {
    const running = owned(Deployment, app.metadata.name)?.status?.availableReplicas ?? 0;
    return {
      children: [deploymentFor(app), ...(app.spec.expose ? [serviceFor(app)] : [])],
      status: {
        availableReplicas: running,
        conditions: [condition("Ready", running === app.spec.replicas, "ReplicasAvailable")],
      },
    };
  },
});

const key = { namespace: "default", name: "web" };

function start(cluster: ModelCluster, clock: ManualClock) {
  return manager({
    client: cluster.client,
    cache: cluster.cache,
    clock,
    random: seededRandom(7),
    log: silentLogger,
    tracing: noTracing,
    health: false,
    metrics: false,
  });
}

async function world() {
  const clock = new ManualClock();
  const cluster = new ModelCluster(clock);
  const run = start(cluster, clock).add(webapp);
  await run.start();
  cluster.put(WebApp, WebApp.make(key, { image: "nginx:1" }) as never);
  await clock.advance(1_000);
  return { clock, cluster, run };
}

test("children and status follow the object", async () => {
  const { cluster, run } = await world();
  expect(cluster.get(Deployment, key)?.spec.template.spec?.containers[0]?.image).toBe("nginx:1");
  expect(cluster.get(Deployment, key)?.metadata.ownerReferences).toEqual([
    expect.objectContaining({ kind: "WebApp", name: "web", controller: true, blockOwnerDeletion: true }),
  ]);
  expect(cluster.get(Service, key)?.spec?.ports?.[0]?.port).toBe(80);
  expect(cluster.get(WebApp, key)?.status).toEqual({
    availableReplicas: 0,
    observedGeneration: 1,
    conditions: [
      expect.objectContaining({
        type: "Ready",
        status: "False",
        reason: "ReplicasAvailable",
        observedGeneration: 1,
      }),
    ],
  });
  await run.stop();
});

test("a settled object causes no writes, and none after a restart", async () => {
  const { clock, cluster, run } = await world();
  cluster.takeWrites();
  await clock.advance(11 * 3_600_000);
  expect(cluster.takeWrites()).toEqual([]);
  await run.stop();
  const again = start(cluster, clock).add(webapp);
  await again.start();
  await clock.advance(60_000);
  expect(cluster.takeWrites()).toEqual([]);
  await again.stop();
});
