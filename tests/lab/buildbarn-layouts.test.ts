import { createAuthority, type KeyPair } from "@windlass/certificates";
import { ConfigMap, PersistentVolumeClaim, Pod, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  versions,
} from "../../operators/buildbarn/src/index.ts";
import { BuildQueue } from "../../operators/buildbarn/src/queue/index.ts";
import { Builds } from "../../operators/buildbarn/testing/builds.ts";
import { foreignPairsOf, pairOf } from "../../operators/buildbarn/testing/certificates.ts";
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
  loseVolumes,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";
import { RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/**
 * Shards of weights, that are drained, or in pairs, of a set whose components use TLS among
 * themselves.
 */
const wait = { timeout: 120_000 };
const authority = createAuthority({ commonName: "the set's", validFor: "1h" });
const platform = [{ name: "OSFamily", value: "linux" }];

/** Long enough to use everything once, on a slow machine too. */
const holdSeconds = 20;

describe.each(versions)("shards of %s", (version) => {
  let world: LabTestEnvironment;
  let builds: Builds;
  const used = Array.from({ length: 60 }, (_, number) => `action ${number}`);
  let tls: { readonly authorities: string; readonly serverName: string };
  let member: KeyPair;
  const specs = labSpecs(version);
  const key = (name: string) => ({ namespace: world.namespace, name });
  const addressOf = async (pod: string, port: number) =>
    `${(await world.cluster.client.get(Pod, key(pod))).status?.podIP}:${port}`;
  const clusterIpOf = async (name: string) =>
    (await world.cluster.client.get(Service, key(name))).spec?.clusterIP ?? "";

  beforeAll(async () => {
    world = await labTestEnvironment(`buildbarn-layouts-${version}`);
    const { client } = world.cluster;
    builds = new Builds(client, world.namespace);
    tls = { authorities: authority.certificate, serverName: `buildbarn.${world.namespace}.svc` };
    member = pairOf(authority, tls.serverName);
    await client.create(Secret, {
      metadata: key("pair"),
      type: "kubernetes.io/tls",
      stringData: { "tls.crt": member.certificate, "tls.key": member.key },
    });
    await client.create(ConfigMap, {
      metadata: key("authorities"),
      data: { "ca.crt": authority.certificate },
    });
    await client.create(BuildbarnStorage, {
      metadata: key("storage"),
      spec: {
        ...specs.storage,
        replicas: 3,
        weights: [1, 6],
        internalTls: { secretName: "pair", configMapName: "authorities" },
        resharding: { hold: `${holdSeconds}s` },
      },
    });
    await client.create(BuildbarnScheduler, { metadata: key("scheduler"), spec: specs.scheduler });
    await client.create(BuildbarnFrontend, { metadata: key("frontend"), spec: specs.frontend });
    await ready();
    await builds.fill(used);
  }, 300_000);
  afterAll(() => world?.close(), 120_000);

  async function ready(): Promise<void> {
    const { client } = world.cluster;
    await waitForCondition(client, BuildbarnStorage, key("storage"), "Ready", "True", wait);
    await waitForCondition(client, BuildbarnFrontend, key("frontend"), "Ready", "True", wait);
    await waitForCondition(client, BuildbarnScheduler, key("scheduler"), "Ready", "True", wait);
  }

  /** Those of the results that a shard has, or any of the shards of a StatefulSet. */
  async function keptBy(podOrSet: string, actions: readonly string[] = used): Promise<readonly string[]> {
    const isPod = /-\d+$/.test(podOrSet);
    const pods = isPod ? [podOrSet] : [0, 1, 2].map((number) => `${podOrSet}-${number}`);
    const kept = new Set<string>();
    for (const pod of pods) {
      using cache = new RemoteCache(await addressOf(pod, 8981), { ...tls, pair: member });
      for (const action of actions) if (await cache.hasResult(action)) kept.add(action);
    }
    return actions.filter((action) => kept.has(action));
  }

  /** Results that no mirror has. They began empty, so what they have is where it belongs. */
  async function mirrorsLack(): Promise<readonly string[]> {
    const kept = new Set(await keptBy("storage-b"));
    return used.filter((action) => !kept.has(action));
  }

  /**
   * Results that a mirror has, and the first of its pair has not. Others may have copies of them
   * from before.
   */
  async function firstsLack(): Promise<readonly string[]> {
    const pairs = [0, 1, 2].map(async (number) => {
      const kept = new Set(await keptBy(`storage-${number}`));
      return (await keptBy(`storage-b-${number}`)).filter((action) => !kept.has(action));
    });
    return (await Promise.all(pairs)).flat();
  }

  /** Has builds use what is lacking, until nothing is. */
  async function refilled(lack: () => Promise<readonly string[]>): Promise<void> {
    const missing = async () => {
      const lacking = await lack();
      // Both frontends ask either of a pair in turn: with one more than a multiple of four, each
      // action comes to all of them.
      const more = lacking.slice(0, (5 - (lacking.length % 4)) % 4);
      expect(await builds.misses([...lacking, ...more])).toEqual([]);
      return lacking.length;
    };
    await expect.poll(missing, { timeout: 120_000 }).toBe(0);
  }

  /** Changes the shards while builds go on. No build may fail, and what is used must stay. */
  async function change(spec: object, to: string, meanwhile?: () => Promise<void>): Promise<void> {
    const { client } = world.cluster;
    const stop = new AbortController();
    const going = builds.keepOn(used, stop.signal);
    const before = builds.done;
    const reached = (phase: string) =>
      waitFor(
        client,
        BuildbarnStorage,
        key("storage"),
        ({ status }) =>
          status?.resharding?.phase === phase &&
          to === (status.resharding.layout?.to ?? String(status.resharding.to)),
        wait,
      );
    try {
      await client.patch(BuildbarnStorage, key("storage"), { type: "merge", patch: { spec } });
      await meanwhile?.();
      await reached("Stable");
    } finally {
      stop.abort();
      await going;
    }
    expect(builds.failures).toEqual([]);
    expect(builds.repeated).toEqual([]);
    expect(builds.done).toBeGreaterThan(before);
    expect(await builds.misses(used)).toEqual([]);
    await ready();
  }

  /** Uses everything once while it is copied. */
  async function useAll(): Promise<void> {
    const isCopying = ({ status }: { status?: { resharding?: { phase: string } | undefined } | undefined }) =>
      status?.resharding?.phase === "Copying";
    const { client } = world.cluster;
    await waitFor(client, BuildbarnStorage, key("storage"), isCopying, wait);
    expect(await builds.misses(used)).toEqual([]);
    expect(isCopying(await client.get(BuildbarnStorage, key("storage")))).toBe(true);
  }

  test("are weighed from the start", async () => {
    const [light, heavy, other] = await Promise.all([0, 1, 2].map((number) => keptBy(`storage-${number}`)));
    const figures = [light, heavy, other].map((kept) => kept?.length ?? 0);
    process.stdout.write(`${version}, weights 1, 6, 1: ${figures.join(", ")} of ${used.length} results\n`);
    expect(figures.reduce((sum, one) => sum + one)).toBe(used.length);
    // 45 are expected on the one, 7 or 8 on each of the others.
    expect(figures[1]).toBeGreaterThan(30);
  });

  test("speak to members of the set alone, and so do the scheduler and the frontend's internal way", async () => {
    const caches = [
      await addressOf("storage-0", 8981),
      `${await clusterIpOf("frontend-internal")}:8979`,
    ] as const;
    const queue = `${await clusterIpOf("scheduler")}:8984`;
    const look = async (pair?: KeyPair) => {
      using seen = new BuildQueue({ address: queue, ...tls, ...pair });
      return await seen.look(
        { instanceNamePrefix: "", platform, sizeClass: 0 },
        10,
        AbortSignal.timeout(10_000),
      );
    };
    for (const address of caches) {
      using cache = new RemoteCache(address, { ...tls, pair: member });
      await cache.readBlob(`input of ${used[0]}`).catch((error: unknown) => {
        // It is on another shard.
        expect(error).toMatchObject({ code: 5 });
      });
    }
    expect(await look(member)).toMatchObject({ queued: 0 });
    for (const [, pair] of foreignPairsOf(authority, tls.serverName)) {
      for (const address of caches) {
        using cache = new RemoteCache(address, { ...tls, ...(pair && { pair }) });
        const answer = cache.hasBlob(`input of ${used[0]}`);
        await expect(answer).rejects.toMatchObject({ name: "CallError" });
      }
      await expect(look(pair)).rejects.toMatchObject({ name: "GrpcError" });
    }
    for (const address of caches) {
      using plain = new RemoteCache(address);
      await expect(plain.hasBlob("anything")).rejects.toMatchObject({ name: "CallError" });
    }
  });

  test("one is drained, and then lost: no build fails, and what is used stays", {
    timeout: 300_000,
  }, async () => {
    await change({ drained: [1] }, "3w1.6d1", useAll);
    const stop = new AbortController();
    const going = builds.keepOn(used, stop.signal);
    await loseVolumes(world, "storage-1");
    stop.abort();
    await going;
    expect(builds.failures).toEqual([]);
    expect(await builds.misses(used)).toEqual([]);
    expect(await keptBy("storage-1")).toEqual([]);
  });

  test("all are used again, and become pairs", { timeout: 300_000 }, async () => {
    await change({ drained: null, mirrored: true }, "3w1.6m", useAll);
    // New results are written to both of a pair.
    const fresh = used.map((action) => `${action}, in pairs`);
    await builds.fill(fresh);
    expect(await keptBy("storage", fresh)).toEqual(fresh);
    expect(await keptBy("storage-b", fresh)).toEqual(fresh);
    used.push(...fresh);
  });

  test("one of a pair loses its volume: what builds have used is still there", {
    timeout: 300_000,
  }, async () => {
    const { client } = world.cluster;
    await refilled(mirrorsLack);
    const claim = async () => (await client.get(PersistentVolumeClaim, key("cas-storage-1"))).metadata.uid;
    const before = await claim();
    await loseVolumes(world, "storage-1");
    expect(await claim()).not.toBe(before);
    await ready();
    expect((await firstsLack()).length).toBeGreaterThan(0);
    expect(await builds.misses(used)).toEqual([]);
    await refilled(firstsLack);
  });

  test("pairs become single ones again, and lose nothing", { timeout: 300_000 }, async () => {
    await change({ mirrored: false }, "3w1.6");
    const { cluster, namespace } = world;
    const { client } = cluster;
    const { items } = await client.list(Pod, { namespace, labelSelector: "app=storage" });
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      "storage-0",
      "storage-1",
      "storage-2",
    ]);
    // Those of the mirrors are kept, as deletionPolicy says.
    const claims = await client.list(PersistentVolumeClaim, { namespace });
    expect(claims.items).toHaveLength(12);
  });
});
