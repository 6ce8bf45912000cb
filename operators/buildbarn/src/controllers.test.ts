import type { AnyKind, ObjectOf } from "@windlass/runtime";
import { ConfigMap, Deployment, Ingress, Pod, Service, StatefulSet } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Replica } from "../testing/replica.ts";
import { BuildbarnBrowser, BuildbarnFrontend, BuildbarnScheduler, BuildbarnStorage, kinds } from "./index.ts";

let cluster: TestCluster;
let replica: Replica;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(...kinds);
  namespace = await cluster.createNamespace();
  replica = new Replica(cluster, [namespace]);
  await replica.start();
}, 60_000);
afterAll(async () => {
  await replica.stop();
  await cluster.close();
});

const make = (kind: AnyKind, name: string, spec: object = {}) =>
  cluster.client.create<AnyKind>(kind, {
    metadata: { namespace, name },
    spec: { minReadySeconds: 0, ...spec },
  });
/** The original's: Services with their types and ports, and the file that each program is given. */
const services = {
  storage: ["ClusterIP", [["grpc", 8981]]],
  scheduler: [
    "ClusterIP",
    [
      ["client-grpc", 8982],
      ["worker-grpc", 8983],
      // Ours: the queue, for scaling.
      ["state-grpc", 8984],
      ["http", 7982],
    ],
  ],
  frontend: ["LoadBalancer", [["grpc", 8980]]],
  browser: ["ClusterIP", [["http", 7984]]],
} as const;

const ready = (kind: AnyKind, name: string) =>
  waitForCondition(cluster.client, kind, { namespace, name }, "Ready", "True", { timeout: 20_000 });

test("a set comes up from four short resources", async () => {
  await make(BuildbarnStorage, "storage");
  await make(BuildbarnScheduler, "scheduler");
  await make(BuildbarnFrontend, "frontend");
  await make(BuildbarnBrowser, "browser", { ingressHost: "bb-browser.example.com" });
  await ready(BuildbarnStorage, "storage");
  await ready(BuildbarnScheduler, "scheduler");
  await ready(BuildbarnFrontend, "frontend");
  await ready(BuildbarnBrowser, "browser");
  const { client } = cluster;
  expect((await client.get(StatefulSet, { namespace, name: "storage" })).spec?.replicas).toBe(2);
  expect((await client.get(Service, { namespace, name: "storage" })).spec?.clusterIP).toBe("None");
  for (const [name, [type, ports]] of Object.entries(services)) {
    const { spec } = await client.get(Service, { namespace, name });
    expect([name, spec?.type, spec?.ports?.map((one) => [one.name, one.port])]).toEqual([name, type, ports]);
    const workload = await client.get<AnyKind>(name === "storage" ? StatefulSet : Deployment, {
      namespace,
      name,
    });
    const [container] = (workload as ObjectOf<typeof Deployment>).spec?.template.spec?.containers ?? [];
    expect(container?.args).toEqual([`/config/${name}.jsonnet`]);
    const opened = container?.ports?.map(({ containerPort }) => containerPort) ?? [];
    expect(opened).toEqual(expect.arrayContaining([...ports.map(([, port]) => port), 9980]));
    expect(workload.metadata.ownerReferences).toMatchObject([{ controller: true, name }]);
  }
  expect((await client.get(Ingress, { namespace, name: "scheduler" })).spec?.rules?.[0]?.host).toBe(
    `bb-scheduler.${namespace}`,
  );
  const deployment = await client.get(Deployment, { namespace, name: "frontend" });
  expect(deployment.spec?.template.metadata?.annotations?.["buildbarn.io/shard-map"]).toBe("2");
  const configMaps = await client.list(ConfigMap, { namespace });
  // One of each component, or more: what comes later may be in the configuration of what came
  // before.
  const configured = configMaps.items.flatMap(
    ({ metadata }) => /^(.*)-config-/.exec(metadata.name)?.[1] ?? [],
  );
  expect([...new Set(configured)].toSorted()).toEqual(["browser", "frontend", "scheduler", "storage"]);
  expect((await client.list(Pod, { namespace })).items).toHaveLength(2 + 1 + 3 + 3);
});
