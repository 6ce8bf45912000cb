import { once } from "node:events";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { callOn, until, World } from "./world.fixture.ts";

async function liveWorld() {
  const clock = new ManualClock(Date.now());
  const world = await World.start({ clock });
  const { pair } = world.allocate(await world.worker());
  const session = await world.open(pair);
  expect(await callOn(session)).toMatchObject({ status: 0 });
  return { clock, world, pair, session };
}

test("a gateway that drains is not ready, still takes connections for a while, and then no more", async () => {
  const live = await liveWorld();
  await using world = live.world;
  expect(world.gateway.fault()).toBeUndefined();
  const drained = world.gateway.drain({ acceptFor: "5s", within: "1h" });
  expect(world.gateway.fault()).toBe("shutting down");
  expect(await world.call(live.pair)).toMatchObject({ status: 0 });
  await live.clock.advance(5_000);
  await expect(world.call(live.pair)).rejects.toThrow("ECONNREFUSED");
  expect(await callOn(live.session)).toMatchObject({ status: 0 });
  live.session.close();
  await drained;
  expect(world.gateway.connections).toBe(0);
});

test("connections that are left at the deadline are cut, and told why", async () => {
  const live = await liveWorld();
  await using world = live.world;
  const words = once(live.session, "goaway") as Promise<[number, number, Buffer]>;
  const drained = world.gateway.drain({ acceptFor: "5s", within: "1h" });
  await live.clock.advance(5_000 + 3_599_999);
  expect(await callOn(live.session)).toMatchObject({ status: 0 });
  await live.clock.advance(1);
  const [, , data] = await words;
  expect(data.toString()).toBe("this gateway is shutting down: connect again to reach another");
  await drained;
});

test("a client that came before the end and waits for its worker is served", async () => {
  const live = await liveWorld();
  await using world = live.world;
  const issued = world.pki.token();
  world.table.set(issued.allocation, { at: "starting", worker: "ci-worker-2" });
  const answer = world.call(world.certificate(issued));
  await until(() => live.clock.pending > 0);
  const drained = world.gateway.drain({ acceptFor: 0, within: "1h" });
  const worker = await world.worker();
  world.table.set(issued.allocation, { at: "ready", worker: worker.address });
  expect(await answer).toMatchObject({ status: 0, worker: "ci-worker-2" });
  live.session.close();
  await drained;
});

test("revocations count while a gateway drains", async () => {
  const clock = new ManualClock(Date.now());
  await using world = await World.start({ clock });
  const { pair, allocation } = world.allocate(await world.worker());
  const session = await world.open(pair);
  await callOn(session);
  const drained = world.gateway.drain({ acceptFor: 0, within: "1h" });
  world.table.set(allocation, { at: "revoked", reason: "quota" });
  await drained;
});
