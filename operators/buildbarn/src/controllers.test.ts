import type { AnyKind } from "@windlass/runtime";
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
  cluster.client.create<AnyKind>(kind, { metadata: { namespace, name }, spec });
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
  expect((await client.get(Service, { namespace, name: "frontend" })).spec?.type).toBe("LoadBalancer");
  expect((await client.get(Ingress, { namespace, name: "scheduler" })).spec?.rules?.[0]?.host).toBe(
    `bb-scheduler.${namespace}`,
  );
  const deployment = await client.get(Deployment, { namespace, name: "frontend" });
  expect(deployment.spec?.template.metadata?.annotations?.["buildbarn.io/shard-map"]).toBe("2");
  const configMaps = await client.list(ConfigMap, { namespace });
  // One of each component, or more: what comes later may be in the configuration of what came before.
  const configured = configMaps.items.flatMap(
    ({ metadata }) => /^(.*)-config-/.exec(metadata.name)?.[1] ?? [],
  );
  expect([...new Set(configured)].toSorted()).toEqual(["browser", "frontend", "scheduler", "storage"]);
  expect((await client.list(Pod, { namespace })).items).toHaveLength(2 + 1 + 3 + 3);
});
