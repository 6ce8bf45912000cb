import { sleep, systemClock } from "@windlass/clock";
import { ConfigMap } from "@windlass/runtime/kinds";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Gadget } from "./gadget.ts";
import { record } from "./record.ts";
import { ChaosHarness } from "./world.ts";

let world: ChaosHarness;
beforeAll(async () => {
  world = await ChaosHarness.start();
});
afterAll(() => world[Symbol.asyncDispose]());

/**
 * Deletes the children that were created again for owners which the server had lost: there is no
 * garbage collector here.
 */
async function collectGarbage(namespace: string): Promise<void> {
  const { client } = world;
  const owners = new Set(
    (await client.list(Gadget, { namespace })).items.map(({ metadata }) => metadata.uid),
  );
  for (const { metadata } of (await client.list(ConfigMap, { namespace })).items) {
    const isOrphan = metadata.ownerReferences?.some(({ uid }) => !owners.has(uid));
    if (isOrphan) await client.delete(ConfigMap, { namespace, name: metadata.name });
  }
}

test("a backup that is put back is noticed, and the operator works on what the server has then", async () => {
  const population = await world.openNamespace();
  await using operator = await world.startOperator(population.namespace);
  await population.grow(30);
  await population.converged(30_000);
  const backedUp = new Map(population.wanted);
  const restore = await world.control.etcd.backUp();
  await population.churn(120);
  await population.converged(30_000);

  await restore();
  population.wanted.clear();
  for (const [name, text] of backedUp) population.wanted.set(name, text);
  const restoredAt = systemClock.monotonic();
  // A watch that goes on from the server's future receives nothing, and is abandoned after two
  // minutes.
  while (!(await population.isMirroredBy(operator.cache))) {
    expect(systemClock.monotonic() - restoredAt).toBeLessThan(180_000);
    await sleep(systemClock, 500);
  }
  const noticedMs = Math.round(systemClock.monotonic() - restoredAt);
  await collectGarbage(population.namespace);
  await population.churn(40);
  await population.converged(30_000);
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  await record("etcd put back to a backup, 120 changes earlier", { objects: backedUp.size, noticedMs });
}, 400_000);
