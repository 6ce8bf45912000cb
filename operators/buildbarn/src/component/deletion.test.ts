import { setTimeout as turn } from "node:timers/promises";
import type { NamespacedKind } from "@windlass/runtime";
import { Deployment, Pod, StatefulSet } from "@windlass/runtime/kinds";
import { waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
  configHashAnnotation,
} from "../index.ts";

let world: EmbeddedTestEnvironment;
vi.setConfig({ testTimeout: 120_000 });
/** How long a worker's pod takes to end its action. */
const actionMs = 6_000;

beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
  world.cluster.controlPlane?.node.on("*-linux-*", { kind: "run", linger: `${actionMs}ms` });
}, 60_000);
afterAll(() => world.close());

let set = "";
let count = 0;
beforeEach(() => {
  count += 1;
  set = `set${count}`;
});

const wait = { timeout: 60_000 };
const name = (component: string) => `${set}-${component}`;
const member = () => ({ cluster: set });
/** The workloads that workers need while they end what they run. */
const needed = [
  [StatefulSet, "storage"],
  [Deployment, "scheduler"],
  [Deployment, "frontend"],
] as const;

async function components(): Promise<void> {
  await world.create(BuildbarnStorage, name("storage"), { ...member(), replicas: 1 });
  await world.create(BuildbarnScheduler, name("scheduler"), member());
  await world.create(BuildbarnFrontend, name("frontend"), { ...member(), replicas: 1 });
  await world.create(BuildbarnWorker, name("linux"), { ...member(), replicas: 2 });
  await world.ready(BuildbarnWorker, name("linux"));
  for (const [kind, component] of needed)
    await world.seen(kind as typeof Deployment, name(component), ({ status }) => status?.readyReplicas === 1);
}

/** The pods of a component that nothing has terminated. */
async function serving(component: string): Promise<number> {
  const { items } = await world.client.list(Pod, {
    namespace: world.namespace,
    labelSelector: `component=${name(component)}`,
  });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
}

/** Looks at all that workers need until their last pod is gone. */
async function neededUntilWorkersEnd(): Promise<void> {
  const isThere = async () => {
    const { items } = await world.client.list(Pod, {
      namespace: world.namespace,
      labelSelector: `component=${name("linux")}`,
    });
    return items.length > 0;
  };
  let looks = 0;
  while (await isThere()) {
    const found = await Promise.all(needed.map(([, component]) => serving(component)));
    // They may go in the moment in which the last worker does.
    if (await isThere()) expect(found, `look ${looks}`).toEqual([1, 1, 1]);
    looks += 1;
    // The operator and the control plane share this process.
    await turn(20);
  }
  expect(looks).toBeGreaterThan(5);
}

/** Stands for the configuration of the scheduler. */
const schedulerTemplate = async () =>
  (await world.get(Deployment, name("scheduler"))).spec?.template.metadata?.annotations?.[
    configHashAnnotation
  ];
const remove = (kind: NamespacedKind, component: string) =>
  world.client.delete(kind, world.key(name(component)));
const gone = (kind: NamespacedKind, component: string) =>
  waitForDeletion(world.client, kind, world.key(name(component)), wait);

test("components that are deleted at once outlive the workers of their set", async () => {
  await components();
  // As kubectl does with a file that has them in this order.
  await remove(BuildbarnStorage, "storage");
  await remove(BuildbarnScheduler, "scheduler");
  await remove(BuildbarnFrontend, "frontend");
  await remove(BuildbarnWorker, "linux");
  await neededUntilWorkersEnd();
  await Promise.all([
    gone(BuildbarnStorage, "storage"),
    gone(BuildbarnScheduler, "scheduler"),
    gone(BuildbarnFrontend, "frontend"),
  ]);
});

test("a set that is deleted lets its workers end their actions first, and restarts no scheduler", async () => {
  await world.create(BuildbarnCluster, set, {
    storage: { replicas: 1, minReadySeconds: 0 },
    scheduler: { minReadySeconds: 0 },
    frontend: { replicas: 1, minReadySeconds: 0 },
    workers: [{ name: "linux", replicas: 2, minReadySeconds: 0 }],
  });
  await world.ready(BuildbarnCluster, set);
  await world.client.delete(BuildbarnCluster, world.key(set));
  await world.seen(BuildbarnCluster, set, ({ status }) =>
    status?.conditions?.some(({ type, reason }) => type === "Progressing" && reason === "Deleting"),
  );
  await neededUntilWorkersEnd();
  await waitForDeletion(world.client, BuildbarnCluster, world.key(set), wait);
  await gone(BuildbarnStorage, "storage");
});

test("workers that are deleted keep their queue, and their scheduler, until they have ended", async () => {
  await components();
  const before = await schedulerTemplate();
  await remove(BuildbarnWorker, "linux");
  await neededUntilWorkersEnd();
  await gone(BuildbarnWorker, "linux");
  await expect.poll(schedulerTemplate, wait).not.toBe(before);
});

test("a scheduler that is deleted alone goes, and its workers stay", async () => {
  await components();
  await remove(BuildbarnScheduler, "scheduler");
  await gone(BuildbarnScheduler, "scheduler");
  expect(await serving("linux")).toBe(2);
});

test("a scheduler that waits for workers names them", async () => {
  await components();
  await remove(BuildbarnWorker, "linux");
  await remove(BuildbarnScheduler, "scheduler");
  const scheduler = await world.condition(BuildbarnScheduler, name("scheduler"), "Ready", "False");
  expect(scheduler.status?.conditions?.find(({ type }) => type === "Ready")?.message).toBe(
    `workers of the set end their actions first: ${name("linux")}`,
  );
  await gone(BuildbarnScheduler, "scheduler");
});
