import { once } from "node:events";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { callOn, TestEnvironment, until } from "./environment.fixture.ts";

async function liveWorld() {
  const clock = new ManualClock(Date.now());
  const environment = await TestEnvironment.start({ clock });
  const { pair } = environment.allocate(await environment.worker());
  const session = await environment.open(pair);
  expect(await callOn(session)).toMatchObject({ status: 0 });
  return { clock, environment, pair, session };
}

test("a gateway that drains is not ready, still takes connections for a while, and then no more", async () => {
  const live = await liveWorld();
  await using environment = live.environment;
  expect(environment.gateway.fault()).toBeUndefined();
  const drained = environment.gateway.drain({ acceptFor: "5s", within: "1h" });
  expect(environment.gateway.fault()).toBe("shutting down");
  expect(await environment.call(live.pair)).toMatchObject({ status: 0 });
  await live.clock.advance(5_000);
  await expect(environment.call(live.pair)).rejects.toThrow("ECONNREFUSED");
  expect(await callOn(live.session)).toMatchObject({ status: 0 });
  live.session.close();
  await drained;
  expect(environment.gateway.connections).toBe(0);
});

test("connections that are left at the deadline are cut, with the reason", async () => {
  const live = await liveWorld();
  await using environment = live.environment;
  const words = once(live.session, "goaway") as Promise<[number, number, Buffer]>;
  const drained = environment.gateway.drain({ acceptFor: "5s", within: "1h" });
  await live.clock.advance(5_000 + 3_599_999);
  expect(await callOn(live.session)).toMatchObject({ status: 0 });
  await live.clock.advance(1);
  const [, , data] = await words;
  expect(data.toString()).toBe("this gateway is shutting down: connect again to reach another");
  await drained;
});

test("a client that came before the end and waits for its worker is served", async () => {
  const live = await liveWorld();
  await using environment = live.environment;
  const issued = environment.pki.token();
  environment.table.set(issued.allocation, { at: "starting", worker: "ci-worker-2" });
  const answer = environment.call(environment.certificate(issued));
  await until(() => live.clock.pending > 0);
  const drained = environment.gateway.drain({ acceptFor: 0, within: "1h" });
  const worker = await environment.worker();
  environment.table.set(issued.allocation, { at: "ready", worker: worker.address });
  expect(await answer).toMatchObject({ status: 0, worker: "ci-worker-2" });
  live.session.close();
  await drained;
});

test("revocations count while a gateway drains", async () => {
  const clock = new ManualClock(Date.now());
  await using environment = await TestEnvironment.start({ clock });
  const { pair, allocation } = environment.allocate(await environment.worker());
  const session = await environment.open(pair);
  await callOn(session);
  const drained = environment.gateway.drain({ acceptFor: 0, within: "1h" });
  environment.table.set(allocation, { at: "revoked", reason: "quota" });
  await drained;
});
