import { seededRandom, sleep, systemClock } from "@windlass/clock";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fastClock, JumpingClock } from "./clocks.ts";
import { election } from "./election.ts";
import { record } from "./record.ts";
import { neverBoth, startReplica } from "./replicas.ts";
import { ChaosHarness } from "./world.ts";

const hour = 3_600_000;

let world: ChaosHarness;
beforeAll(async () => {
  world = await ChaosHarness.start();
});
afterAll(() => world[Symbol.asyncDispose]());

test.concurrent("connections that go silent without closing are abandoned, and what happened meanwhile is seen", async () => {
  const population = await world.openNamespace();
  // Two minutes of patience pass in twelve seconds.
  await using operator = await world.startOperator(population.namespace, { clock: fastClock(10) });
  await population.grow(30);
  await population.converged(30_000);
  operator.proxy.goSilent();
  await population.churn(40);
  const recoveredMs = await population.converged(25_000);
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  await record("connections cut half-open, time 10 times as fast", {
    objects: population.wanted.size,
    recoveredMs,
  });
});

test.concurrent("answers of 429 and 500 delay the work and lose none of it", async () => {
  const population = await world.openNamespace();
  await using operator = await world.startOperator(population.namespace);
  await population.grow(30);
  const random = seededRandom(7);
  let injected = 0;
  operator.proxy.fault = () => {
    const chance = random.next();
    if (chance > 0.3) return undefined;
    injected += 1;
    return chance < 0.15 ? { status: 429, headers: { "retry-after": "1" } } : { status: 500 };
  };
  await population.churn(60);
  await sleep(systemClock, 8_000);
  operator.proxy.fault = () => undefined;
  const recoveredMs = await population.converged(30_000);
  expect(injected).toBeGreaterThan(20);
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  await record("three in ten requests answered with 429 or 500", { injected, recoveredMs });
});

test.concurrent("when the leader is killed another takes over, and the two never both write", async () => {
  const population = await world.openNamespace();
  await using leader = await startReplica(world, population.namespace, "a");
  await leader.leads();
  await using standby = await startReplica(world, population.namespace, "b");
  await population.grow(30);
  await population.converged(30_000);
  const changes = population.churn(30);
  const killedAt = performance.now();
  leader.process.kill("SIGKILL");
  await changes;
  await population.converged(40_000);
  expect(neverBoth(leader, standby)).toBe(true);
  const takeoverMs = Math.round((standby.proxy.writes[0]?.at ?? 0) - killedAt);
  await record("leader killed with -9, lease of 6 s", { takeoverMs, writes: standby.proxy.writes.length });
});

test.concurrent("an event loop that stands still for 20 s keeps the lease, and catches up", async () => {
  const population = await world.openNamespace();
  await using leader = await startReplica(world, population.namespace, "a");
  await leader.leads();
  await using standby = await startReplica(world, population.namespace, "b");
  await population.grow(20);
  await population.converged(30_000);
  const stalledAt = performance.now();
  leader.stall(20_000);
  await sleep(systemClock, 500);
  await population.churn(20);
  await population.converged(45_000);
  const caughtUpMs = Math.round(performance.now() - stalledAt - 20_000);
  expect(caughtUpMs).toBeGreaterThan(-500);
  expect(standby.proxy.writes).toEqual([]);
  await record("event loop stalled for 20 s, lease of 6 s", { caughtUpMs });
});

test.concurrent("a leader that was stopped for longer than its lease writes nothing when it wakes", async () => {
  const population = await world.openNamespace();
  await using leader = await startReplica(world, population.namespace, "a");
  await leader.leads();
  await using standby = await startReplica(world, population.namespace, "b");
  await population.grow(20);
  await population.converged(30_000);
  leader.process.kill("SIGSTOP");
  const stoppedAt = performance.now();
  await population.churn(20);
  await population.converged(40_000);
  const takeoverMs = Math.round((standby.proxy.writes[0]?.at ?? 0) - stoppedAt);
  leader.process.kill("SIGCONT");
  await population.churn(20);
  await population.converged(30_000);
  await sleep(systemClock, 3_000);
  expect(neverBoth(leader, standby)).toBe(true);
  await record("leader's process stopped until another leads, then woken", { takeoverMs });
});

test.concurrent("a wall clock that jumps by hours, either way, changes nothing", async () => {
  const population = await world.openNamespace();
  const clock = new JumpingClock();
  await using operator = await world.startOperator(population.namespace, {
    clock,
    leaderElection: { ...election, namespace: population.namespace, identity: "a" },
  });
  await population.grow(10);
  await population.converged(30_000);
  let slowestMs = 0;
  for (const jump of [2 * hour, -5 * hour, 24 * hour, -1_000]) {
    clock.jump(jump);
    await population.churn(10);
    slowestMs = Math.max(slowestMs, await population.converged(20_000));
    expect(operator.manager.isLeading).toBe(true);
  }
  expect(await population.isMirroredBy(operator.cache)).toBe(true);
  await record("wall clock set by hours, four times", { slowestMs });
});
