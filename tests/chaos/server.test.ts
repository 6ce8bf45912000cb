import { sleep, systemClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { record } from "./record.ts";
import { ChaosHarness } from "./world.ts";

let world: ChaosHarness;
beforeAll(async () => {
  world = await ChaosHarness.start();
});
afterAll(() => world[Symbol.asyncDispose]());

test("an API server that is killed and comes back is found again, and nothing of what happened next is lost", async () => {
  const population = await world.openNamespace();
  await using operator = await world.startOperator(population.namespace);
  await population.grow(50);
  await population.converged(30_000);

  await world.control.apiServer.kill();
  await sleep(systemClock, 8_000);
  await world.control.apiServer.restart();
  const backAt = performance.now();
  await population.churn(40);
  await population.converged(20_000);
  const recoveredMs = Math.round(performance.now() - backAt);
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  await record("API server killed with -9, down for 8 s", { objects: population.wanted.size, recoveredMs });
});

test("an operator that was cut off while history was compacted away lists again at once", async () => {
  const population = await world.openNamespace();
  await using operator = await world.startOperator(population.namespace);
  await population.grow(50);
  await population.converged(30_000);

  operator.proxy.unplug();
  await population.churn(60);
  await world.control.apiServer.kill();
  await world.control.etcd.compact();
  await world.control.apiServer.restart();
  const before = operator.proxy.passed.length;
  operator.proxy.plugIn();
  const recoveredMs = await population.converged(20_000);
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  const since = operator.proxy.passed.slice(before).filter(({ isWatch }) => isWatch);
  const relists = since.filter(({ path }) => path.includes("sendInitialEvents=true")).length;
  const { expirations } = operator.proxy;
  expect(expirations).toBeGreaterThanOrEqual(1);
  expect(relists).toBeGreaterThanOrEqual(1);
  await record("etcd compacted while cut off (410)", {
    objects: population.wanted.size,
    recoveredMs,
    expirations,
    relists,
  });
});
