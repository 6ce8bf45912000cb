import { ManualClock } from "@windlass/clock";
import { expect, test } from "vitest";
import { serviceKey } from "../targets.ts";
import { answering, freePort, response, TestEnvironment, until } from "../test-environment.fixture.ts";

const hello = answering(() => response("hello"));

test("a request for a service that sleeps wakes it, waits, and is answered as soon as an endpoint is ready", async () => {
  await using environment = await TestEnvironment.start();
  const client = environment.client();
  const got = client.get();
  await until(() => environment.traffic.held === 1);
  await until(() => environment.wakes.length > 0);
  expect(environment.wakes).toEqual([{ namespace: "shop", service: "web", waiting: 1 }]);
  environment.ready(await environment.pod(hello));
  expect(await got).toContain("hello");
  expect(environment.traffic).toMatchObject({ requests: 1, held: 0, inFlight: 0 });
  const rendered = environment.metrics.render();
  for (const phase of ["notify", "ready", "first_byte"])
    expect(rendered).toContain(
      `elasti_resolver_cold_start_seconds_count{namespace="shop",source="web",phase="${phase}"} 1`,
    );
});

test("many requests wait without asking again and again, and all are answered", async () => {
  await using environment = await TestEnvironment.start();
  const clients = Array.from({ length: 300 }, () => environment.client());
  const answers = clients.map((client) => client.get());
  await until(() => environment.traffic.held === 300);
  environment.ready(await environment.pod(hello));
  for (const answer of answers) expect(await answer).toContain("hello");
  // Once, and when there were twice as many, and so on.
  expect(environment.wakes.length).toBeLessThanOrEqual(10);
  expect(environment.wakes.at(-1)?.waiting).toBeGreaterThan(100);
});

test("a service that goes to sleep has its requests wait, and asks for a wake", async () => {
  await using environment = await TestEnvironment.start();
  const pod = await environment.pod(hello);
  environment.ready(pod);
  const client = environment.client();
  expect(await client.get()).toContain("hello");
  environment.set({ dispatch: "hold" });
  await until(() => pod.sockets.size === 0);
  expect(environment.traffic.upstreamConnections).toBe(0);
  const got = client.get();
  await until(() => environment.wakes.length === 1);
  expect(environment.traffic.held).toBe(1);
  environment.set({ dispatch: "forward" });
  expect(await got).toContain("hello");
});

test("what was forwarded before a hold goes on to its end, and its connection is closed then", async () => {
  await using environment = await TestEnvironment.start();
  let finish: (() => void) | undefined;
  const pod = await environment.pod((socket) => {
    socket.once("data", () => {
      finish = () => void socket.write(response("late"));
    });
    socket.on("end", () => socket.end());
  });
  environment.ready(pod);
  const got = environment.client().get();
  await until(() => finish !== undefined);
  environment.set({ dispatch: "hold" });
  finish?.();
  expect(await got).toContain("late");
  await until(() => pod.sockets.size === 0);
  expect(environment.traffic).toMatchObject({ inFlight: 0, upstreamConnections: 0 });
});

test("pods that are about to end get no requests", async () => {
  await using environment = await TestEnvironment.start();
  const old = await environment.pod(
    answering(() => response("old")),
    "old",
  );
  const fresh = await environment.pod(
    answering(() => response("new")),
    "new",
  );
  environment.set({ excludedPods: new Set(["old"]) });
  environment.ready(old);
  const got = environment.client().get();
  await until(() => environment.traffic.held === 1);
  environment.ready(old, fresh);
  expect(await got).toContain("new");
  expect(old.connections).toBe(0);
});

test("a client that leaves while its request waits frees its place", async () => {
  await using environment = await TestEnvironment.start();
  const clients = Array.from({ length: 20 }, () => environment.client());
  for (const client of clients) client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => environment.traffic.held === 20);
  for (const client of clients.slice(0, 10)) client.socket.destroy();
  for (const client of clients.slice(10)) client.socket.resetAndDestroy();
  await until(() => environment.traffic.held === 0);
  expect(environment.traffic.inFlight).toBe(0);
});

test("a request that waits too long is answered with 504, at its time", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, target: { limits: { holdMs: 5_000 } } });
  const client = environment.client();
  const got = client.get();
  await until(() => environment.traffic.held === 1);
  await clock.advance(4_999);
  expect(client.received).toBe("");
  await clock.advance(1);
  expect(await got).toMatch(/^HTTP\/1.1 504 Gateway Timeout\r\n/);
  expect(environment.traffic.held).toBe(0);
});

test("requests beyond the queue's size are answered with 503 and when to try again", async () => {
  await using environment = await TestEnvironment.start({ target: { limits: { queueSize: 2 } } });
  const waiting = [environment.client().get(), environment.client().get()];
  await until(() => environment.traffic.held === 2);
  const refused = await environment.client().get();
  expect(refused).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n/);
  expect(refused).toMatch(/\r\nRetry-After: \d+\r\n/);
  environment.ready(await environment.pod(hello));
  for (const answer of waiting) expect(await answer).toContain("hello");
});

test("a target that cannot wake refuses who waits and who comes, and is asked for all the same", async () => {
  await using environment = await TestEnvironment.start();
  const waiting = environment.client().get();
  await until(() => environment.wakes.length === 1);
  environment.set({ unavailable: { message: "no quota for pods", retryAfterSeconds: 30 } });
  for (const got of [await waiting, await environment.client().get()]) {
    expect(got).toMatch(/^HTTP\/1.1 503 /);
    expect(got).toContain("Retry-After: 30\r\n");
    expect(got).toContain("no quota for pods");
  }
  await until(() => environment.wakes.length === 2);
});

test("a wake that fails is asked for again", async () => {
  const clock = new ManualClock();
  let failures = 3;
  await using environment = await TestEnvironment.start({
    clock,
    wake: async () => {
      if (failures-- > 0) throw new Error("the operator is away");
    },
  });
  environment.client().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => environment.wakes.length === 1);
  for (let attempt = 2; attempt <= 4; attempt++) {
    await clock.advance(1_000);
    await until(() => environment.wakes.length >= attempt);
  }
  expect(environment.metrics.render()).toContain('elasti_resolver_operator_rpc_count{error="true"} 3');
});

test("an endpoint that refuses connections is tried again until it takes them", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock });
  const port = await freePort();
  environment.ready({ address: "127.0.0.1", port, podUid: "slow" });
  const got = environment.client().get();
  await until(() => environment.traffic.held === 1);
  const pod = await environment.pod(hello);
  pod.server.close();
  const late = await environment.pod(hello);
  late.server.close();
  await new Promise<void>((resolve) => late.server.listen(port, "127.0.0.1", resolve));
  await clock.advance(1_000);
  expect(await got).toContain("hello");
});

test("a request goes to another endpoint if the first one refuses its connection", async () => {
  await using environment = await TestEnvironment.start();
  const dead = { address: "127.0.0.1", port: await freePort(), podUid: "dead" };
  environment.ready(dead, await environment.pod(hello, "live"));
  const client = environment.client();
  for (let count = 0; count < 10; count++) expect(await client.get()).toContain("hello");
});

test("a body is sent exactly once, though the first connections are reset", async () => {
  await using environment = await TestEnvironment.start();
  const bodies: string[] = [];
  const serve = answering((_, body) => {
    bodies.push(body);
    return response("stored");
  });
  environment.ready(
    await environment.pod((socket, connection) => {
      if (connection <= 5) socket.resetAndDestroy();
      else serve(socket);
    }),
  );
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  await client.gets("stored");
  expect(bodies).toEqual(["body"]);
});

test("a request without a body is sent again if its first connections are reset, but a body that was begun is not", async () => {
  await using environment = await TestEnvironment.start();
  let posts = 0;
  environment.ready(
    await environment.pod((socket, connection) => {
      socket.on("data", (bytes: Buffer) => {
        if (bytes.toString().startsWith("POST")) posts += 1;
        if (connection <= 3 || posts > 0) socket.resetAndDestroy();
        else socket.write(response("hello"));
      });
    }),
  );
  expect(await environment.client().get()).toContain("hello");
  const client = environment.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
  await client.gets("502 Bad Gateway");
  expect(posts).toBe(1);
});

test("a connection that the pod closed while it was idle costs no request", async () => {
  await using environment = await TestEnvironment.start();
  const pod = await environment.pod(hello);
  environment.ready(pod);
  const client = environment.client();
  for (let count = 0; count < 5; count++) {
    expect(await client.get()).toContain("hello");
    for (const socket of pod.sockets) socket.destroy();
  }
});

test("an endpoint never has more requests than it may", async () => {
  await using environment = await TestEnvironment.start({
    target: { limits: { maxConcurrencyPerEndpoint: 3 } },
  });
  let running = 0;
  let most = 0;
  const pod = await environment.pod(
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
  const answers = Array.from({ length: 50 }, () => environment.client().get());
  await until(() => environment.traffic.held === 50);
  environment.ready(pod);
  for (const answer of answers) expect(await answer).toContain("hello");
  expect(most).toBe(3);
});

test("a body that comes while its request waits is read only in part, and arrives whole", async () => {
  await using environment = await TestEnvironment.start();
  const size = 1024 * 1024;
  const client = environment.client();
  client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
  client.send("x".repeat(size));
  await until(() => environment.traffic.held === 1);
  environment.ready(await environment.pod(answering((_, body) => response(String(body.length)))));
  await client.gets(String(size));
});

test("a request whose pod refuses it is refused at once when its service, or its port, is gone meanwhile", async () => {
  const refusing = { address: "127.0.0.1", port: await freePort(), podUid: "refusing" };
  const gone = [
    (environment: TestEnvironment) => environment.table.delete(serviceKey("shop", "web")),
    (environment: TestEnvironment) => environment.set({ ports: [] }),
  ];
  for (const go of gone) {
    await using environment = await TestEnvironment.start();
    const answer = environment.client().get();
    const raw = environment.client().send("\x00\x01raw");
    await until(() => environment.traffic.held === 2);
    environment.ready(refusing);
    // Both are on their way to the pod, and have yet to hear that it refuses them.
    expect(environment.traffic).toMatchObject({ held: 0, inFlight: 2 });
    go(environment);
    expect(await answer).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
    await until(() => raw.isClosed);
    const before = environment.wakes.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(environment.wakes).toHaveLength(before);
  }
});
