import { ManualClock } from "@windlass/clock";
import { freePorts } from "@windlass/testing";
import { expect, test } from "vitest";
import { pathProof } from "../path-proof.ts";
import { serviceKey } from "./targets.ts";
import { answering, freePort, response, TestEnvironment, until } from "./test-environment.fixture.ts";

const hello = answering(() => response("hello"));

/** How many services of two ports each are tried, and how often each Host on each port. */
const [serviceCount, rounds] = [200, 5];

test("each port of each service leads to its own endpoints, whatever the Host is", {
  timeout: 60_000,
}, async () => {
  await using environment = await TestEnvironment.start();
  const names = Array.from({ length: serviceCount }, (_, index) => `s${index}`);
  // Pods take their ports first: one of them could get a port that was just found to be free.
  for (const name of names)
    for (const port of ["http", "admin"])
      await environment.pod(
        answering((head) => response(`${name} ${port} ${/Host: (.*)\r/.exec(head)?.[1]}`)),
      );
  const listenPorts = await freePorts(2 * serviceCount);
  const services = names.map((name, index) => ({
    name,
    ports: [
      { name: "http", port: 80, listenPort: listenPorts[2 * index] ?? 0 },
      { name: "admin", port: 9_000, listenPort: listenPorts[2 * index + 1] ?? 0 },
    ],
  }));
  for (const [index, { name, ports }] of services.entries()) {
    const [http, admin] = environment.pods.slice(2 * index).map(({ endpoint }) => [endpoint]);
    environment.table.setEndpoints(
      serviceKey("many", name),
      new Map([
        ["http", http ?? []],
        ["admin", admin ?? []],
      ]),
    );
    environment.table.set({
      namespace: "many",
      service: name,
      ports,
      endpointsOf: name,
      dispatch: "forward",
    });
  }
  await until(() => environment.resolver.ports().size === 2 * serviceCount + 1);
  let answered = 0;
  for (const { name, ports } of services)
    for (const { name: port, listenPort } of ports) {
      const hosts = [`${name}.many.svc.cluster.local`, name, "app.example.com", "10.0.0.1:8080", "s0.many"];
      const asked = Array.from({ length: rounds }, () => hosts).flat();
      const client = environment.client(listenPort);
      client.send(asked.map((host) => `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join(""));
      const expected = asked.map((host) => `${name} ${port} ${host}`);
      const bodies = () => client.received.split(/HTTP\/1\.1 200 OK\r\n.*\r\n\r\n/).slice(1);
      await until(() => bodies().length === asked.length && client.received.endsWith(expected.at(-1) ?? ""));
      expect(bodies()).toEqual(expected);
      answered += asked.length;
      client.socket.destroy();
    }
  expect(answered).toBe(10_000);
});

test("the shared port finds a service by its name, and no other", async () => {
  const sharedPort = await freePort();
  await using environment = await TestEnvironment.start({ sharedPort });
  environment.ready(await environment.pod(hello));
  for (const host of [
    "web.shop",
    "web.shop.svc",
    "WEB.shop.svc.cluster.local",
    "web.shop.svc.cluster.local:80",
  ]) {
    const client = environment.client(sharedPort).send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await client.gets("hello");
  }
  for (const host of ["web", "web.shop.example.com", "web.other", "10.0.0.1"]) {
    const client = environment.client(sharedPort).send(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await client.gets("404 Not Found");
  }
});

test("a service that sleeps answers probes without waking, and others wake it", async () => {
  await using environment = await TestEnvironment.start({
    target: {
      probeResponses: [
        { path: { type: "Exact", value: "/healthz" }, response: { status: 204, body: "" } },
        {
          method: "GET",
          path: { type: "RegularExpression", value: "^/(a+)+$" },
          headers: [{ name: "X-Probe", value: "yes" }],
          queryParams: [{ name: "deep", value: "^[0-9]$", type: "RegularExpression" }],
          response: { status: 503, body: "not now" },
        },
      ],
    },
  });
  const client = environment.client();
  expect(await client.get("/healthz")).toContain("204 No Content");
  expect(await client.get("/", "User-Agent: kube-probe/1.35\r\n")).toContain("200 OK");
  expect(await client.get("/aaa?deep=1", "X-Probe: yes\r\n")).toContain("not now");
  expect(environment.traffic).toMatchObject({ requests: 0, held: 0 });
  expect(environment.wakes).toEqual([]);
  const waiting = client.get(`/${"a".repeat(5_000)}!`, "X-Probe: yes\r\n");
  await until(() => environment.wakes.length === 1);
  environment.ready(await environment.pod(hello));
  expect(await waiting).toContain("hello");
  // Awake, it answers for itself.
  expect(await client.get("/healthz")).toContain("hello");
});

test("a browser sees a page while its service starts, and an API client waits", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, target: { waitingPage: {} } });
  const page = await environment.client().get("/", "Accept: text/html,*/*\r\n");
  expect(page).toMatch(/^HTTP\/1.1 503 /);
  expect(page).toContain("web is starting");
  expect(environment.wakes).toHaveLength(1);
  const api = environment.client().get("/", "Accept: application/json\r\n");
  await until(() => environment.traffic.held === 1);
  environment.set({ waitingPage: { afterMs: 2_000, html: "<p>soon</p>" } });
  const browser = environment.client().get("/", "Accept: text/html\r\n");
  await until(() => environment.traffic.held === 2);
  await clock.advance(2_000);
  expect(await browser).toContain("<p>soon</p>");
  environment.ready(await environment.pod(hello));
  expect(await api).toContain("hello");
});

test("a client that asks where a connection leads is answered, asleep or awake, and wakes nothing", async () => {
  await using environment = await TestEnvironment.start();
  const ask = () => environment.client().get("/", "Elasti-Path-Probe: abc123\r\nConnection: close\r\n");
  expect(await ask()).toContain(`elasti-path-probe: ${pathProof().answerTo("abc123")}\r\n`);
  const pod = await environment.pod(hello);
  environment.ready(pod);
  expect(await ask()).toMatch(/^HTTP\/1.1 204 /);
  expect(pod.connections).toBe(0);
  expect(environment.wakes).toEqual([]);
  expect(environment.traffic.requests).toBe(0);
});

test("a service that is gone is no longer listened for, and the requests that waited are answered", async () => {
  await using environment = await TestEnvironment.start();
  const waiting = environment.client().get();
  await until(() => environment.traffic.held === 1);
  environment.table.delete(serviceKey("shop", "web"));
  expect(await waiting).toContain("404 Not Found");
  expect(environment.resolver.ports().size).toBe(0);
});

test("clients that send no request, or not all of its head, are ended in time", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({
    clock,
    protocol: "http",
    limits: { idle: "60s", head: "10s" },
  });
  environment.ready(await environment.pod(hello));
  const [idle, slow] = [environment.client(), environment.client()];
  await idle.get();
  slow.send("GET / HTTP/1.1\r\nHost: a\r\n");
  await until(() => slow.socket.bytesWritten > 0);
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(11_000);
  await slow.gets("408 Request Timeout");
  expect(idle.isClosed).toBe(false);
  await clock.advance(60_000);
  await until(() => idle.hasEnded);
});

test("a body of which nothing more comes gives its place at the pod back", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, limits: { idle: "60s" } });
  let received = "";
  environment.ready(
    await environment.pod((socket) => {
      socket.on("data", (bytes: Buffer) => {
        received += bytes.toString("latin1");
      });
    }),
  );
  const slow = environment.client().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  await until(() => environment.traffic.inFlight === 1);
  await until(() => environment.traffic.upstreamConnections === 1);
  // A pod that has not answered yet is given a moment before it gets a body.
  while (!received.includes("\r\n\r\n")) await clock.advance(20);
  for (const byte of "hello") {
    slow.send(byte);
    await until(() => received.endsWith(byte));
    await clock.advance(50_000);
  }
  expect(environment.traffic.inFlight).toBe(1);
  await clock.advance(61_000);
  await slow.gets("408 Request Timeout");
  expect(environment.traffic.inFlight).toBe(0);
});

test("a response that its client does not read gives its place at the pod back", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({ clock, limits: { idle: "60s" } });
  const size = 64 * 1024 * 1024;
  const pod = await environment.pod((socket) => {
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      socket.write(Buffer.alloc(size));
    });
  });
  environment.ready(pod);
  const deaf = environment.client();
  deaf.socket.pause();
  deaf.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => environment.traffic.inFlight === 1 && pod.connections === 1);
  // While something moves, however slowly, it goes on.
  let turns = 0;
  await until(() => turns++ > 300);
  await clock.advance(30_000);
  expect(environment.traffic.inFlight).toBe(1);
  await clock.advance(65_000);
  await until(() => environment.traffic.inFlight === 0);
});

test("what clients send makes no new series", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(await environment.pod(hello));
  const client = environment.client();
  await client.get("/");
  const size = environment.metrics.render().split("\n").length;
  for (let count = 0; count < 200; count++) await client.get(`/${count}`, `X-${count}: y\r\n`);
  expect(environment.metrics.render().split("\n")).toHaveLength(size);
});

test("a client of HTTP that takes its time to speak is not joined to a pod, as any other is", async () => {
  for (const protocol of ["http", "auto"] as const) {
    const clock = new ManualClock();
    await using environment = await TestEnvironment.start({ clock, protocol });
    const pod = await environment.pod(answering(() => response("hello")));
    environment.ready(pod);
    const early = environment.client();
    await until(() => early.socket.readyState === "open");
    // One that speaks shows that those before it were accepted.
    expect(await environment.client().get()).toContain("hello");
    const before = pod.connections;
    await clock.advance(5_000);
    if (protocol === "auto") await until(() => pod.connections > before);
    else expect(environment.traffic.inFlight).toBe(0);
    expect(environment.traffic.inFlight).toBe(protocol === "auto" ? 1 : 0);
    expect(await early.get()).toContain("hello");
  }
});

test("a client that sends nothing, or too little, is disconnected where silence is no protocol", async () => {
  const clock = new ManualClock();
  await using environment = await TestEnvironment.start({
    clock,
    protocol: "http",
    limits: { idle: "60s", head: "10s" },
  });
  const silent = environment.client();
  // It might go on as the preface of HTTP/2.
  const curt = environment.client().send("PRI * HT");
  await until(() => silent.socket.readyState === "open" && curt.socket.bytesWritten > 0);
  environment.ready(await environment.pod(answering(() => response("hello"))));
  expect(await environment.client().get()).toContain("hello");
  await clock.advance(12_000);
  await until(() => curt.hasEnded);
  expect(silent.hasEnded).toBe(false);
  await clock.advance(60_000);
  await until(() => silent.hasEnded);
});

test("a port that gets another name, or protocol, is served on", async () => {
  await using environment = await TestEnvironment.start();
  environment.ready(await environment.pod(answering(() => response("hello"))));
  expect(await environment.client().get()).toContain("hello");
  const [endpoint] = environment.table.endpoints("shop/web", "http");
  environment.set({ ports: [{ name: "web", port: 80, listenPort: environment.port, protocol: "tcp" }] });
  environment.table.setEndpoints("shop/web", new Map([["web", endpoint ? [endpoint] : []]]));
  expect(await environment.client().get()).toContain("hello");
});
