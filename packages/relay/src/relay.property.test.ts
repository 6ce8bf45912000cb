import type { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { seededRandom } from "@windlass/clock";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RelayGroup } from "./group.ts";
import { type RelayEnd, relay } from "./relay.ts";
import { gap, type Peer, turn, until } from "./sockets.fixture.ts";
import type { Side } from "./state.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** What the two outer ends, or the owner of the relay, do. */
type Action =
  | { readonly do: "send"; readonly side: Side; readonly bytes: number }
  | { readonly do: "stall" | "read" | "end"; readonly side: Side }
  | { readonly do: "turn"; readonly turns: number };
type Cut = { readonly by: "abort" } | { readonly by: "reset"; readonly side: Side };

const side = fc.constantFrom<Side>("client", "upstream");
const action = fc.oneof<fc.Arbitrary<Action>[]>(
  fc.record({
    do: fc.constant("send" as const),
    side,
    bytes: fc.oneof(fc.nat(40), fc.integer({ min: 10_000, max: 400_000 })),
  }),
  fc.record({ do: fc.constantFrom("stall" as const, "read" as const, "end" as const), side }),
  fc.record({ do: fc.constant("turn" as const), turns: fc.integer({ min: 1, max: 4 }) }),
);
const cut = fc.oneof<fc.Arbitrary<Cut>[]>(
  fc.constant({ by: "abort" as const }),
  side.map((one) => ({ by: "reset" as const, side: one })),
);

/** Bytes in no order, so that a lost, doubled or moved byte shows. */
const pattern = Buffer.from(seededRandom(1).bytes(8_000_000));

async function act(peers: Readonly<Record<Side, Peer>>, actions: readonly Action[]): Promise<void> {
  for (const one of actions) {
    if (one.do === "turn") {
      for (let turns = 0; turns < one.turns; turns++) await turn();
      continue;
    }
    const { socket, sentBytes } = peers[one.side];
    if (one.do === "send" && socket.writable)
      peers[one.side].send(pattern.subarray(sentBytes.length, sentBytes.length + one.bytes));
    if (one.do === "end") socket.end();
    if (one.do === "stall") socket.pause();
    if (one.do === "read") socket.resume();
  }
}

/** Breaks a connection; one that has been ended cannot be reset any more. */
function breakOff(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

async function run(
  actions: readonly Action[],
  last: Cut | undefined,
  bufferBytes: number,
): Promise<{ peers: Readonly<Record<Side, Peer>>; end: RelayEnd }> {
  const { clientPeer, client, upstream, upstreamPeer } = await gap();
  const peers = { client: clientPeer, upstream: upstreamPeer };
  const joined = relay(client, upstream, { bufferBytes });
  await act(peers, actions);
  if (last?.by === "abort") joined.abort("cut");
  if (last?.by === "reset") breakOff(peers[last.side].socket);
  for (const { socket } of Object.values(peers)) {
    socket.resume();
    socket.end();
  }
  const end = await joined.ended;
  expect([client.destroyed, upstream.destroyed]).toEqual([true, true]);
  await Promise.all([clientPeer.closed, upstreamPeer.closed]);
  return { peers, end };
}

test("without a cut, each side receives what the other sent, whole, in order and with its end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 15 }),
      fc.constantFrom(1, 20_000, 300_000),
      async (actions, bufferBytes) => {
        const { peers, end } = await run(actions, undefined, bufferBytes);
        expect(end).toMatchObject({
          outcome: { how: "closed" },
          fromClient: peers.client.sentBytes.length,
          fromUpstream: peers.upstream.sentBytes.length,
        });
        for (const [from, to] of [
          [peers.client, peers.upstream],
          [peers.upstream, peers.client],
        ] as const) {
          expect(to.received.equals(from.sentBytes)).toBe(true);
          expect([to.hasSeenEnd, to.error]).toEqual([true, undefined]);
        }
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);

test("after a cut both sockets are closed, and what was received is the beginning of what was sent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 10 }), cut, async (actions, last) => {
      const { peers, end } = await run(actions, last, 50_000);
      for (const [from, to] of [
        [peers.client, peers.upstream],
        [peers.upstream, peers.client],
      ] as const) {
        const { received } = to;
        expect(from.sentBytes.subarray(0, received.length).equals(received)).toBe(true);
        // An end says that this was all of it.
        if (to.hasSeenEnd) expect(received.length).toBe(from.sentBytes.length);
      }
      const hasEnded = (one: Side) => actions.some((it) => it.do === "end" && it.side === one);
      const mayHaveClosed =
        last.by === "reset" ? hasEnded(last.side) : hasEnded("client") && hasEnded("upstream");
      if (!mayHaveClosed) expect(end.outcome.how).toBe(last.by === "abort" ? "aborted" : "lost");
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("nothing is kept of relays that are over, however they ended", async () => {
  const group = new RelayGroup<object>();
  const once = async (index: number): Promise<readonly WeakRef<object>[]> => {
    const { clientPeer, client, upstream, upstreamPeer } = await gap();
    const key = { index };
    const joined = group.join(key, client, upstream, { idle: "1h", total: "2h" });
    clientPeer.send(Buffer.alloc(1_000));
    await until(() => upstreamPeer.received.length === 1_000);
    if (index % 3 === 0) joined.abort("enough");
    if (index % 3 === 1) upstreamPeer.socket.resetAndDestroy();
    clientPeer.socket.end();
    upstreamPeer.socket.end();
    await joined.ended;
    await Promise.all([clientPeer.closed, upstreamPeer.closed]);
    return [joined, key, client, upstream].map((one) => new WeakRef(one));
  };
  const kept: WeakRef<object>[] = [];
  for (let index = 0; index < 60; index++) kept.push(...(await once(index)));
  expect(group.size).toBe(0);
  for (let round = 0; round < 20 && kept.some((one) => one.deref()); round++) {
    await turn();
    collectGarbage();
  }
  expect(kept.filter((one) => one.deref()).length).toBe(0);
});
