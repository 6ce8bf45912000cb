import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { callOn, TestEnvironment, until } from "./environment.fixture.ts";

test("a flood of connections that say nothing, or show nothing, takes no place of clients' and ends none", async () => {
  await using environment = await TestEnvironment.start({ limits: { unknownClients: 20 } });
  const { pair } = environment.allocate(await environment.worker());
  const session = await environment.open(pair);
  expect(await callOn(session)).toMatchObject({ status: 0 });
  let left = 0;
  const flood: Socket[] = [];
  const come = async () => {
    const socket = connect(environment.gateway.port, "127.0.0.1");
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
    const refused = await environment.connect(undefined);
    refused.on("error", () => refused.destroy()).resume();
  }
  await until(() => left === 200);
  expect(environment.metric("buildkit_gateway_connections_total").join("\n")).toMatch(
    /status="crowded_out"\} 2\d\d/,
  );
  // A client that comes in the middle of it is admitted, and the one before is still there.
  expect(await environment.call(pair)).toMatchObject({ status: 0 });
  expect(await callOn(session)).toMatchObject({ status: 0 });
  session.close();
  for (const socket of flood) socket.destroy();
});

test("a client that waits for its worker to start is none of them", async () => {
  await using environment = await TestEnvironment.start({ limits: { unknownClients: 2 } });
  const { pair, allocation } = environment.allocate(await environment.worker());
  const route = environment.table.find(allocation);
  environment.table.set(allocation, { at: "starting", worker: "ci-worker-1" });
  const session = await environment.open(pair);
  const waiting = callOn(session);
  const unknown = async () => {
    const socket = await environment.connect(undefined);
    return socket.on("error", () => socket.destroy()).resume();
  };
  const oldest = await unknown();
  const gone = once(oldest, "close");
  await unknown();
  await unknown();
  await gone;
  environment.table.set(allocation, route);
  expect(await waiting).toMatchObject({ status: 0 });
  session.close();
});
