import { once } from "node:events";
import { sleep, systemClock } from "@windlass/clock";
import { Lease } from "@windlass/runtime/kinds";
import { afterAll, beforeAll, test } from "vitest";
import { election } from "./election.ts";
import { record } from "./record.ts";
import { neverBoth, startReplica } from "./replicas.ts";
import { ChaosHarness } from "./world.ts";

let world: ChaosHarness;
beforeAll(async () => {
  world = await ChaosHarness.start();
});
afterAll(() => world[Symbol.asyncDispose]());

test.concurrent("writes that a partition delayed do not arrive when it heals and another leads", async ({
  expect,
}) => {
  const population = await world.openNamespace();
  await using leader = await startReplica(world, population.namespace, "a");
  await leader.leads();
  await using standby = await startReplica(world, population.namespace, "b");
  await population.grow(20);
  await population.converged(30_000);
  const changes = population.churn(200);
  const before = leader.proxy.writes.length;
  await expect
    .poll(() => leader.proxy.writes.length, { interval: 1, timeout: 20_000 })
    .toBeGreaterThan(before + 20);
  leader.link.cut();
  const cutAt = performance.now();
  await changes;
  await standby.leads();
  await expect.poll(() => standby.proxy.writes.length, { timeout: 20_000 }).toBeGreaterThan(20);
  leader.link.mend();
  await population.converged(30_000);
  await sleep(systemClock, 3_000);
  expect(neverBoth(leader, standby)).toBe(true);
  expect(leader.link.takenBack, "bytes of writes that were under way").toBeGreaterThan(0);
  const takeoverMs = Math.round((standby.proxy.writes[0]?.at ?? 0) - cutAt);
  await record("leader partitioned while it writes, healed after another leads, lease of 6 s", {
    takeoverMs,
    bytesTakenBack: leader.link.takenBack,
  });
});

test.concurrent("a leader whose work does not stop in time neither holds the lease nor writes once run has ended", async ({
  expect,
}) => {
  const population = await world.openNamespace();
  const { namespace } = population;
  await using leader = await startReplica(world, namespace, "a", { isStubborn: true });
  await leader.leads();
  await using standby = await startReplica(world, namespace, "b");
  await population.grow(10);
  await population.converged(30_000);
  const ended = once(leader.process, "message");
  leader.process.kill("SIGTERM");
  await ended;
  const endedAt = performance.now();
  const { spec } = await world.client.get(Lease, { namespace, name: election.name });
  expect(spec?.holderIdentity, "left to expire").toBe("a");
  await standby.leads();
  await population.churn(20);
  await population.converged(20_000);
  const takeoverMs = Math.round((standby.proxy.writes[0]?.at ?? 0) - endedAt);
  expect(leader.process.exitCode, "it is still there, and still tries to write").toBeNull();
  expect(leader.proxy.writes.every(({ at }) => at < endedAt)).toBe(true);
  expect(neverBoth(leader, standby)).toBe(true);
  await record("leader's work hung past the grace period, lease of 6 s", { takeoverMs });
});
