import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { callOn, until, World } from "./world.fixture.ts";

test("a flood of connections that say nothing, or show nothing, takes no place of clients' and ends none", async () => {
  await using world = await World.start({ limits: { strangers: 20 } });
  const { pair } = world.allocate(await world.worker());
  const session = await world.open(pair);
  expect(await callOn(session)).toMatchObject({ status: 0 });
  let left = 0;
  const flood: Socket[] = [];
  const come = async () => {
    const socket = connect(world.gateway.port, "127.0.0.1");
    socket.on("error", () => socket.destroy());
    socket.on("close", () => left++);
    flood.push(socket);
    await once(socket, "connect");
  };
  for (let count = 0; count < 200; count++) await come();
  await until(() => left >= 180);
  expect(left).toBe(180);
  // Who shows no certificate is refused, and is one of them until it has gone.
  for (let count = 0; count < 40; count++) {
    const refused = await world.connect(undefined);
    refused.on("error", () => refused.destroy()).resume();
  }
  await until(() => left === 200);
  expect(world.metric("buildkit_gateway_connections_total").join("\n")).toMatch(
    /status="crowded_out"\} 2\d\d/,
  );
  // A client that comes in the middle of it is admitted, and the one before is still there.
  expect(await world.call(pair)).toMatchObject({ status: 0 });
  expect(await callOn(session)).toMatchObject({ status: 0 });
  session.close();
  for (const socket of flood) socket.destroy();
});

test("a client that waits for its worker to start is none of them", async () => {
  await using world = await World.start({ limits: { strangers: 2 } });
  const { pair, allocation } = world.allocate(await world.worker());
  const route = world.table.find(allocation);
  world.table.set(allocation, { at: "starting", worker: "ci-worker-1" });
  const session = await world.open(pair);
  const waiting = callOn(session);
  const stranger = async () => {
    const socket = await world.connect(undefined);
    return socket.on("error", () => socket.destroy()).resume();
  };
  const oldest = await stranger();
  const gone = once(oldest, "close");
  await stranger();
  await stranger();
  await gone;
  world.table.set(allocation, route);
  expect(await waiting).toMatchObject({ status: 0 });
  session.close();
});
