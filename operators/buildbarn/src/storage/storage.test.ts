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
import { EmbeddedTestEnvironment } from "../../testing/embedded-test-environment.ts";
import { BuildbarnFrontend, BuildbarnScheduler, BuildbarnStorage, BuildbarnWorker } from "../index.ts";
import { parseLayout, type Ring, rings, shardsOf } from "../resharding/index.ts";

let world: EmbeddedTestEnvironment;
let set: string;
let next = 0;

beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
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
}, 120_000);
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

/** The state of a change, once it is on its way to a layout, or there. */
const layoutIs = (text: string) =>
  world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) =>
      status?.resharding?.phase === "Stable" &&
      text === (status.resharding.layout?.to ?? String(status.resharding.to)),
  );

/** How many pods each StatefulSet of the shards is to have. */
async function shardCounts(): Promise<Readonly<Record<Ring, number>>> {
  const { items } = await world.client.list(StatefulSet, { namespace: world.namespace });
  const count = (name: string) => items.find(({ metadata }) => metadata.name === name)?.spec?.replicas ?? 0;
  return { a: count(storageName()), b: count(`${storageName()}-b`) };
}

test.for([
  ["another number of shards, and back", [{ replicas: 3 }, { replicas: 2 }], ["3", "2"]],
  [
    "weights, a drained shard and mirrors at once, and back",
    [
      { replicas: 3, weights: [1, 3], drained: [2], mirrored: true },
      { replicas: 2, weights: null, drained: null, mirrored: false },
    ],
    ["3w1.3d2m", "2"],
  ],
] as const)(
  "%s: shards start before clients know of them, and stop after all clients have forgotten them, whenever the operator dies",
  { timeout: 120_000 },
  async ([, changes, layouts]) => {
    await createSet();
    const scheduler = await world.get(Deployment, `${set}-scheduler`);
    for (const [index, change] of changes.entries()) {
      const text = layouts[index] ?? "";
      await world.patch(BuildbarnStorage, storageName(), change);
      for (const phase of phases) {
        await world.seen(
          BuildbarnStorage,
          storageName(),
          ({ status }) =>
            (status?.resharding?.layout?.to ?? String(status?.resharding?.to)) === text &&
            phases.indexOf(status?.resharding?.phase ?? "") >= phases.indexOf(phase),
        );
        world.replica.kill();
        // No client knows of a shard that does not run.
        const counts = await shardCounts();
        for (const part of ["frontend", "worker"]) {
          const maps = shardMap(await world.get(Deployment, `${set}-${part}`))?.split(/[-+]/) ?? [];
          for (const map of maps) {
            const needed = shardsOf({ phase: "Stable", at: parseLayout(map) ?? { shards: 99 } });
            for (const ring of rings) expect(needed[ring]).toBeLessThanOrEqual(counts[ring]);
          }
        }
        await world.replica.start();
      }
      await world.ready(BuildbarnStorage, storageName());
      await world.seen(Deployment, `${set}-worker`, (deployment) => shardMap(deployment) === text);
      expect(await shardCounts()).toEqual(
        shardsOf({ phase: "Stable", at: parseLayout(text) ?? { shards: 99 } }),
      );
    }
    // The scheduler reads through the frontend: a change of shards is not its business.
    expect((await world.get(Deployment, `${set}-scheduler`)).spec).toEqual(scheduler.spec);
  },
);

test("a configuration that cannot be evaluated here waits for an explicit word too", async () => {
  await create(BuildbarnStorage, "storage");
  await world.ready(BuildbarnStorage, storageName());
  const before = await world.get(StatefulSet, storageName());
  await world.patch(BuildbarnStorage, storageName(), {
    configOverrides: "{ logs:: std.native('f')() } + std.parseYaml('{}')",
  });
  const { status } = await world.condition(BuildbarnStorage, storageName(), "Degraded");
  expect(status?.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
    reason: "CacheFlushRequired",
    message: expect.stringContaining("it is not known which stores the new configuration would empty"),
  });
  expect((await world.get(StatefulSet, storageName())).spec?.template).toEqual(before.spec?.template);
  await world.patch(BuildbarnStorage, storageName(), { configOverrides: null });
  await world.ready(BuildbarnStorage, storageName());
});

test.for(["Retain", "Delete"] as const)(
  "mirrors that are no longer wanted stop before their StatefulSet goes, and the policy decides about their volumes: %s",
  { timeout: 120_000 },
  async (deletionPolicy) => {
    await createSet({ mirrored: true, deletionPolicy });
    await layoutIs("2m");
    const ofMirrors = async () => (await claims()).filter(({ metadata }) => metadata.name.includes("-b-"));
    expect(await ofMirrors()).toHaveLength(4);
    const before = await podUids(`component=${storageName()},buildbarn.io/ring!=b`);
    await world.patch(BuildbarnStorage, storageName(), { mirrored: false });
    await layoutIs("2");
    await waitForDeletion(world.client, StatefulSet, world.key(`${storageName()}-b`));
    expect(await podUids(`component=${storageName()}`)).toEqual(before);
    // Each goes with its pod, in a time of its own.
    await expect.poll(ofMirrors, { timeout: 60_000 }).toHaveLength(deletionPolicy === "Delete" ? 0 : 4);
  },
);

test("a mirror that does not start is reported, and no client uses it", { timeout: 120_000 }, async () => {
  await createSet();
  const map = shardMap(await world.get(Deployment, `${set}-frontend`));
  const stop = world.cluster.controlPlane?.node.on(`${storageName()}-b-1`, { kind: "run", readyAfter: "1h" });
  await world.patch(BuildbarnStorage, storageName(), { mirrored: true });
  // The StatefulSets' counts of pods come one after the other.
  const message = `2 of 2 pods are ready; 1 of 2 pods of StatefulSet ${storageName()}-b are ready`;
  const ready = await world.seen(BuildbarnStorage, storageName(), ({ status }) =>
    status?.resharding?.waitingFor === "3 of 4 shards are ready"
      ? status.conditions?.find((one) => one.type === "Ready" && one.message === message)
      : undefined,
  );
  expect(ready).toMatchObject({ status: "False", reason: "MirrorsNotReady" });
  expect(shardMap(await world.get(Deployment, `${set}-frontend`))).toBe(map);
  // It can be taken back.
  await world.patch(BuildbarnStorage, storageName(), { mirrored: false });
  await waitForDeletion(world.client, StatefulSet, world.key(`${storageName()}-b`), { timeout: 20_000 });
  await world.ready(BuildbarnStorage, storageName());
  stop?.();
});

test("a StatefulSet of another owner with the name of the mirrors is left alone", {
  timeout: 120_000,
}, async () => {
  await createSet();
  const foreign = await world.client.create(StatefulSet, {
    metadata: world.key(`${storageName()}-b`),
    spec: {
      replicas: 0,
      serviceName: "theirs",
      selector: { matchLabels: { app: "theirs" } },
      template: {
        metadata: { labels: { app: "theirs" } },
        spec: { containers: [{ name: "theirs", image: "theirs" }] },
      },
    },
  });
  await world.patch(BuildbarnStorage, storageName(), { mirrored: true });
  const message = await world.seen(
    BuildbarnStorage,
    storageName(),
    ({ status }) =>
      status?.conditions?.find(({ type, reason }) => type === "Ready" && reason === "ChildAlreadyExists")
        ?.message,
  );
  expect(message).toContain(`${storageName()}-b`);
  expect((await world.get(StatefulSet, `${storageName()}-b`)).spec).toEqual(foreign.spec);
  expect(shardMap(await world.get(Deployment, `${set}-frontend`))).toBe("2");
  await world.patch(BuildbarnStorage, storageName(), { mirrored: false });
  await world.ready(BuildbarnStorage, storageName());
  expect((await world.get(StatefulSet, `${storageName()}-b`)).metadata.uid).toBe(foreign.metadata.uid);
});

test("no client asks a drained shard, and it runs on", { timeout: 120_000 }, async () => {
  await createSet();
  const before = await podUids(`component=${storageName()}`);
  await world.patch(BuildbarnStorage, storageName(), { drained: [1] });
  await layoutIs("2d1");
  await world.seen(Deployment, `${set}-worker`, (deployment) => shardMap(deployment) === "2d1");
  expect(await podUids(`component=${storageName()}`)).toEqual(before);
  await world.ready(BuildbarnStorage, storageName());
});

test("a shard that is lost is drained without what it kept", { timeout: 120_000 }, async () => {
  await createSet({ resharding: { hold: "100ms", drainTimeout: "1s" } });
  const stop = world.cluster.controlPlane?.node.on(`${storageName()}-1`, { kind: "run", readyAfter: "1h" });
  await world.client.delete(Pod, world.key(`${storageName()}-1`));
  await world.condition(BuildbarnStorage, storageName(), "Ready", "False");
  // Fewer shards would move all blobs: that waits for it.
  await world.patch(BuildbarnStorage, storageName(), { replicas: 1 });
  await world.seen(BuildbarnStorage, storageName(), ({ status }) =>
    status?.resharding?.waitingFor?.startsWith("shard 1 is not ready, and keeps what has to be copied"),
  );
  await world.patch(BuildbarnStorage, storageName(), { replicas: 2, drained: [1] });
  await layoutIs("2d1");
  await world.seen(Deployment, `${set}-frontend`, (deployment) => shardMap(deployment) === "2d1");
  // Now nothing of it is needed any more.
  await world.patch(BuildbarnStorage, storageName(), { replicas: 1, drained: null });
  await layoutIs("1");
  stop?.();
});

test("a client with a configuration of its own holds up a change of shards until it reports that it has the map", async () => {
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
}, 120_000);

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
}, 120_000);

test("a volume that cannot grow is reported, and nothing is tried for ever", async () => {
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

test("a volume whose driver cannot make it grow is reported, in the driver's words", async () => {
  await create(BuildbarnStorage, "storage", { ac: { volume: { size: "1Gi", storageClassName: "grows" } } });
  await world.ready(BuildbarnStorage, storageName());
  const name = `ac-${storageName()}-1`;
  const growing = (status: "True" | "False") => {
    const condition = { type: "ControllerResizeError", status, message: "the pool is full" };
    const patch = { status: { conditions: [condition] } };
    return world.client.patch(
      PersistentVolumeClaim,
      world.key(name),
      { type: "merge", patch },
      { subresource: "status" },
    );
  };
  await growing("True");
  const { status } = await world.condition(BuildbarnStorage, storageName(), "Degraded");
  expect(status?.conditions?.find(({ type }) => type === "Degraded")).toMatchObject({
    reason: "VolumesCannotGrow",
    message: `PersistentVolumeClaim ${name} does not grow: the pool is full`,
  });
  await growing("False");
  await world.ready(BuildbarnStorage, storageName());
}, 60_000);

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
  { timeout: 120_000 },
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
