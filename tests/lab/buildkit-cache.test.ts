import { execFileSync } from "node:child_process";
import type { NamespacedKey } from "@windlass/runtime";
import { ConfigMap, Pod } from "@windlass/runtime/kinds";
import { waitFor, waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildKitWorker, isClaimable } from "../../operators/buildkit/src/index.ts";
import { build } from "../../operators/buildkit/testing/gateway-build.ts";
import { type Allocated, LabOperator } from "../../operators/buildkit/testing/lab-operator.ts";

/** Whether a second build finds what the first has left, on workers that come and go. */
let operator: LabOperator;
let namespace: string;

beforeAll(async () => {
  operator = await LabOperator.start(2);
  namespace = await operator.createNamespace();
}, 600_000);
afterAll(() => operator[Symbol.asyncDispose](), 300_000);

const told = (what: string, figure: string) => process.stdout.write(`  ${what}: ${figure}\n`);
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const workerOf = ({ pool, workerName }: Allocated): NamespacedKey => ({
  namespace: pool.namespace,
  name: workerName,
});
/** A project whose build takes its time: it hashes what it has made, over and over. */
const project = (name: string) => [
  `RUN echo ${name} > /seed && /bin/busybox dd if=/dev/zero of=/big bs=1048576 count=64 && cat /seed >> /big`,
  "RUN for round in 1 2 3 4 5 6 7 8; do /bin/busybox sha256sum /big; done > /sums",
  "RUN /bin/busybox sort /sums > /sorted",
];
const cachedSteps = (output: string) => output.match(/CACHED/g)?.length ?? 0;
const volumeOf = async (key: NamespacedKey) => {
  const { spec } = await operator.client.get(Pod, key);
  return spec?.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])[0];
};

describe.each(["privileged", "rootless"] as const)("%s workers with volumes", (profile) => {
  const key = () => ({ namespace, name: `kept-${profile}` });
  const release = async (allocated: Allocated) => {
    await operator.release(allocated);
    await waitForDeletion(operator.client, BuildKitWorker, workerOf(allocated), { timeout: 60_000 });
  };

  beforeAll(
    () =>
      operator.createPool(namespace, `kept-${profile}`, {
        profile,
        scaling: { max: 3, scaleDownDelay: "1s" },
        cache: { persistent: { size: "2Gi" } },
      }),
    300_000,
  );
  afterAll(() => operator.deletePool(key()), 300_000);

  test("a project's second build, on another worker, finds every step of the first", async () => {
    const first = await operator.allocate(key(), { affinityKey: "shop" });
    const cold = await build(operator.client, first, { steps: project("shop") });
    expect(cold).toMatchObject({ code: 0 });
    expect(cachedSteps(cold.output)).toBe(0);
    const volume = await volumeOf(workerOf(first));
    const { metadata } = await operator.client.get(BuildKitWorker, workerOf(first));
    await release(first);
    // Another client's build comes between, and must not be given the project's volume while
    // another is free.
    const other = await operator.allocate(key(), { affinityKey: "blog" });
    expect(await volumeOf(workerOf(other))).not.toBe(volume);
    await release(other);
    const second = await operator.allocate(key(), { affinityKey: "shop" });
    expect(await volumeOf(workerOf(second))).toBe(volume);
    expect((await operator.client.get(BuildKitWorker, workerOf(second))).metadata.uid).not.toBe(metadata.uid);
    const warm = await build(operator.client, second, { steps: project("shop") });
    expect(warm).toMatchObject({ code: 0 });
    expect(cachedSteps(warm.output)).toBeGreaterThanOrEqual(project("shop").length);
    told(`${profile}: first build`, seconds(cold.ms));
    told(`${profile}: the same on another worker with the project's volume`, seconds(warm.ms));
    told(`${profile}: times as fast`, (cold.ms / warm.ms).toFixed(1));
    expect(warm.ms).toBeLessThan(cold.ms);
    // A second of the same project at the same time has another volume: no two daemons may have
    // one.
    const third = await operator.allocate(key(), { affinityKey: "shop" });
    expect(await volumeOf(workerOf(third))).not.toBe(volume);
    await Promise.all([release(second), release(third)]);
  });
});

test("while a project's worker is idle, its next build gets it, though others are idle too", async () => {
  const key = { namespace, name: "warm" };
  await operator.createPool(namespace, "warm", { scaling: { min: 3, max: 4, scaleDownDelay: "10m" } });
  await operator.pool(key, ({ status }) => status?.workers?.idle === 3);
  const homes = new Map<string, string>();
  for (const name of ["shop", "blog", "wiki"]) {
    const allocated = await operator.allocate(key, { affinityKey: name });
    expect(await build(operator.client, allocated, { steps: project(name) })).toMatchObject({ code: 0 });
    homes.set(name, allocated.workerName);
    await operator.release(allocated);
    await waitFor(operator.client, BuildKitWorker, workerOf(allocated), isClaimable);
  }
  expect(new Set(homes.values()).size).toBe(3);
  for (const name of ["wiki", "shop", "blog", "shop"]) {
    const allocated = await operator.allocate(key, { affinityKey: name });
    expect(allocated.workerName).toBe(homes.get(name));
    const { output, ms } = await build(operator.client, allocated, { steps: project(name) });
    expect(cachedSteps(output)).toBeGreaterThanOrEqual(project(name).length);
    told(`${name} again, on its own worker`, seconds(ms));
    await operator.release(allocated);
    await waitFor(operator.client, BuildKitWorker, workerOf(allocated), isClaimable);
  }
  await operator.deletePool(key);
});

test("buildkitd takes the generated configuration over as it stands, and keeps its cache by it", async () => {
  const key = { namespace, name: "toml" };
  await operator.createPool(namespace, "toml", {
    scaling: { min: 1, max: 1 },
    maxParallelism: 3,
    cache: { gc: { reservedSpace: "1Gi", maxUsedSpace: "5Gi", minFreeSpace: "1Gi", keepDuration: "240h" } },
  });
  const { data } = await operator.client.get(ConfigMap, { namespace, name: "toml-config" });
  const policies = data?.["buildkitd.toml"]?.match(/\[\[worker\.oci\.gcpolicy\]\]/g) ?? [];
  const allocated = await operator.allocate(key);
  const inWorker = (...args: string[]) =>
    execFileSync(
      "kubectl",
      ["exec", "-n", namespace, allocated.workerName, "-c", "buildkitd", "--", "buildctl", ...args],
      { encoding: "utf8" },
    );
  const shown = inWorker("debug", "workers", "-v");
  expect(shown.match(/GC Policy rule#/g)).toHaveLength(policies.length);
  expect(shown).toMatch(/Reserved space:\s+1\.073741824GB/);
  expect(shown).toMatch(/Maximum used space:\s+5\.36870912GB/);
  expect(shown).toMatch(/Minimum free space:\s+1\.073741824GB/);
  expect(shown).toMatch(/Keep duration:\s+240h0m0s/);
  expect(await build(operator.client, allocated, { steps: project("kept") })).toMatchObject({ code: 0 });
  // buildkitd collects a minute after it became idle at the latest.
  await new Promise((resolve) => setTimeout(resolve, 75_000));
  const again = await build(operator.client, allocated, { steps: project("kept") });
  expect(cachedSteps(again.output)).toBeGreaterThanOrEqual(project("kept").length);
  told(
    "cache after 75 s without a build",
    inWorker("du")
      .split("\n")
      .find((line) => line.startsWith("Total")) ?? "",
  );
  await operator.release(allocated);
  await operator.deletePool(key);
}, 240_000);
