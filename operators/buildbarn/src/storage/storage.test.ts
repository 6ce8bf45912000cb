import type { AnyKind, ObjectOf } from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  StorageClass,
} from "@windlass/runtime/kinds";
import { waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EmbeddedWorld } from "../../testing/embedded-world.ts";
import { BuildbarnFrontend, BuildbarnScheduler, BuildbarnStorage, BuildbarnWorker } from "../index.ts";

let world: EmbeddedWorld;
let set: string;
let next = 0;

beforeAll(async () => {
  world = await EmbeddedWorld.start();
  // Pods wait some seconds before they stop, which takes time and shows nothing here.
  world.cluster.controlPlane?.node.on("set-*", { kind: "run", linger: "1ms" });
  // The control plane makes a default class only if it finds no class at all.
  await waitFor(world.client, StorageClass, { name: "standard" }, () => true);
  for (const [name, allowVolumeExpansion] of [
    ["grows", true],
    ["fixed", false],
  ] as const)
    await world.client.create(StorageClass, {
      metadata: { name },
      provisioner: "kubernetes.io/host-path",
      allowVolumeExpansion,
    });
}, 60_000);
afterAll(() => world.close());
beforeEach(() => {
  next += 1;
  set = `set-${next}`;
});

const storageName = () => `${set}-storage`;
const create = (kind: AnyKind, part: string, spec: object = {}) =>
  world.create(kind, `${set}-${part}`, { cluster: set, ...spec });
const shardMap = ({ spec }: ObjectOf<typeof Deployment>) =>
  spec?.template.metadata?.annotations?.["buildbarn.io/shard-map"];
const podUids = async (labelSelector: string) =>
  (await world.client.list(Pod, { namespace: world.namespace, labelSelector })).items
    .map(({ metadata }) => metadata.uid ?? "")
    .toSorted();
const claims = async () =>
  (
    await world.client.list(PersistentVolumeClaim, {
      namespace: world.namespace,
      labelSelector: `component=${storageName()}`,
    })
  ).items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

async function createSet(storage: object = {}): Promise<void> {
  await create(BuildbarnStorage, "storage", { resharding: { hold: "100ms" }, ...storage });
  await create(BuildbarnScheduler, "scheduler");
  await create(BuildbarnFrontend, "frontend", { replicas: 1 });
  await create(BuildbarnWorker, "worker", { replicas: 1 });
  await world.ready(BuildbarnStorage, storageName());
  await world.ready(BuildbarnFrontend, `${set}-frontend`);
  await world.ready(BuildbarnWorker, `${set}-worker`);
  // The workers' queue reaches it after they do.
  await world.ready(BuildbarnScheduler, `${set}-scheduler`);
}

const phases = ["Starting", "Bridging", "Redirecting", "Copying", "Switching", "Retiring", "Stable"];

test("shards start before clients know of them, and stop after all clients have forgotten them, whenever the operator dies", async () => {
  await createSet();
  const scheduler = await world.get(Deployment, `${set}-scheduler`);
  for (const shards of [3, 2]) {
    await world.patch(BuildbarnStorage, storageName(), { replicas: shards });
    for (const phase of phases) {
      await world.seen(
        BuildbarnStorage,
        storageName(),
        ({ status }) =>
          status?.resharding?.to === shards &&
          phases.indexOf(status.resharding.phase) >= phases.indexOf(phase),
      );
      world.replica.kill();
      // Nobody is told of a shard that does not run.
      const { spec } = await world.get(StatefulSet, storageName());
      for (const part of ["frontend", "worker"]) {
        const map = shardMap(await world.get(Deployment, `${set}-${part}`));
        for (const number of map?.split(/[-+]/) ?? [])
          expect(Number(number)).toBeLessThanOrEqual(spec?.replicas ?? 0);
      }
      await world.replica.start();
    }
    await world.ready(BuildbarnStorage, storageName());
    await world.seen(Deployment, `${set}-worker`, (deployment) => shardMap(deployment) === String(shards));
    expect((await world.get(StatefulSet, storageName())).spec?.replicas).toBe(shards);
  }
  // The scheduler reads through the frontend: a change of shards is not its business.
  expect((await world.get(Deployment, `${set}-scheduler`)).spec).toEqual(scheduler.spec);
}, 60_000);

test("a client with a configuration of its own holds up a change of shards until it says that it has the map", async () => {
  await createSet();
  await world.client.create(ConfigMap, {
    metadata: world.key(`${set}-own`),
    data: {
      "frontend.jsonnet":
        "{ grpcServers: [{ listenAddresses: [':8980'], authenticationPolicy: { allow: {} } }], global: { diagnosticsHttpServer: { httpServers: [{ listenAddresses: [':9980'] }] } } }",
    },
  });
  await create(BuildbarnFrontend, "own", { replicas: 1, configMapName: `${set}-own` });
  await world.ready(BuildbarnFrontend, `${set}-own`);
  await world.patch(BuildbarnStorage, storageName(), { replicas: 3 });
  const waiting = await world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) =>
      status?.resharding?.phase === "Bridging" &&
      /^2 of \d+ clients/.test(status.resharding.waitingFor ?? "") &&
      status.resharding.waitingFor,
  );
  expect(waiting).toContain(`Deployment ${set}-own`);
  const annotate = (map: string) =>
    world.client.patch(ConfigMap, world.key(`${set}-own`), {
      type: "merge",
      patch: { metadata: { annotations: { "buildbarn.io/shard-map": map } } },
    });
  await annotate("2+3");
  await world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) =>
      status?.resharding?.phase === "Redirecting" &&
      status.resharding.waitingFor?.endsWith(`Deployment ${set}-own is to have 2-3`),
  );
  await annotate("2-3");
  await world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) => status?.resharding?.phase === "Switching",
  );
  await annotate("3");
  await world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) => status?.resharding?.phase === "Stable" && status.resharding.to === 3,
  );
}, 60_000);

test("volumes grow in place: the pods run on", async () => {
  await create(BuildbarnStorage, "storage", { ac: { volume: { size: "1Gi", storageClassName: "grows" } } });
  await world.ready(BuildbarnStorage, storageName());
  const before = await podUids(`component=${storageName()}`);
  const { metadata } = await world.get(StatefulSet, storageName());
  await world.patch(BuildbarnStorage, storageName(), { ac: { volume: { size: "2Gi" } } });
  await world.seen(StatefulSet, storageName(), (found) => found.metadata.uid !== metadata.uid);
  await world.ready(BuildbarnStorage, storageName());
  const sizes = (await claims()).map(
    ({ metadata: { name }, spec }) => `${name} ${String(spec?.resources?.requests?.storage)}`,
  );
  expect(sizes).toEqual([
    `ac-${storageName()}-0 2Gi`,
    `ac-${storageName()}-1 2Gi`,
    `cas-${storageName()}-0 33Gi`,
    `cas-${storageName()}-1 33Gi`,
  ]);
  expect(await podUids(`component=${storageName()}`)).toEqual(before);
});

test("volumes that grow and a configuration that does not start: the configuration stays out", async () => {
  await create(BuildbarnStorage, "storage", { ac: { volume: { size: "1Gi", storageClassName: "grows" } } });
  await world.ready(BuildbarnStorage, storageName());
  const before = await world.get(StatefulSet, storageName());
  const stop = world.cluster.controlPlane?.node.on(`${storageName()}-try-*`, {
    kind: "fail",
    exitCode: 1,
    readyAfter: "1h",
  });
  await world.patch(BuildbarnStorage, storageName(), {
    ac: { volume: { size: "2Gi" } },
    configOverrides: "{ maximumMessageSizeBytes: 1024 * 1024 }",
  });
  await world.condition(BuildbarnStorage, storageName(), "Degraded");
  expect((await world.get(StatefulSet, storageName())).spec).toEqual(before.spec);
  stop?.();
  // Another configuration is another trial.
  await world.patch(BuildbarnStorage, storageName(), { configOverrides: "{ maximumMessageSizeBytes: 1e6 }" });
  await world.seen(StatefulSet, storageName(), ({ metadata }) => metadata.uid !== before.metadata.uid);
  await world.ready(BuildbarnStorage, storageName());
  expect((await claims()).map(({ spec }) => String(spec?.resources?.requests?.storage))).toEqual([
    "2Gi",
    "2Gi",
    "33Gi",
    "33Gi",
  ]);
}, 60_000);

test("a volume that cannot grow is said so, and nothing is tried for ever", async () => {
  await create(BuildbarnStorage, "storage", { ac: { volume: { size: "1Gi", storageClassName: "fixed" } } });
  await world.ready(BuildbarnStorage, storageName());
  const { metadata } = await world.get(StatefulSet, storageName());
  await world.patch(BuildbarnStorage, storageName(), { ac: { volume: { size: "2Gi" } } });
  const { status } = await world.condition(BuildbarnStorage, storageName(), "Degraded");
  expect(status?.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
    reason: "VolumesCannotGrow",
    message: expect.stringContaining(`ac-${storageName()}-0 cannot grow to 2Gi: its StorageClass "fixed"`),
  });
  expect((await world.get(StatefulSet, storageName())).metadata.resourceVersion).toBe(
    metadata.resourceVersion,
  );
});

test("a configuration that would empty the cache waits for an explicit word", async () => {
  await create(BuildbarnStorage, "storage");
  await world.ready(BuildbarnStorage, storageName());
  const before = await world.get(StatefulSet, storageName());
  const configOverrides = "{ contentAddressableStorage+: { backend+: { 'local'+: { oldBlocks: 9 } } } }";
  await world.patch(BuildbarnStorage, storageName(), { configOverrides });
  const { status } = await world.condition(BuildbarnStorage, storageName(), "Degraded");
  expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
    reason: "CacheFlushRequired",
    message: expect.stringContaining("would empty contentAddressableStorage: set spec.allowCacheFlush"),
  });
  expect((await world.get(StatefulSet, storageName())).spec?.template).toEqual(before.spec?.template);
  await world.patch(BuildbarnStorage, storageName(), { allowCacheFlush: true });
  await world.seen(
    StatefulSet,
    storageName(),
    ({ metadata }) => metadata.generation !== before.metadata.generation,
  );
  await world.ready(BuildbarnStorage, storageName());
});

test.for(["Retain", "Delete"] as const)(
  "volumes go the way of the deletion policy: %s",
  { timeout: 60_000 },
  async (deletionPolicy) => {
    await createSet({ deletionPolicy });
    await world.patch(BuildbarnStorage, storageName(), { replicas: 1 });
    await world.seen(
      BuildbarnStorage,
      storageName(),
      ({ status }) => status?.resharding?.phase === "Stable" && status.resharding.to === 1,
    );
    if (deletionPolicy === "Delete")
      await waitForDeletion(world.client, PersistentVolumeClaim, world.key(`cas-${storageName()}-1`));
    expect(await claims()).toHaveLength(deletionPolicy === "Delete" ? 2 : 4);
    await world.client.delete(BuildbarnStorage, world.key(storageName()));
    await waitForDeletion(world.client, BuildbarnStorage, world.key(storageName()), { timeout: 20_000 });
    if (deletionPolicy === "Delete")
      await waitForDeletion(world.client, PersistentVolumeClaim, world.key(`cas-${storageName()}-0`));
    expect(await podUids(`component=${storageName()}`)).toEqual([]);
    expect(await claims()).toHaveLength(deletionPolicy === "Delete" ? 0 : 4);
  },
);
