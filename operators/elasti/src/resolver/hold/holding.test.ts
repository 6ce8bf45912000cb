import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { serviceKey } from "../targets.ts";
import { answering, freePort, response, until, World } from "../world.fixture.ts";

const hello = answering(() => response("hello"));

test("a request for a service that sleeps wakes it, waits, and is answered as soon as an endpoint is ready", async () => {
  await using world = await World.start();
  const client = world.client();
  const got = client.get();
  await until(() => world.traffic.held === 1);
  await until(() => world.wakes.length > 0);
  expect(world.wakes).toEqual([{ namespace: "shop", service: "web", waiting: 1 }]);
  world.ready(await world.pod(hello));
  expect(await got).toContain("hello");
  expect(world.traffic).toMatchObject({ requests: 1, held: 0, inFlight: 0 });
  const rendered = world.metrics.render();
  for (const phase of ["notify", "ready", "first_byte"])
    expect(rendered).toContain(
      `elasti_resolver_cold_start_seconds_count{namespace="shop",source="web",phase="${phase}"} 1`,
    );
});

test("many requests wait without asking again and again, and all are answered", async () => {
  await using world = await World.start();
  const clients = Array.from({ length: 300 }, () => world.client());
  const answers = clients.map((client) => client.get());
  await until(() => world.traffic.held === 300);
  world.ready(await world.pod(hello));
  for (const answer of answers) expect(await answer).toContain("hello");
  // Once, and when there were twice as many, and so on.
  expect(world.wakes.length).toBeLessThanOrEqual(10);
  expect(world.wakes.at(-1)?.waiting).toBeGreaterThan(100);
});

test("a service that goes to sleep has its requests wait, and asks for a wake", async () => {
  await using world = await World.start();
  const pod = await world.pod(hello);
  world.ready(pod);
  const client = world.client();
  expect(await client.get()).toContain("hello");
  world.set({ dispatch: "hold" });
  await until(() => pod.sockets.size === 0);
  expect(world.traffic.upstreamConnections).toBe(0);
  const got = client.get();
  await until(() => world.wakes.length === 1);
  expect(world.traffic.held).toBe(1);
  world.set({ dispatch: "forward" });
  expect(await got).toContain("hello");
});

test("what was forwarded before a hold goes on to its end, and its connection is closed then", async () => {
  await using world = await World.start();
  let finish: (() => void) | undefined;
  const pod = await world.pod((socket) => {
    socket.once("data", () => {
      finish = () => void socket.write(response("late"));
    });
    socket.on("end", () => socket.end());
  });
  world.ready(pod);
  const got = world.client().get();
  await until(() => finish !== undefined);
  world.set({ dispatch: "hold" });
  finish?.();
  expect(await got).toContain("late");
  await until(() => pod.sockets.size === 0);
  expect(world.traffic).toMatchObject({ inFlight: 0, upstreamConnections: 0 });
});

test("pods that are about to end get no requests", async () => {
  await using world = await World.start();
  const old = await world.pod(
    answering(() => response("old")),
    "old",
  );
  const fresh = await world.pod(
    answering(() => response("new")),
    "new",
  );
  world.set({ excludedPods: new Set(["old"]) });
  world.ready(old);
  const got = world.client().get();
  await until(() => world.traffic.held === 1);
  world.ready(old, fresh);
  expect(await got).toContain("new");
  expect(old.connections).toBe(0);
});

test("a client that leaves while its request waits frees its place", async () => {
  await using world = await World.start();
  const clients = Array.from({ length: 20 }, () => world.client());
  for (const client of clients) client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => world.traffic.held === 20);
  for (const client of clients.slice(0, 10)) client.socket.destroy();
  for (const client of clients.slice(10)) client.socket.resetAndDestroy();
  await until(() => world.traffic.held === 0);
  expect(world.traffic.inFlight).toBe(0);
});

test("a request that waits too long is answered with 504, at its time", async () => {
  const clock = new ManualClock();
  await using world = await World.start({ clock, target: { limits: { holdMs: 5_000 } } });
  const client = world.client();
  const got = client.get();
  await until(() => world.traffic.held === 1);
  await clock.advance(4_999);
  expect(client.received).toBe("");
  await clock.advance(1);
  expect(await got).toMatch(/^HTTP\/1.1 504 Gateway Timeout\r\n/);
  expect(world.traffic.held).toBe(0);
});

test("requests beyond the queue's size are answered with 503 and when to try again", async () => {
  await using world = await World.start({ target: { limits: { queueSize: 2 } } });
  const waiting = [world.client().get(), world.client().get()];
  await until(() => world.traffic.held === 2);
  const refused = await world.client().get();
  expect(refused).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n/);
  expect(refused).toMatch(/\r\nRetry-After: \d+\r\n/);
  world.ready(await world.pod(hello));
  for (const answer of waiting) expect(await answer).toContain("hello");
});

test("a target that cannot wake refuses who waits and who comes, and is asked for all the same", async () => {
  await using world = await World.start();
  const waiting = world.client().get();
  await until(() => world.wakes.length === 1);
  world.set({ unavailable: { message: "no quota for pods", retryAfterSeconds: 30 } });
  for (const got of [await waiting, await world.client().get()]) {
    expect(got).toMatch(/^HTTP\/1.1 503 /);
    expect(got).toContain("Retry-After: 30\r\n");
    expect(got).toContain("no quota for pods");
  }
  await until(() => world.wakes.length === 2);
});

test("a wake that fails is asked for again", async () => {
  const clock = new ManualClock();
  let failures = 3;
  await using world = await World.start({
    clock,
    wake: async () => {
      if (failures-- > 0) throw new Error("the operator is away");
    },
  });
  world.client().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => world.wakes.length === 1);
  for (let attempt = 2; attempt <= 4; attempt++) {
    await clock.advance(1_000);
    await until(() => world.wakes.length >= attempt);
  }
  expect(world.metrics.render()).toContain('elasti_resolver_operator_rpc_count{error="true"} 3');
});

test("an endpoint that refuses connections is tried again until it takes them", async () => {
  const clock = new ManualClock();
  await using world = await World.start({ clock });
  const port = await freePort();
  world.ready({ address: "127.0.0.1", port, podUid: "slow" });
  const got = world.client().get();
  await until(() => world.traffic.held === 1);
  const pod = await world.pod(hello);
  pod.server.close();
  const late = await world.pod(hello);
  late.server.close();
  await new Promise<void>((resolve) => late.server.listen(port, "127.0.0.1", resolve));
  await clock.advance(1_000);
  expect(await got).toContain("hello");
});

test("a request goes to another endpoint if the first one refuses its connection", async () => {
  await using world = await World.start();
  const dead = { address: "127.0.0.1", port: await freePort(), podUid: "dead" };
  world.ready(dead, await world.pod(hello, "live"));
  const client = world.client();
  for (let count = 0; count < 10; count++) expect(await client.get()).toContain("hello");
});

test("a body is sent exactly once, though the first connections are reset", async () => {
  await using world = await World.start();
  const bodies: string[] = [];
  const serve = answering((_, body) => {
    bodies.push(body);
    return response("stored");
  });
  world.ready(
    await world.pod((socket, connection) => {
      if (connection <= 5) socket.resetAndDestroy();
      else serve(socket);
    }),
  );
  const client = world.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  await client.gets("stored");
  expect(bodies).toEqual(["body"]);
});

test("a request without a body is sent again if its first connections are reset, but a body that was begun is not", async () => {
  await using world = await World.start();
  let posts = 0;
  world.ready(
    await world.pod((socket, connection) => {
      socket.on("data", (bytes: Buffer) => {
        if (bytes.toString().startsWith("POST")) posts += 1;
        if (connection <= 3 || posts > 0) socket.resetAndDestroy();
        else socket.write(response("hello"));
      });
    }),
  );
  expect(await world.client().get()).toContain("hello");
  const client = world.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  await client.gets("502 Bad Gateway");
  expect(posts).toBe(1);
});

test("a connection that the pod closed while it was idle costs no request", async () => {
  await using world = await World.start();
  const pod = await world.pod(hello);
  world.ready(pod);
  const client = world.client();
  for (let count = 0; count < 5; count++) {
    expect(await client.get()).toContain("hello");
    for (const socket of pod.sockets) socket.destroy();
  }
});

test("an endpoint never has more requests than it may", async () => {
  await using world = await World.start({ target: { limits: { maxConcurrencyPerEndpoint: 3 } } });
  let running = 0;
  let most = 0;
  const pod = await world.pod(
    (socket) =>
      void socket.on("data", () => {
        running += 1;
        most = Math.max(most, running);
        setTimeout(() => {
          running -= 1;
          socket.write(response("hello"));
        }, 2);
      }),
  );
  const answers = Array.from({ length: 50 }, () => world.client().get());
  await until(() => world.traffic.held === 50);
  world.ready(pod);
  for (const answer of answers) expect(await answer).toContain("hello");
  expect(most).toBe(3);
});

test("a body that comes while its request waits is read only in part, and arrives whole", async () => {
  await using world = await World.start();
  const size = 1024 * 1024;
  const client = world.client();
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
  client.send("x".repeat(size));
  await until(() => world.traffic.held === 1);
  world.ready(await world.pod(answering((_, body) => response(String(body.length)))));
  await client.gets(String(size));
});

test("a request whose pod refuses it hears at once that its service, or its port, is gone meanwhile", async () => {
  const refusing = { address: "127.0.0.1", port: await freePort(), podUid: "refusing" };
  const gone = [
    (world: World) => world.table.delete(serviceKey("shop", "web")),
    (world: World) => world.set({ ports: [] }),
  ];
  for (const go of gone) {
    await using world = await World.start();
    const answer = world.client().get();
    const raw = world.client().send("\x00\x01raw");
    await until(() => world.traffic.held === 2);
    world.ready(refusing);
    // Both are on their way to the pod, and have yet to hear that it refuses them.
    expect(world.traffic).toMatchObject({ held: 0, inFlight: 2 });
    go(world);
    expect(await answer).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
    await until(() => raw.isClosed);
    const told = world.wakes.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.wakes).toHaveLength(told);
  }
});
