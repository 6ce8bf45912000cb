import { setImmediate as turn } from "node:timers/promises";
import { applyManifest } from "@windlass/client";
import { rbacFor } from "@windlass/runtime";
import { ClusterRole, ClusterRoleBinding, Deployment, Pod, Service } from "@windlass/runtime/kinds";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EmbeddedTestEnvironment } from "../testing/embedded-test-environment.ts";
import {
  BuildbarnBrowser,
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  controllers,
} from "./index.ts";
import { ServiceMonitor } from "./service-monitors.ts";

let world: EmbeddedTestEnvironment;

beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
}, 60_000);
afterAll(() => world.close());

/** As much of the Prometheus operator's definition as a test needs. */
const serviceMonitorDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "servicemonitors.monitoring.coreos.com" },
  spec: {
    group: "monitoring.coreos.com",
    scope: "Namespaced",
    names: { kind: "ServiceMonitor", plural: "servicemonitors" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as const;

const components = [
  [BuildbarnStorage, "builds-storage"],
  [BuildbarnScheduler, "builds-scheduler"],
  [BuildbarnFrontend, "builds-frontend"],
  [BuildbarnBrowser, "builds-browser"],
  [BuildbarnWorker, "builds-linux"],
] as const;

test("one resource makes a whole set", async () => {
  await world.create(BuildbarnCluster, "builds", {
    storage: { replicas: 2, minReadySeconds: 0 },
    frontend: { replicas: 1, serviceType: "ClusterIP", minReadySeconds: 0 },
    browser: { replicas: 1, minReadySeconds: 0 },
    workers: [{ name: "linux", replicas: 1, minReadySeconds: 0 }],
  });
  const { status } = await world.ready(BuildbarnCluster, "builds");
  expect(status).toMatchObject({
    endpoint: `grpc://builds-frontend.${world.namespace}.svc:8980`,
    components: components.map(([kind, name]) => ({ kind: kind.kind, name, ready: true })),
    observedGeneration: 1,
  });
});

test("everything that a pod may do is what the restricted Pod Security Standard allows", async () => {
  const { items } = await world.client.list(Pod, { namespace: world.namespace });
  const own = items.filter(({ metadata }) => metadata.labels?.app !== "worker");
  expect(own.length).toBeGreaterThan(4);
  for (const { spec } of own) {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    for (const container of [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])])
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
  }
});

test("what others change is put right, and what they add stays", async () => {
  await world.client.patch(Service, world.key("builds-storage"), {
    type: "merge",
    patch: {
      metadata: { annotations: { "example.com/note": "mine" } },
      spec: { publishNotReadyAddresses: false },
    },
  });
  const service = await world.seen(
    Service,
    "builds-storage",
    (found) => found.spec?.publishNotReadyAddresses && found,
  );
  expect(service.metadata.annotations?.["example.com/note"]).toBe("mine");
});

test("metrics are scraped as soon as the cluster knows ServiceMonitors", async () => {
  await world.cluster.install(serviceMonitorDefinition);
  for (const [, name] of components)
    await world.seen(ServiceMonitor, `${name}-metrics`, (found) => found.spec);
  const monitor = await world.get(ServiceMonitor, "builds-storage-metrics");
  expect(monitor.spec).toMatchObject({
    selector: { matchLabels: { component: "builds-storage" } },
    endpoints: [{ port: "metrics", path: "/metrics" }],
  });
});

test("a thousand reconciles of a set that is as it should be write nothing", async () => {
  await world.ready(BuildbarnCluster, "builds");
  const { client, replica } = world;
  const before = replica.reconciles;
  const written = replica.writes.length;
  for (let round = 0; replica.reconciles - before < 1_000; round++) {
    expect(round).toBeLessThan(2_000);
    // A foreign annotation has the component reconciled, and all that depend on it.
    for (const [kind, name] of components)
      await client.patch(kind, world.key(name), {
        type: "merge",
        patch: { metadata: { annotations: { "example.com/round": String(round) } } },
      });
    // The operator's turn: it shares this process.
    await turn();
  }
  expect(replica.writes.slice(written)).toEqual([]);
}, 60_000);

test("another release reaches the shards first, and then one kind of client after the other", async () => {
  const { replica } = world;
  const written = replica.writes.length;
  await world.patch(BuildbarnCluster, "builds", {
    version: "2025-02",
    storage: { allowCacheFlush: true },
    browser: { image: "example.com/bb-browser:2025" },
  });
  await world.ready(BuildbarnCluster, "builds");
  const writes = replica.writes.slice(written).map((write) => write.split("?")[0]);
  const base = `/namespaces/${world.namespace}`;
  // Each gets its release only when the pods of the one before have it.
  const order = components.flatMap(([kind, name]) => [
    `/apis/buildbarn.io/v1alpha1${base}/${kind.plural}/${name}`,
    `/apis/apps/v1${base}/${kind === BuildbarnStorage ? "statefulsets" : "deployments"}/${name}`,
  ]);
  const steps = order.map((path) => writes.indexOf(`PATCH ${path}`));
  expect(steps).not.toContain(-1);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  for (const [kind, name] of components) expect((await world.get(kind, name)).spec.version).toBe("2025-02");
}, 60_000);

test("the operator needs no rights beyond its own role", async () => {
  const { cluster, namespace, replica } = world;
  await replica.stop();
  const serviceAccount = { namespace, name: "buildbarn-operator" };
  for (const object of rbacFor(controllers, { name: "buildbarn-operator", serviceAccount }))
    await applyManifest(cluster.client, object);
  await replica.start(await cluster.clientFor(namespace, "buildbarn-operator"));
  const { metadata: before } = await world.get(Deployment, "builds-frontend");
  await world.patch(BuildbarnCluster, "builds", {
    frontend: { configOverrides: "{ maximumMessageSizeBytes: 1e6 }" },
  });
  await world.seen(
    Deployment,
    "builds-frontend",
    ({ metadata }) => (metadata.generation ?? 0) > (before.generation ?? 0),
  );
  await world.patch(BuildbarnCluster, "builds", { storage: { replicas: 3, resharding: { hold: "10ms" } } });
  await world.seen(
    BuildbarnStorage,
    "builds-storage",
    ({ status }) => status?.resharding?.to === 3 && status.resharding.phase === "Stable",
  );
  await world.ready(BuildbarnCluster, "builds");
}, 60_000);

test("an operator that looks after a namespace needs no rights in others", async () => {
  const { cluster, client, namespace, replica } = world;
  await replica.stop();
  const named = { name: "buildbarn-operator" };
  // Those of the whole cluster.
  await client.delete(ClusterRoleBinding, named);
  await client.delete(ClusterRole, named);
  const account = { namespace, name: "narrow-operator" };
  const objects = rbacFor(controllers, {
    name: "narrow-operator",
    namespaces: [namespace],
    serviceAccount: account,
  });
  const inCluster = objects.flatMap((one) => (one.kind === "ClusterRole" ? one.rules : []));
  expect(inCluster.flatMap(({ resources, verbs }) => resources.map((one) => [one, ...verbs]))).toEqual([
    ["customresourcedefinitions", "get", "list", "watch"],
    ["storageclasses", "get", "list", "watch"],
  ]);
  for (const object of objects) await applyManifest(cluster.client, object);
  await replica.start(await cluster.clientFor(namespace, account.name));
  await world.patch(BuildbarnCluster, "builds", { storage: { replicas: 2 } });
  await world.seen(
    BuildbarnStorage,
    "builds-storage",
    ({ status }) => status?.resharding?.to === 2 && status.resharding.phase === "Stable",
  );
  await world.ready(BuildbarnCluster, "builds");
}, 60_000);
