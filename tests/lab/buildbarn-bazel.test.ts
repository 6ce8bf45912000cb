import { sleep, systemClock } from "@windlass/clock";
import { Deployment, HorizontalPodAutoscaler, Pod, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "../../operators/buildbarn/src/index.ts";
import { BuildQueue } from "../../operators/buildbarn/src/queue/index.ts";
import { Bazel, type Built } from "../../operators/buildbarn/testing/bazel.ts";
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
  withoutVersion,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";

/** Real Buildbarn from one resource, and a real Bazel that builds on it. */
const actions = 30;
const platform = [{ name: "OSFamily", value: "linux" }];
const wait = { timeout: 120_000 };
const small = { requests: { cpu: "10m", memory: "32Mi" } };

let world: LabTestEnvironment;
let bazel: Bazel;
let queueAddress: string;
let salt = 0;
const key = (name: string) => ({ namespace: world.namespace, name });
const next = () => `${Date.now()}-${salt++}`;

beforeAll(async () => {
  world = await labTestEnvironment("buildbarn-bazel");
  const { client } = world.cluster;
  const { storage, frontend, scheduler } = labSpecs("2025-02");
  await client.create(BuildbarnCluster, {
    metadata: key("bb"),
    spec: {
      version: "2025-02",
      storage: { ...withoutVersion(storage), resharding: { hold: "10s" } },
      frontend: { ...withoutVersion(frontend), probe: { interval: "1h" } },
      scheduler: withoutVersion(scheduler),
      workers: [
        {
          name: "linux",
          image: "ghcr.io/buildbarn/bb-worker:2025",
          runnerImage: "build-actions:2025",
          runnerInstallerImage: "ghcr.io/buildbarn/bb-runner-installer:2025",
          volumeInitImage: "busybox:1.35",
          platform,
          replicas: 2,
          minReadySeconds: 1,
          concurrency: 4,
          terminationGracePeriodSeconds: 120,
          resources: small,
          runnerResources: small,
        },
      ],
    },
  });
  await waitForCondition(client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
  const clusterIP = async (name: string) => (await client.get(Service, key(name))).spec?.clusterIP ?? "";
  queueAddress = `${await clusterIP("bb-scheduler")}:8984`;
  bazel = await Bazel.start(`grpc://${await clusterIP("bb-frontend")}:8980`, actions);
}, 300_000);
afterAll(async () => {
  await bazel?.[Symbol.asyncDispose]();
  await world?.close();
}, 120_000);

const queue = { instanceNamePrefix: "", platform, sizeClass: 0 };
async function executing(): Promise<ReadonlyMap<string, number>> {
  using builds = new BuildQueue(queueAddress);
  const { pods } = await builds.look(queue, 100, AbortSignal.timeout(5_000));
  return new Map(pods.map((pod) => [pod.name, pod.executing]));
}
async function busyPod(): Promise<string> {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const [busy] = [...(await executing())].filter(([, count]) => count > 0);
    if (busy) return busy[0];
    if (systemClock.monotonic() > deadline) throw new Error("no worker has an action");
    await sleep(systemClock, 200);
  }
}
const patch = (kind: typeof BuildbarnCluster, spec: object) =>
  world.cluster.client.patch(kind, key("bb"), { type: "merge", patch: { spec } });
const moves = () =>
  waitFor(
    world.cluster.client,
    BuildbarnStorage,
    key("bb-storage"),
    ({ status }) => status?.resharding?.phase !== "Stable",
    wait,
  );

function tell(what: string, figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
}

/** A build must never be wrong; if it failed, what Bazel wrote is worth more than that it did. */
function succeeded(built: Built): Built {
  expect(built.ok ? "" : built.output.slice(-3_000)).toBe("");
  return built;
}

test("a real action runs through the frontend, and its status says so", async () => {
  const { client } = world.cluster;
  await waitForCondition(client, BuildbarnFrontend, key("bb-frontend"), "ProbeSucceeded", "True", wait);
  const { status } = await client.get(BuildbarnFrontend, key("bb-frontend"));
  expect(status?.lastProbe).toMatchObject({ ok: true, cacheHit: true, worker: "bb-linux" });
  tell("probe", { latencyMs: status?.lastProbe?.latencyMs });
});

test("Bazel builds through the frontend, and finds what it built", async () => {
  const first = succeeded(await bazel.build({ targets: ["//:all_small"] }));
  expect(first).toMatchObject({ remote: actions, hits: 0 });
  const second = succeeded(await bazel.build({ targets: ["//:all_small"] }));
  expect(second).toMatchObject({ remote: 0, hits: actions });
  tell("build", { actions, firstSeconds: first.seconds, cachedSeconds: second.seconds, hits: second.hits });
}, 300_000);

test.for([
  [2, 3],
  [3, 2],
])(
  "storage goes from %d to %d shards under builds: none fails, and the cache is kept",
  { timeout: 600_000 },
  async ([from, to]) => {
    const began = systemClock.monotonic();
    await patch(BuildbarnCluster, { storage: { replicas: to } });
    await moves();
    const { cached, fresh } = await bazel.buildUntil(
      waitFor(
        world.cluster.client,
        BuildbarnStorage,
        key("bb-storage"),
        ({ status }) => status?.resharding?.phase === "Stable" && status.resharding.to === to,
        { timeout: 400_000 },
      ),
      next,
    );
    const after = await bazel.build({ targets: ["//:all_small"] });
    const afterNew = await bazel.build({ targets: ["//:second0"], salt: next() });
    tell(`resharding ${from} to ${to}`, {
      seconds: (systemClock.monotonic() - began) / 1_000,
      builds: cached.length + fresh.length + 2,
      failed: [...cached, ...fresh, after, afterNew].filter(({ ok }) => !ok).length,
      fewestHits: Math.min(...cached.map(({ hits }) => hits)),
      hitsAfter: after.hits,
    });
    for (const built of [...cached, ...fresh, after, afterNew]) succeeded(built);
    expect(after.hits).toBe(actions);
    expect(cached.map(({ hits }) => hits)).toEqual(cached.map(() => actions));
  },
);

test("workers that are scaled down in the middle of an action end it first", async () => {
  const { client } = world.cluster;
  const building = bazel.build({ targets: ["//:slow"], salt: next(), retries: 0 });
  const busy = await busyPod();
  await patch(BuildbarnCluster, { workers: [{ ...(await workerEntry()), replicas: 1 }] });
  await waitFor(client, Deployment, key("bb-linux"), ({ spec }) => spec?.replicas === 1, wait);
  const kept = async () => {
    const { items } = await client.list(Pod, { namespace: world.namespace, labelSelector: "app=worker" });
    return items.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [metadata.name] : []));
  };
  // The ReplicaSet deletes a moment after the number has changed.
  await expect.poll(kept, { timeout: 20_000 }).toEqual([busy]);
  // Now that one too.
  await patch(BuildbarnCluster, { workers: [{ ...(await workerEntry()), replicas: 0 }] });
  const built = succeeded(await building);
  expect(built.remote).toBe(1);
  await waitFor(client, Deployment, key("bb-linux"), ({ spec }) => spec?.replicas === 0, wait);
  tell("scale-down in mid-action", { seconds: built.seconds, remote: built.remote, retries: 0 });
}, 300_000);

async function workerEntry() {
  const { spec } = await world.cluster.client.get(BuildbarnCluster, key("bb"));
  const [entry] = spec.workers;
  if (!entry) throw new Error("the set has no workers");
  return entry;
}

test("the queue wakes workers from zero, and lets them go again", async () => {
  const { client } = world.cluster;
  const autoscaling = { minReplicas: 0, maxReplicas: 2, scaleDownDelay: "3s" };
  await patch(BuildbarnCluster, { workers: [{ ...(await workerEntry()), autoscaling }] });
  await waitForCondition(client, BuildbarnWorker, key("bb-linux"), "AutoscalingActive", "True", wait);
  await waitFor(client, Deployment, key("bb-linux"), ({ spec }) => spec?.replicas === 0, wait);
  const built = succeeded(await bazel.build({ targets: ["//:second0", "//:second1"], salt: next() }));
  expect(built.remote).toBe(4);
  const began = systemClock.monotonic();
  await waitFor(client, Deployment, key("bb-linux"), ({ spec }) => spec?.replicas === 0, wait);
  tell("from zero and back", {
    buildSeconds: built.seconds,
    idleSeconds: (systemClock.monotonic() - began) / 1_000,
  });
  const { autoscaling: _, ...fixed } = await workerEntry();
  await patch(BuildbarnCluster, { workers: [{ ...fixed, replicas: 2 }] });
  await waitForCondition(client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
}, 300_000);

test("a scheduler that restarts in the middle of an action fails no build", async () => {
  const { client } = world.cluster;
  const building = bazel.build({ targets: ["//:slow"], salt: next() });
  await busyPod();
  const began = systemClock.monotonic();
  await client.deleteCollection(Pod, { namespace: world.namespace, labelSelector: "app=scheduler" });
  await waitForCondition(client, BuildbarnScheduler, key("bb-scheduler"), "Ready", "False", wait);
  await waitForCondition(client, BuildbarnScheduler, key("bb-scheduler"), "Ready", "True", wait);
  const downSeconds = (systemClock.monotonic() - began) / 1_000;
  const built = succeeded(await building);
  tell("scheduler restart", { downSeconds, buildSeconds: built.seconds, retries: 20 });
}, 300_000);

test.for([5, 20])(
  "a worker of a new platform restarts the scheduler in the middle of a build, and ends no action: %d retries",
  { timeout: 300_000 },
  async (retries) => {
    const { client } = world.cluster;
    const { name: _, replicas: __, autoscaling: ___, ...own } = await workerEntry();
    const restarts = async () => (await client.get(Deployment, key("bb-scheduler"))).metadata.generation;
    const before = await restarts();
    const slow = bazel.build({ targets: ["//:slow"], salt: next(), retries });
    const busy = await busyPod();
    const began = systemClock.monotonic();
    const added = await client.create(BuildbarnWorker, {
      metadata: key(`pool-${retries}`),
      spec: {
        ...own,
        cluster: "bb",
        version: "2025-02",
        instance: `pool-${retries}`,
        platform: [...platform, { name: "pool", value: `retries-${retries}` }],
        replicas: 0,
      },
    });
    const draining = await waitFor(
      client,
      BuildbarnScheduler,
      key("bb-scheduler"),
      ({ status }) => status?.conditions?.find(({ reason }) => reason === "DrainingWorkers")?.message,
      wait,
    );
    // It runs to its end, and only then is the scheduler replaced.
    expect((await executing()).get(busy)).toBe(1);
    expect(await restarts()).toBe(before);
    const built = await slow;
    await waitFor(
      client,
      Deployment,
      key("bb-scheduler"),
      ({ metadata }) => metadata.generation !== before,
      wait,
    );
    // Builds that begin while the scheduler is away ask until it is back.
    const fresh = await bazel.build({ targets: ["//:second0"], salt: next(), retries });
    await waitForCondition(client, BuildbarnScheduler, key("bb-scheduler"), "Ready", "True", wait);
    tell("a worker of a new platform", {
      retries,
      failed: [built, fresh].filter(({ ok }) => !ok).length,
      slowSeconds: built.seconds,
      slowRemote: built.remote,
      freshSeconds: fresh.seconds,
      seconds: (systemClock.monotonic() - began) / 1_000,
      draining,
    });
    succeeded(built);
    if (retries === 20) succeeded(fresh);
    const { status } = await client.get(BuildbarnScheduler, key("bb-scheduler"));
    expect(status?.restart).toBeUndefined();
    await client.delete(BuildbarnWorker, added.metadata);
    await waitForDeletion(client, BuildbarnWorker, added.metadata, wait);
    await waitForCondition(client, BuildbarnScheduler, key("bb-scheduler"), "Ready", "True", wait);
  },
);

test("workers of two sizes join the set, and a HorizontalPodAutoscaler sets how many of them there are", async () => {
  const { client } = world.cluster;
  const { workers } = (await client.get(BuildbarnCluster, key("bb"))).spec;
  const { name: _, replicas: __, autoscaling: ___, ...own } = workers[0] ?? (await workerEntry());
  const pool = [...platform, { name: "pool", value: "sizes" }];
  const sizes = [1, 4];
  for (const sizeClass of sizes)
    await client.create(BuildbarnWorker, {
      metadata: key(`size-${sizeClass}`),
      spec: {
        ...own,
        cluster: "bb",
        version: "2025-02",
        instance: `size-${sizeClass}`,
        platform: pool,
        sizeClass,
        replicas: 1,
      },
    });
  for (const sizeClass of sizes) {
    await waitForCondition(client, BuildbarnWorker, key(`size-${sizeClass}`), "Ready", "True", wait);
  }
  await waitForCondition(client, BuildbarnScheduler, key("bb-scheduler"), "Ready", "True", wait);
  const flags = ["--remote_default_exec_properties=pool=sizes"];
  const built = succeeded(await bazel.build({ targets: ["//:second0", "//:second1"], salt: next(), flags }));
  expect(built.remote).toBe(4);
  // Without figures it keeps to its bounds.
  await client.create(HorizontalPodAutoscaler, {
    metadata: key("size-1"),
    spec: {
      scaleTargetRef: { apiVersion: "buildbarn.io/v1alpha1", kind: "BuildbarnWorker", name: "size-1" },
      minReplicas: 2,
      maxReplicas: 3,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
        },
      ],
    },
  });
  await waitFor(client, BuildbarnWorker, key("size-1"), ({ spec }) => spec.replicas === 2, wait);
  await waitFor(client, Deployment, key("size-1"), ({ status }) => status?.readyReplicas === 2, wait);
  await client.patch(HorizontalPodAutoscaler, key("size-1"), {
    type: "merge",
    patch: { spec: { minReplicas: 1, maxReplicas: 1 } },
  });
  await waitFor(client, Deployment, key("size-1"), ({ status }) => status?.replicas === 1, wait);
  tell("two sizes", { buildSeconds: built.seconds, remote: built.remote });
}, 300_000);

test("a set that is deleted in the middle of an action ends it first", async () => {
  const { client } = world.cluster;
  const building = bazel.build({ targets: ["//:slow"], salt: next(), retries: 0 });
  await busyPod();
  const began = systemClock.monotonic();
  await client.delete(BuildbarnCluster, key("bb"));
  const built = succeeded(await building);
  expect(built.remote).toBe(1);
  await waitForDeletion(client, BuildbarnCluster, key("bb"), wait);
  tell("deleted in mid-action", {
    buildSeconds: built.seconds,
    deletionSeconds: (systemClock.monotonic() - began) / 1_000,
    retries: 0,
  });
}, 300_000);
