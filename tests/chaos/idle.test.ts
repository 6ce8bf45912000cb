import { sleep, systemClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { record } from "./record.ts";
import { ChaosHarness } from "./world.ts";

let world: ChaosHarness;
beforeAll(async () => {
  world = await ChaosHarness.start();
});
afterAll(() => world[Symbol.asyncDispose]());

test("with 1,000 objects settled, a minute passes with no write and no read but the watches", async () => {
  const population = await world.openNamespace();
  await using operator = await world.startOperator(population.namespace);
  await population.grow(1_000);
  const settledMs = await population.converged(90_000);
  const writesToSettle = operator.proxy.writes.length;
  const before = operator.proxy.passed.length;
  await sleep(systemClock, 60_000);
  const since = operator.proxy.passed.slice(before);
  const writes = since.filter(({ method }) => method !== "GET");
  const reads = since.filter(({ method, isWatch }) => method === "GET" && !isWatch);
  expect(writes).toEqual([]);
  expect(reads).toEqual([]);
  await record("a settled minute with 1,000 objects", {
    writesToSettle,
    settledMs,
    writes: writes.length,
    readsButWatches: reads.length,
    watchesOpened: since.filter(({ isWatch }) => isWatch).length,
  });
});
