import type { NamespacedKey, ObjectOf } from "@windlass/runtime";
import {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  Node,
  PersistentVolumeClaim,
  Pod,
  Role,
  Secret,
  Service,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { waitFor, waitForCondition, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Allocation,
  BuildKitPool,
  BuildKitRequest,
  BuildKitWorker,
  claimed,
  isClaimable,
  type Pool,
  released,
  type Worker,
} from "../src/index.ts";
import type { TestEnvironment } from "./environment.ts";
import { writeWorker } from "./write-worker.ts";

/** Images are made first where they are not there yet. */
const SETUP_MS = 400_000;

type PoolSpec = NonNullable<Parameters<typeof BuildKitPool.make>[1]>;

/**
 * What holds of pools and their workers, on any environment.
 *
 * @param patience How long anything may take here, in milliseconds.
 */
export function poolSuite(start: () => Promise<TestEnvironment>, patience: number): void {
  let environment: TestEnvironment;
  let namespace: string;
  const wait = { timeout: patience };

  beforeAll(async () => {
    environment = await start();
    namespace = await environment.createNamespace();
  }, SETUP_MS);
  afterAll(() => environment.close(), SETUP_MS);

  const createPool = async (name: string, spec: PoolSpec = {}): Promise<NamespacedKey> => {
    const key = { namespace, name };
    await environment.client.create(BuildKitPool, {
      metadata: key,
      spec: { ...environment.poolDefaults, ...spec },
    });
    return key;
  };
  const pool = (key: NamespacedKey, until: (one: Pool) => unknown) =>
    waitFor(environment.client, BuildKitPool, key, (one) => (until(one) ? one : undefined), wait);
  const worker = (key: NamespacedKey, until: (one: Worker) => unknown) =>
    waitFor(environment.client, BuildKitWorker, key, (one) => (until(one) ? one : undefined), wait);
  const idle = (key: NamespacedKey) => worker(key, isClaimable);
  const workersOf = async ({ name }: NamespacedKey) => {
    const { items } = await environment.client.list(BuildKitWorker, { namespace });
    return items.filter(({ spec }) => spec.poolRef.name === name);
  };
  /** The name of the first worker that a pool makes, in whatever slot. */
  const firstWorker = async (key: NamespacedKey): Promise<NamespacedKey> => {
    await pool(key, (one) => (one.status?.workers?.total ?? 0) > 0);
    const [made] = await workersOf(key);
    return { namespace, name: made?.metadata.name ?? "" };
  };
  const claim = async (key: NamespacedKey, own: Partial<Allocation> = {}): Promise<Worker> => {
    const now = Date.now();
    const allocation = {
      jobId: `job-${now}`,
      tokenHash: now.toString(16).padStart(64, "0"),
      requestedBy: "someone",
      allocatedAt: new Date(now).toISOString(),
      expiresAt: new Date(now + 3_600_000).toISOString(),
      ...own,
    };
    return await writeWorker(environment.client, async () => claimed(await idle(key), allocation));
  };
  const release = async (key: NamespacedKey) => {
    const { client } = environment;
    await writeWorker(client, async () => released(await client.get(BuildKitWorker, key)));
  };
  const request = async (to: NamespacedKey, name: string, affinityKey?: string) => {
    const now = Date.now();
    await environment.client.create(BuildKitRequest, {
      metadata: { namespace, name },
      spec: {
        poolRef: { name: to.name },
        jobId: name,
        requestedBy: "someone",
        requestedAt: new Date(now).toISOString(),
        waitUntil: new Date(now + 600_000).toISOString(),
        ...(affinityKey !== undefined && { affinityKey }),
      },
    });
  };

  test("a pool has a gateway, certificates, a configuration and its warm workers", async () => {
    const { client } = environment;
    const key = await createPool("warm", { scaling: { min: 2, max: 3 } });
    const { status } = await pool(
      key,
      (one) => one.status?.workers?.idle === 2 && one.status.gateway?.ready && one.status.phase === "Running",
    );
    expect(status).toMatchObject({
      endpoint: `tcp://warm.${namespace}.svc:1235`,
      workers: { total: 2, ready: 2, idle: 2, desired: 2, needed: 0 },
      gateway: { deploymentName: "warm-gateway", serviceName: "warm" },
      tlsSecretName: "warm-tls",
    });
    await waitForCondition(client, BuildKitPool, key, "Ready", "True", wait);
    const service = await client.get(Service, key);
    expect(service.spec?.ports).toMatchObject([{ name: "gateway", port: 1235 }]);
    const keysOf = async (name: string) =>
      Object.keys((await client.get(Secret, { namespace, name })).data ?? {}).toSorted();
    expect(await keysOf("warm-tls")).toEqual(["ca.crt", "server-ca.crt", "tls.crt", "tls.key"]);
    expect(await keysOf("warm-client-certs")).toEqual(["ca.crt", "client.crt", "client.key"]);
    expect(await keysOf("warm-token-keys")).toEqual(["keys.json"]);
    expect(await keysOf("warm-worker-0-tls")).toEqual(["ca.crt", "tls.crt", "tls.key"]);
    const { data } = await client.get(ConfigMap, { namespace, name: "warm-config" });
    const trusted = await client.get(ConfigMap, { namespace, name: "warm-ca" });
    expect(trusted.data?.["ca.crt"]).toContain("BEGIN CERTIFICATE");
    expect(data?.["buildkitd.toml"]).toContain("[[worker.oci.gcpolicy]]");
    const one = await client.get(BuildKitWorker, { namespace, name: "warm-worker-0" });
    expect(one.status).toMatchObject({ phase: "Idle", podName: "warm-worker-0", activeBuilds: 0 });
    expect(one.status?.endpoint).toBe(`tcp://${one.status?.podIP}:1234`);
    await client.delete(BuildKitPool, key);
  });

  test("a pool without warm workers is scaled to zero, and its gateway stays", async () => {
    const key = await createPool("zero");
    const { status } = await pool(key, (one) => one.status?.phase === "ScaledToZero");
    expect(status?.gateway).toMatchObject({ ready: true });
    expect(status?.workers).toMatchObject({ total: 0 });
  });

  test("a worker that was claimed and released between two looks is asked about its builds, and has been used all the same", async () => {
    const key = await createPool("brief", { scaling: { min: 1, max: 1, reuse: "sameIdentity" } });
    const first = await firstWorker(key);
    await claim(first, { requestedBy: "anna", affinityKey: "shop" });
    await release(first);
    const again = await idle(first);
    expect(again.status).toMatchObject({ lastUsedBy: "anna", affinityKey: "shop", allocationCount: 1 });
    await claim(first, { requestedBy: "anna", tokenHash: "a".repeat(64) });
    const build = await environment.startBuild(first);
    await release(first);
    const busy = await worker(first, (one) => one.status?.phase === "Running");
    expect(busy.status).toMatchObject({ activeBuilds: 1, allocationCount: 2 });
    expect(isClaimable(busy)).toBe(false);
    await build.end();
    await idle(first);
    await environment.client.delete(BuildKitPool, key);
    await waitForDeletion(environment.client, BuildKitPool, key, wait);
  });

  test("a request makes a worker, which is allocated, runs a build, is released, and goes when it was idle for long enough", async () => {
    const { client } = environment;
    const key = await createPool("cycle", { scaling: { scaleDownDelay: "2s" } });
    await request(key, "cycle-request", "shop");
    const first = await firstWorker(key);
    await claim(first, { affinityKey: "shop", jobId: "cycle-request" });
    await client.delete(BuildKitRequest, { namespace, name: "cycle-request" });
    const allocated = await worker(first, (one) => one.status?.phase === "Allocated");
    expect(allocated.status).toMatchObject({
      allocationCount: 1,
      lastUsedBy: "someone",
      affinityKey: "shop",
    });
    const held = await client.get(Pod, first);
    expect(held.metadata.annotations).toMatchObject({
      "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    });
    const build = await environment.startBuild(first);
    await worker(first, (one) => one.status?.phase === "Running" && one.status.activeBuilds === 1);
    await pool(key, (one) => one.status?.workers?.running === 1);
    await build.end();
    await worker(first, (one) => one.status?.phase === "Allocated" && one.status.activeBuilds === 0);
    await release(first);
    const again = await idle(first);
    expect(again.status).toMatchObject({ affinityKey: "shop", allocationCount: 1 });
    const free = await waitFor(
      client,
      Pod,
      first,
      (one) =>
        one.metadata.annotations?.["cluster-autoscaler.kubernetes.io/safe-to-evict"] === undefined && one,
      wait,
    );
    expect(free.metadata.uid).toBe(held.metadata.uid);
    await waitForDeletion(client, BuildKitWorker, first, wait);
    await pool(key, (one) => one.status?.phase === "ScaledToZero");
    await waitForDeletion(client, Pod, first, wait);
  });

  test("there are never more workers than max, and the pool says that it has no more", async () => {
    const { client } = environment;
    const key = await createPool("full", { scaling: { max: 2 } });
    for (const index of [1, 2, 3, 4, 5]) await request(key, `full-${index}`);
    const { status } = await pool(key, (one) => one.status?.workers?.idle === 2);
    expect(status?.queue).toMatchObject({ length: 5 });
    expect(status?.conditions?.find(({ type }) => type === "CapacityAvailable")).toMatchObject({
      status: "False",
      reason: "AtMaximum",
    });
    expect(await workersOf(key)).toHaveLength(2);
    await client.delete(BuildKitPool, key);
    await waitForDeletion(client, BuildKitPool, key, wait);
    const { items } = await client.list(BuildKitRequest, { namespace });
    expect(items.filter(({ spec }) => spec.poolRef.name === key.name)).toEqual([]);
  });

  test("a request that is not renewed is deleted, and makes no worker", async () => {
    const { client } = environment;
    const key = await createPool("stale");
    // Longer ago than the clocks of replicas may be apart.
    const past = new Date(Date.now() - 600_000).toISOString();
    await client.create(BuildKitRequest, {
      metadata: { namespace, name: "stale-request" },
      spec: { poolRef: { name: key.name }, jobId: "1", requestedBy: "a", requestedAt: past, waitUntil: past },
    });
    await waitForDeletion(client, BuildKitRequest, { namespace, name: "stale-request" }, wait);
    expect(await workersOf(key)).toEqual([]);
  });

  test("an allocation that expires in the middle of a build ends after it", { timeout: 60_000 }, async () => {
    const { client } = environment;
    const key = await createPool("expiry", { scaling: { min: 1, max: 1 } });
    const first = { namespace, name: "expiry-worker-0" };
    await idle(first);
    // Long enough for a real build to begin on a busy machine: without one the worker goes at once.
    await claim(first, { expiresAt: new Date(Date.now() + 10_000).toISOString() });
    const build = await environment.startBuild(first);
    const draining = await worker(first, (one) => one.status?.drainingSince !== undefined);
    expect(draining.status).toMatchObject({ phase: "Running", reason: "Draining" });
    expect(draining.metadata.deletionTimestamp).toBeUndefined();
    await build.end();
    // Another takes its place: the pool keeps one warm.
    const next = await worker(first, (one) => one.metadata.uid !== draining.metadata.uid && isClaimable(one));
    expect(next.status?.allocationCount).toBe(0);
    await client.delete(BuildKitPool, key);
  });

  test("an allocation without a build is released after the pool's idle time, and one with a build is not", {
    timeout: 60_000,
  }, async () => {
    const { client } = environment;
    const key = await createPool("unused", {
      scaling: { min: 1, max: 1 },
      gateway: { idleTimeout: "3s" },
    });
    const first = { namespace, name: "unused-worker-0" };
    await idle(first);
    await claim(first);
    const build = await environment.startBuild(first);
    await worker(first, (one) => one.status?.phase === "Running");
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect((await client.get(BuildKitWorker, first)).spec.allocation).toBeDefined();
    await build.end();
    const { spec } = await idle(first);
    expect(spec.lastAllocation?.requestedBy).toBe("someone");
    await client.delete(BuildKitPool, key);
  });

  test("a pod that no node takes is waited for: no other is made, and the pool says why", async () => {
    const { client } = environment;
    const label = `windlass.dev/suite-${namespace}`;
    const key = await createPool("unplaced", {
      scaling: { min: 1, max: 1 },
      podTemplate: { spec: { nodeSelector: { [label]: "yes" } } },
    });
    const first = { namespace, name: "unplaced-worker-0" };
    await pool(key, ({ status }) =>
      status?.conditions?.some(
        ({ type, reason }) => type === "CapacityAvailable" && reason === "Unschedulable",
      ),
    );
    const { metadata } = await client.get(Pod, first);
    const [node] = (await client.list(Node)).items;
    if (!node) throw new Error("there is no node");
    const labelled = (value: string | null) =>
      client.patch(Node, node.metadata, {
        type: "merge",
        patch: { metadata: { labels: { [label]: value } } },
      });
    await labelled("yes");
    await idle(first);
    expect((await client.get(Pod, first)).metadata.uid).toBe(metadata.uid);
    await labelled(null);
    await client.delete(BuildKitPool, key);
  });

  test("a worker that is deleted in the middle of a build goes after it", async () => {
    const { client } = environment;
    await createPool("drained", { scaling: { min: 1, max: 1 } });
    const first = { namespace, name: "drained-worker-0" };
    const { metadata } = await claim(first);
    const build = await environment.startBuild(first);
    await worker(first, (one) => one.status?.phase === "Running");
    await client.delete(BuildKitWorker, first);
    const { status } = await worker(first, (one) => one.status?.phase === "Terminating");
    expect(status).toMatchObject({ reason: "Draining", activeBuilds: 1 });
    expect((await client.get(Pod, first)).metadata.deletionTimestamp).toBeUndefined();
    await build.end();
    await worker(first, (one) => one.metadata.uid !== metadata.uid && isClaimable(one));
    await client.delete(BuildKitPool, { namespace, name: "drained" });
  });

  test("a pool that is deleted in the middle of a build waits for it, and then nothing is left", async () => {
    const { client } = environment;
    const key = await createPool("ending", { scaling: { min: 2, max: 2 } });
    const first = { namespace, name: "ending-worker-0" };
    await claim(first);
    await idle({ namespace, name: "ending-worker-1" });
    const build = await environment.startBuild(first);
    await worker(first, (one) => one.status?.phase === "Running");
    await client.delete(BuildKitPool, key);
    await pool(key, (one) => one.status?.phase === "Draining");
    await waitForDeletion(client, BuildKitWorker, { namespace, name: "ending-worker-1" }, wait);
    expect(
      (await client.get(Deployment, { namespace, name: "ending-gateway" })).metadata.deletionTimestamp,
    ).toBeUndefined();
    await build.end();
    await waitForDeletion(client, BuildKitPool, key, wait);
    const kinds = [
      BuildKitWorker,
      Pod,
      Secret,
      ConfigMap,
      Deployment,
      Service,
      ServiceAccount,
      Role,
      NetworkPolicy,
      PersistentVolumeClaim,
    ];
    for (const kind of kinds)
      for (const { metadata } of (await client.list(kind, { namespace })).items)
        if (metadata.name.startsWith("ending"))
          await waitForDeletion(client, kind, { namespace, name: metadata.name }, wait);
  });

  test("idle workers are replaced when their configuration changes, and workers in use are not", async () => {
    const { client } = environment;
    const key = await createPool("changed", { scaling: { min: 1, max: 3 } });
    const first = { namespace, name: "changed-worker-0" };
    const used = await claim(first);
    await idle({ namespace, name: "changed-worker-1" });
    const before = await client.get(BuildKitWorker, { namespace, name: "changed-worker-1" });
    await client.patch(BuildKitPool, key, { type: "merge", patch: { spec: { maxParallelism: 3 } } });
    const { status } = await pool(key, (one) => one.status?.configHash !== before.status?.configHash);
    const spares = async () => {
      const workers = await workersOf(key);
      return workers
        .filter(({ metadata }) => metadata.name !== first.name)
        .map((worker) => worker.status?.configHash);
    };
    await expect.poll(spares, wait).toEqual([status?.configHash]);
    const still = await client.get(BuildKitWorker, first);
    expect(still.metadata.uid).toBe(used.metadata.uid);
    expect(still.status?.configHash).toBe(before.status?.configHash);
    await client.delete(BuildKitPool, key);
  });

  test("workers whose image does not exist fail, with the reason on the pool, and are not made without end", async () => {
    const { client } = environment;
    const key = await createPool("imageless", {
      scaling: { min: 1, max: 3, failedWorkersKept: 1 },
      buildkitImage: "moby/buildkit:no-such-tag",
    });
    const { status } = await pool(key, (one) => (one.status?.failures?.count ?? 0) >= 1);
    expect(status?.conditions?.find(({ type }) => type === "CapacityAvailable")).toMatchObject({
      status: "False",
      reason: "ImagePullFailed",
      message: expect.stringContaining("no-such-tag"),
    });
    expect((await workersOf(key)).length).toBeLessThanOrEqual(3);
    await client.delete(BuildKitPool, key);
  });

  test("a worker that its pool did not make is given to no client, and takes no place of the pool's", async () => {
    const { client } = environment;
    const foreign = { namespace, name: "guest-worker-0" };
    const spec = { poolRef: { name: "guest" }, slot: 0 };
    const key = await createPool("guest", { scaling: { min: 0, max: 1 } });
    await client.create(BuildKitWorker, { metadata: foreign, spec });
    const { status } = await worker(foreign, (one) => one.status?.phase === "Failed");
    await client.patch(BuildKitPool, key, { type: "merge", patch: { spec: { scaling: { min: 1 } } } });
    await idle({ namespace, name: "guest-worker-1" });
    expect(status).toMatchObject({
      reason: "NotOfPool",
      message: expect.stringContaining("did not make it"),
    });
    const { items } = await client.list(Pod, { namespace });
    expect(items.filter(({ metadata }) => metadata.name === foreign.name)).toEqual([]);
    const { status: counted } = await pool(key, (one) => one.status?.workers?.idle === 1);
    expect(counted?.workers?.total).toBe(1);
    await client.delete(BuildKitWorker, foreign);
    await client.delete(BuildKitPool, key);
  });

  test("a pod of another owner by a worker's name is left alone, and another slot is used", async () => {
    const { client } = environment;
    const foreign = { namespace, name: "lodger-worker-0" };
    const containers = [{ name: "own", image: "registry.k8s.io/pause:3.10.1" }];
    const { metadata } = await client.create(Pod, { metadata: foreign, spec: { containers } });
    const key = await createPool("lodger", { scaling: { min: 1, max: 2 } });
    const { status } = await worker(foreign, (one) => one.status?.phase === "Failed");
    expect(status).toMatchObject({ reason: "NameTaken", message: expect.stringContaining(foreign.name) });
    await idle({ namespace, name: "lodger-worker-1" });
    expect((await client.get(Pod, foreign)).metadata.uid).toBe(metadata.uid);
    await client.delete(BuildKitPool, key);
    await waitForDeletion(client, BuildKitPool, key, wait);
    expect((await client.get(Pod, foreign)).metadata.deletionTimestamp).toBeUndefined();
    await client.delete(Pod, foreign);
  });

  test("a worker waits for the pod of an earlier worker of its name to go", async () => {
    const { client } = environment;
    const name = { namespace, name: "heir-worker-0" };
    const apiVersion = `${BuildKitWorker.group}/${BuildKitWorker.version}`;
    const uid = crypto.randomUUID();
    const earlier = { apiVersion, kind: BuildKitWorker.kind, name: name.name, uid, controller: true };
    await client.create(Pod, {
      metadata: { ...name, ownerReferences: [earlier], finalizers: ["example.com/lingers"] },
      spec: { containers: [{ name: "own", image: "registry.k8s.io/pause:3.10.1" }] },
    });
    const key = await createPool("heir", { scaling: { min: 1, max: 1 } });
    const { metadata } = await worker(name, ({ status }) => status?.phase !== undefined);
    const isGoing = (pod: ObjectOf<typeof Pod>) => pod.metadata.deletionTimestamp !== undefined;
    await waitFor(client, Pod, name, (pod) => (isGoing(pod) ? pod : undefined), wait);
    await client.patch(Pod, name, { type: "merge", patch: { metadata: { finalizers: null } } });
    expect((await idle(name)).metadata.uid).toBe(metadata.uid);
    await client.delete(BuildKitPool, key);
  });

  test("a leader that is killed while workers start is followed by another, which ends it", async () => {
    const { client } = environment;
    const key = await createPool("handover", { scaling: { min: 2, max: 2 } });
    await waitFor(client, BuildKitWorker, { namespace, name: "handover-worker-0" }, () => true, wait);
    await environment.killLeader();
    await pool(key, (one) => one.status?.workers?.idle === 2);
    expect(await workersOf(key)).toHaveLength(2);
    await client.delete(BuildKitPool, key);
  });

  test("a pool that is deleted is gone in the end, however often its leader is killed meanwhile", {
    timeout: 120_000,
  }, async () => {
    const { client } = environment;
    for (let round = 0; round < 3; round++) {
      const key = await createPool(`killed-${round}`, { scaling: { min: 2, max: 2 } });
      await pool(key, (one) => one.status?.workers?.idle === 2);
      await client.delete(BuildKitPool, key);
      // At another moment of the deletion each time.
      await new Promise((resolve) => setTimeout(resolve, round * 40));
      await environment.killLeader();
      await waitForDeletion(client, BuildKitPool, key, wait);
      for (const kind of [BuildKitWorker, Pod, Secret])
        for (const { metadata } of (await client.list(kind, { namespace })).items)
          if (metadata.name.startsWith(key.name))
            await waitForDeletion(client, kind, { namespace, name: metadata.name }, wait);
    }
  });

  test("cache stays on the volume of a slot, and a request for it gets that slot", async () => {
    const { client } = environment;
    const key = await createPool("cached", {
      scaling: { max: 3, scaleDownDelay: "1s" },
      cache: { persistent: { size: "1Gi" } },
    });
    await request(key, "cached-1", "shop");
    const first = await firstWorker(key);
    const made = await client.get(BuildKitWorker, first);
    await claim(first, { affinityKey: "shop", jobId: "cached-1" });
    await client.delete(BuildKitRequest, { namespace, name: "cached-1" });
    const { status } = await worker(first, (one) => one.status?.phase === "Allocated");
    const { spec } = await client.get(Pod, first);
    expect(spec?.volumes).toContainEqual(
      expect.objectContaining({ persistentVolumeClaim: { claimName: status?.volume } }),
    );
    await release(first);
    await waitForDeletion(client, BuildKitWorker, first, wait);
    const kept = await pool(key, (one) => one.status?.cacheSlots?.[0]?.lastUsedAt !== undefined);
    expect(kept.status?.cacheSlots).toMatchObject([{ volume: status?.volume, affinityKey: "shop" }]);
    await request(key, "cached-2", "other");
    await request(key, "cached-3", "shop");
    const same = await worker(first, (one) => one.status?.volume === status?.volume);
    expect(same.metadata.uid).not.toBe(made.metadata.uid);
    await client.delete(BuildKitPool, key);
  });
}
