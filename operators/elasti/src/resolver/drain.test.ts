import { once } from "node:events";
import type { Socket } from "node:net";
import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { answering, isWhole, response, TestEnvironment, until } from "./test-environment.fixture.ts";

const hello = answering(() => response("hello"));

test("a resolver that leaves answers those who wait and those it serves, and then ends", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const clients = Array.from({ length: 50 }, () => environment.client());
  const answers = clients.map((client) => client.get());
  await until(() => environment.traffic.held === 50);
  const idle = environment.client();
  let isDrained = false;
  const drained = environment.resolver.drain({ acceptFor: "5s", within: "10m" }).then(() => {
    isDrained = true;
  });
  expect(environment.resolver.fault()).toBe("shutting down");
  // Clients that do not know it yet are still served.
  const late = environment.client();
  const lateAnswer = late.get();
  await until(() => environment.traffic.held === 51);
  await clock.advance(5_000);
  expect(isDrained).toBe(false);
  environment.ready(await environment.pod(hello));
  await clock.advance(1_000);
  for (const answer of [...answers, lateAnswer]) {
    const text = await answer;
    expect(text).toContain("hello");
    expect(text).toContain("Connection: close\r\n");
  }
  for (const { socket } of [...clients, late, idle]) socket.end();
  await drained;
  expect(environment.client().received).toBe("");
});

test("500 that wait and 50 that stream all come to their end while the resolver leaves", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const streams = new Set<Socket>();
  const pod = await environment.pod((socket) => {
    const whole = answering((head) => {
      if (!head.startsWith("GET /stream ")) return response("hello");
      streams.add(socket);
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n";
    });
    whole(socket);
  });
  environment.ready(pod);
  const streaming = Array.from({ length: 50 }, () => environment.client());
  for (const client of streaming) client.send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  await Promise.all(streaming.map((client) => client.gets("first")));
  environment.set({ dispatch: "hold" });
  const held = Array.from({ length: 500 }, () => environment.client());
  const answers = held.map((client) => client.get());
  await until(() => environment.traffic.held === 500);
  let isDrained = false;
  const drained = environment.resolver.drain({ acceptFor: "5s", within: "10m" }).then(() => {
    isDrained = true;
  });
  await clock.advance(60_000);
  expect(isDrained).toBe(false);
  expect(environment.traffic).toMatchObject({ held: 500, inFlight: 50 });
  environment.set({ dispatch: "forward" });
  for (let round = 0; round < 100 && environment.traffic.held > 0; round++) await clock.advance(50);
  for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1\.1 200 (?:.|\s)*hello$/);
  for (const socket of streams) socket.write("4\r\nlast\r\n0\r\n\r\n");
  await Promise.all(streaming.map((client) => client.gets("last\r\n0\r\n\r\n")));
  for (const { socket } of [...held, ...streaming]) socket.end();
  // A stream that began before was not asked to close: it is ended once it has been silent.
  for (let second = 0; second < 12; second++) await clock.advance(1_000);
  await drained;
  for (const { error } of [...held, ...streaming]) expect(error).toBeUndefined();
});

test("what is left at the deadline gets an error, and is cut", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const client = environment.client();
  const got = client.get();
  await until(() => environment.traffic.held === 1);
  const drained = environment.resolver.drain({ acceptFor: 0, within: "1m" });
  await clock.advance(60_000);
  expect(await got).toContain("503 Service Unavailable");
  await drained;
});

test("a resolver that Services still lead to takes their connections until they do not", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  environment.ready(await environment.pod(hello));
  let getsConnections = true;
  const drained = environment.resolver.drain({
    getsConnections: () => getsConnections,
    acceptFor: "5s",
    within: "10m",
  });
  await clock.advance(60_000);
  const client = environment.client();
  expect(await client.get()).toContain("hello");
  client.socket.end();
  getsConnections = false;
  await clock.advance(5_200);
  await drained;
});

test("a client that sends nothing for seconds after it has connected is answered by a resolver that leaves", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, protocol: "http" });
  environment.ready(await environment.pod(hello));
  const starved = environment.client();
  await once(starved.socket, "connect");
  const drained = environment.resolver.drain({ acceptFor: "5s", within: "10m" });
  await clock.advance(4_000);
  expect(await starved.get()).toContain("hello");
  starved.socket.end();
  await clock.advance(6_000);
  await drained;
});

test("the last client of a resolver that leaves may speak late, and is answered too", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, protocol: "http" });
  const last = environment.client();
  await once(last.socket, "connect");
  let isDrained = false;
  const drained = environment.resolver.drain({ acceptFor: "5s", within: "10m" }).then(() => {
    isDrained = true;
  });
  await clock.advance(6_000);
  // It is the only connection, and the port is closed.
  const got = last.get();
  await until(() => environment.traffic.held === 1);
  await clock.advance(30_000);
  expect(isDrained).toBe(false);
  environment.ready(await environment.pod(hello));
  expect(await got).toContain("hello");
  last.socket.end();
  await drained;
});

test("a resolver that leaves takes connections for as long as they come", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  environment.ready(await environment.pod(hello));
  const drained = environment.resolver.drain({ acceptFor: "5s", within: "10m" });
  // The rules of a node are late.
  for (let second = 0; second < 20; second += 4) {
    const client = environment.client();
    expect(await client.get()).toContain("hello");
    client.socket.end();
    await clock.advance(4_000);
  }
  await clock.advance(1_000);
  await drained;
});

test("a client that reads its last response slowly gets all of it, however long that takes", async () => {
  const clock = new ManualClock();
  // More than kernels keep for a connection: the rest waits in the resolver.
  const body = "x".repeat(30_000_000);
  await using environment = await TestEnvironment.start({
    clock,
    target: { probeResponses: [{ response: { status: 200, body } }] },
  });
  const client = environment.client();
  client.send("GET / HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n");
  await until(() => client.received !== "");
  client.socket.pause();
  for (let second = 0; second < 60; second++) await clock.advance(1_000);
  client.socket.resume();
  await until(() => isWhole(client.received) || client.hasEnded || client.isClosed);
  expect(client.error).toBeUndefined();
  expect(isWhole(client.received)).toBe(true);
});
