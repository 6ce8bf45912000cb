import { waitForCondition } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "../../operators/buildbarn/src/index.ts";
import { EmbeddedTestEnvironment } from "../../operators/buildbarn/testing/embedded-test-environment.ts";

/**
 * Five hundred resources: a hundred sets with four components each. On the embedded control plane,
 * for one machine cannot run their pods.
 */
const sets = Array.from({ length: 100 }, (_, number) => `set${number}`);
const components = [
  [BuildbarnStorage, "storage"],
  [BuildbarnScheduler, "scheduler"],
  [BuildbarnFrontend, "frontend"],
  [BuildbarnWorker, "linux"],
] as const;
const wait = { timeout: 600_000 };

let world: EmbeddedTestEnvironment;
beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
  const began = performance.now();
  for (const name of sets)
    await world.create(BuildbarnCluster, name, {
      storage: { replicas: 1, minReadySeconds: 0 },
      scheduler: { minReadySeconds: 0 },
      frontend: { replicas: 1, minReadySeconds: 0, serviceType: "ClusterIP" },
      workers: [{ name: "linux", replicas: 1, minReadySeconds: 0 }],
    });
  for (const name of sets)
    await waitForCondition(world.client, BuildbarnCluster, world.key(name), "Ready", "True", wait);
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  process.stdout.write(
    `500 resources were ready after ${seconds} s, with ${world.replica.writes.length} writes\n`,
  );
}, 900_000);
afterAll(() => world.close(), 120_000);

/** Resolves once so many more reconciles have ended, with what was written meanwhile. */
async function writesDuring(count: number, cause: () => Promise<void>): Promise<readonly string[]> {
  const { replica } = world;
  const written = replica.writes.length;
  const before = replica.reconciles;
  await cause();
  await expect.poll(() => replica.reconciles - before, { timeout: 120_000 }).toBeGreaterThanOrEqual(count);
  return replica.writes.slice(written);
}

test("are reconciled without a write when a user reads each of them", { timeout: 300_000 }, async () => {
  const written = await writesDuring(500, async () => {
    for (const set of sets) {
      const touch = {
        type: "merge",
        patch: { metadata: { annotations: { "example.com/seen": "1" } } },
      } as const;
      await world.client.patch(BuildbarnCluster, world.key(set), touch);
      for (const [kind, name] of components)
        await world.client.patch(kind, world.key(`${set}-${name}`), touch);
    }
  });
  expect(written).toEqual([]);
});

test("are taken over by another replica without a write", { timeout: 300_000 }, async () => {
  const { replica } = world;
  replica.kill();
  const written = replica.writes.length;
  await replica.start();
  await expect.poll(() => replica.reconciles, { timeout: 200_000 }).toBeGreaterThanOrEqual(500);
  expect(replica.writes.slice(written)).toEqual([]);
});
