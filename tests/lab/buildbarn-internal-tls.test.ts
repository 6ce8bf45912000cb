import { type Authority, createAuthority, type KeyPair } from "@windlass/certificates";
import { systemClock } from "@windlass/clock";
import { ConfigMap, Pod, Secret, Service } from "@windlass/runtime/kinds";
import { waitFor, waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnStorage,
  BuildbarnWorker,
} from "../../operators/buildbarn/src/index.ts";
import { Bazel, type Built } from "../../operators/buildbarn/testing/bazel.ts";
import {
  fingerprintOf,
  foreignPairsOf,
  pairOf,
  shownBy,
} from "../../operators/buildbarn/testing/certificates.ts";
import {
  type LabTestEnvironment,
  labSpecs,
  labTestEnvironment,
  loseVolumes,
  withoutVersion,
} from "../../operators/buildbarn/testing/lab-test-environment.ts";
import { RemoteCache } from "../../operators/buildbarn/testing/remote-cache.ts";

/**
 * A whole set whose components use TLS among themselves, and a real Bazel that builds while its
 * certificates and its shards change.
 */
const actions = 20;
const wait = { timeout: 180_000 };
const small = { requests: { cpu: "10m", memory: "32Mi" } };
const first = createAuthority({ commonName: "first", validFor: "1h" });
const second = createAuthority({ commonName: "second", validFor: "1h" });

let world: LabTestEnvironment;
let bazel: Bazel;
let member: KeyPair;
let salt = 0;
const key = (name: string) => ({ namespace: world.namespace, name });
const next = () => `${Date.now()}-${salt++}`;
const serverName = () => `bb.${world.namespace}.svc`;

async function certify(authority: Authority): Promise<void> {
  member = pairOf(authority, serverName());
  const stringData = { "tls.crt": member.certificate, "tls.key": member.key };
  await world.cluster.client.patch(Secret, key("pair"), { type: "merge", patch: { stringData } });
}

const trust = (...authorities: readonly Authority[]) =>
  world.cluster.client.patch(ConfigMap, key("authorities"), {
    type: "merge",
    patch: { data: { "ca.crt": authorities.map(({ certificate }) => certificate).join("") } },
  });

beforeAll(async () => {
  world = await labTestEnvironment("buildbarn-internal-tls", () => Promise.resolve(member));
  const { client } = world.cluster;
  const { storage, frontend, scheduler } = labSpecs("2025-02");
  await client.create(Secret, {
    metadata: key("pair"),
    type: "kubernetes.io/tls",
    stringData: { "tls.crt": "", "tls.key": "" },
  });
  await client.create(ConfigMap, { metadata: key("authorities"), data: {} });
  await certify(first);
  await trust(first);
  await client.create(BuildbarnCluster, {
    metadata: key("bb"),
    spec: {
      version: "2025-02",
      storage: {
        ...withoutVersion(storage),
        weights: [1, 2],
        replicas: 3,
        resharding: { hold: "15s" },
        internalTls: { secretName: "pair", configMapName: "authorities" },
      },
      frontend: { ...withoutVersion(frontend), probe: { interval: "1h" } },
      scheduler: withoutVersion(scheduler),
      workers: [
        {
          name: "linux",
          image: "ghcr.io/buildbarn/bb-worker:2025",
          runnerImage: "build-actions:2025",
          runnerInstallerImage: "ghcr.io/buildbarn/bb-runner-installer:2025",
          volumeInitImage: "busybox:1.35",
          platform: [{ name: "OSFamily", value: "linux" }],
          autoscaling: { minReplicas: 2, maxReplicas: 2 },
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
  const { spec } = await client.get(Service, key("bb-frontend"));
  bazel = await Bazel.start(`grpc://${spec?.clusterIP}:8980`, actions);
}, 300_000);
afterAll(async () => {
  await bazel?.[Symbol.asyncDispose]();
  await world?.close();
}, 120_000);

/**
 * Has Bazel build until something has happened, and a little longer. No build may fail, and all
 * that was built stays.
 */
async function building(what: string, happened: Promise<unknown>): Promise<void> {
  const began = systemClock.monotonic();
  const { cached, fresh } = await bazel.buildUntil(happened, next);
  const after = await bazel.build({ targets: ["//:all_small"] });
  const all = [...cached, ...fresh, after, await bazel.build({ targets: ["//:second0"], salt: next() })];
  const failed = all.filter(({ ok }) => !ok);
  const figures = {
    seconds: Math.round(systemClock.monotonic() - began) / 1_000,
    builds: all.length,
    failed: failed.length,
    fewestHits: Math.min(...cached.filter(({ ok }) => ok).map(({ hits }) => hits)),
    hitsAfter: after.hits,
    slowest: Math.max(...all.map(({ seconds }) => seconds)),
  };
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
  expect(failed.map(({ output }) => output.slice(-2_000))).toEqual([]);
  expect(after.hits).toBe(actions);
  expect(cached.map(({ hits }: Built) => hits)).toEqual(cached.map(() => actions));
}

/** Resolves once the shards are of a layout, and the set is as it should be. */
async function reshaped(storage: object, to: string): Promise<void> {
  const { client } = world.cluster;
  await client.patch(BuildbarnCluster, key("bb"), { type: "merge", patch: { spec: { storage } } });
  await waitFor(
    client,
    BuildbarnStorage,
    key("bb-storage"),
    ({ status }) =>
      status?.resharding?.phase === "Stable" &&
      to === (status.resharding.layout?.to ?? String(status.resharding.to)),
    wait,
  );
  await waitForCondition(client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
}

async function podsOf(app: string) {
  const { items } = await world.cluster.client.list(Pod, {
    namespace: world.namespace,
    labelSelector: `app=${app}`,
  });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}
const pods = async () =>
  (await Promise.all(["storage", "frontend", "scheduler", "worker"].map(podsOf))).flat();
const uids = async () =>
  (await pods()).map(({ metadata }) => metadata.uid ?? "").toSorted((a, b) => (a < b ? -1 : 1));

test("Bazel builds, the operator reads the queue and runs its probe, and other clients are refused", async () => {
  const { client } = world.cluster;
  const built = await bazel.build({ targets: ["//:all_small"] });
  expect(built.ok ? "" : built.output).toBe("");
  await waitForCondition(client, BuildbarnStorage, key("bb-storage"), "CertificateValid", "True", wait);
  expect((await bazel.build({ targets: ["//:all_small"] })).hits).toBe(actions);
  await waitForCondition(client, BuildbarnWorker, key("bb-linux"), "AutoscalingActive", "True", wait);
  await waitForCondition(client, BuildbarnFrontend, key("bb-frontend"), "ProbeSucceeded", "True", wait);
  const [shard] = await podsOf("storage");
  const address = `${shard?.status?.podIP}:8981`;
  const tls = { authorities: first.certificate, serverName: serverName() };
  using own = new RemoteCache(address, { ...tls, pair: member });
  expect(await own.hasBlob("nothing that was ever built")).toBe(false);
  for (const [, pair] of foreignPairsOf(first, serverName())) {
    using foreignClient = new RemoteCache(address, { ...tls, ...(pair && { pair }) });
    await expect(foreignClient.hasBlob("nothing")).rejects.toMatchObject({ name: "CallError" });
  }
}, 300_000);

test("another certificate is shown by all who run, and fails no build", { timeout: 400_000 }, async () => {
  const before = await uids();
  await certify(first);
  await building("another certificate", shownByAll(first));
  expect(await uids()).toEqual(before);
});

test("another authority takes the place of the first, by way of both, and fails no build", {
  timeout: 600_000,
}, async () => {
  await building(
    "both authorities",
    rolled(() => trust(first, second)),
  );
  const before = await uids();
  await certify(second);
  await building("a certificate of the second", shownByAll(second));
  expect(await uids()).toEqual(before);
  await building(
    "the second authority alone",
    rolled(() => trust(second)),
  );
  const [shard] = await podsOf("storage");
  const late = pairOf(first, serverName());
  using foreignClient = new RemoteCache(`${shard?.status?.podIP}:8981`, {
    authorities: second.certificate,
    serverName: serverName(),
    pair: late,
  });
  await expect(foreignClient.hasBlob("nothing")).rejects.toMatchObject({ name: "CallError" });
});

/** Resolves once every program that listens for others of its set shows the present certificate. */
async function shownByAll(authority: Authority): Promise<void> {
  const began = systemClock.monotonic();
  const tls = { authorities: authority.certificate, serverName: serverName() };
  for (const [app, port] of [
    ["storage", 8981],
    ["frontend", 8979],
    ["scheduler", 8983],
  ] as const)
    for (const { status } of await podsOf(app)) {
      const shown = () => shownBy(`${status?.podIP}:${port}`, tls).catch((error: unknown) => String(error));
      await expect.poll(shown, { timeout: 200_000, interval: 1_000 }).toBe(fingerprintOf(member));
    }
  const seconds = Math.round((systemClock.monotonic() - began) / 1_000);
  process.stdout.write(`all show the present certificate after ${seconds} s\n`);
}

/** Changes the authorities, and resolves once every pod was replaced. */
async function rolled(change: () => Promise<unknown>): Promise<void> {
  const before = new Set(await uids());
  await change();
  const left = async () =>
    (await pods())
      .filter(({ metadata }) => before.has(metadata.uid ?? ""))
      .map(({ metadata }) => metadata.name);
  await expect.poll(left, { timeout: 180_000, interval: 1_000 }).toEqual([]);
  await waitForCondition(world.cluster.client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
}

test("a shard is drained while Bazel builds", { timeout: 400_000 }, async () => {
  await building("drained", reshaped({ drained: [1] }, "3w1.2d1"));
});

test("shards become pairs while Bazel builds; one of a pair loses its volume, and the cache is kept", {
  timeout: 600_000,
}, async () => {
  await building("in pairs", reshaped({ drained: null, mirrored: true }, "3w1.2m"));
  await loseVolumes(world, "bb-storage-b-0");
  await waitForCondition(world.cluster.client, BuildbarnCluster, key("bb"), "Ready", "True", wait);
  await building("with an empty volume", Promise.resolve());
});

test("pairs become single ones again while Bazel builds", { timeout: 400_000 }, async () => {
  await building("single again", reshaped({ mirrored: false }, "3w1.2"));
});
