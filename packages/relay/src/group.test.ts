import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { RelayGroup } from "./group.ts";
import { gap, until } from "./sockets.fixture.ts";

const reason = new Error("enough");

async function joinTo(group: RelayGroup<string>, key: string) {
  const { clientPeer, client, upstream, upstreamPeer } = await gap();
  return { clientPeer, upstreamPeer, relay: group.join(key, client, upstream) };
}

test("relays of one key are aborted together, and those of others are left alone", async () => {
  const group = new RelayGroup<string>();
  const [one, two, other] = await Promise.all(["a", "a", "b"].map((key) => joinTo(group, key)));
  if (!one || !two || !other) throw new Error("three relays");
  expect(group.size).toBe(3);
  expect(group.abort("a", reason)).toBe(2);
  expect((await one.relay.ended).outcome).toEqual({ how: "aborted", reason });
  expect((await two.relay.ended).outcome).toEqual({ how: "aborted", reason });
  expect([group.size, group.of("a").size, group.of("b").size]).toEqual([1, 0, 1]);
  other.clientPeer.send(Buffer.from("still here"));
  await until(() => other.upstreamPeer.received.length > 0);
  expect(group.abort("b", reason)).toBe(1);
  await other.relay.ended;
  expect(group.size).toBe(0);
});

test("a drain lets live relays end, cuts those that are left at the deadline, and then resolves", async () => {
  const clock = new ManualClock();
  const group = new RelayGroup<string>({ clock });
  const [quick, slow] = await Promise.all([joinTo(group, "a"), joinTo(group, "b")]);
  const drained = group.drain({ within: "1h", reason });
  expect(group.isDraining).toBe(true);
  await clock.advance(1_000);
  quick.clientPeer.socket.end();
  quick.upstreamPeer.socket.end();
  expect((await quick.relay.ended).outcome).toEqual({ how: "closed" });
  slow.clientPeer.send(Buffer.from("still building"));
  await until(() => slow.upstreamPeer.received.length > 0);
  await clock.advance(3_599_000);
  expect((await slow.relay.ended).outcome).toEqual({ how: "aborted", reason });
  expect(await drained).toEqual({ ended: 1, cut: 1 });
  expect(clock.pending).toBe(0);
});

test("a drain without time cuts at once", async () => {
  const group = new RelayGroup<string>({ clock: new ManualClock() });
  await joinTo(group, "a");
  expect(await group.drain({ within: 0, reason })).toEqual({ ended: 0, cut: 1 });
});

test("a group that drains takes no more", async () => {
  const group = new RelayGroup<string>();
  expect(await group.drain({ within: "1h", reason })).toEqual({ ended: 0, cut: 0 });
  const late = await joinTo(group, "a");
  expect((await late.relay.ended).outcome).toEqual({ how: "aborted", reason });
  expect(group.size).toBe(0);
});

test("a second drain may bring the deadline forward", async () => {
  const clock = new ManualClock();
  const group = new RelayGroup<string>({ clock });
  await joinTo(group, "a");
  const first = group.drain({ within: "1h", reason });
  const second = group.drain({ within: "1s", reason: new Error("now") });
  await clock.advance(1_000);
  expect(await second).toEqual({ ended: 0, cut: 1 });
  await first;
  expect(clock.pending).toBe(0);
});
