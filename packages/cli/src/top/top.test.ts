import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { type AnyKind, Client, type Interceptor, isAlreadyExists } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { controller, defineResource, Registry } from "@windlass/runtime";
import {
  CustomResourceDefinition,
  Namespace,
  Pod,
  type Pod as PodType,
  Role,
  RoleBinding,
  ServiceAccount,
} from "@windlass/runtime/kinds";
import { waitForCondition } from "@windlass/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { freePort } from "../dev/free-port.ts";
import { defineOperator } from "../generate/operator.ts";
import { resolveOperator } from "../generate/resolve.ts";
import { windlass } from "../program.ts";
import { readSamples, type Sample } from "../prometheus-text.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";
import { figuresOf, type Reading } from "./figures.ts";
import { metricsOfPods } from "./read-metrics.ts";
import { duration, table } from "./table.ts";
import { UnreadyObjects } from "./unready.ts";

/** Metrics of a replica, as the runtime has them. */
function replica() {
  const registry = new Registry();
  const labels = ["controller"];
  const metrics = {
    workers: registry.gauge({ name: "controller_runtime_max_concurrent_reconciles", help: "", labels }),
    reconciles: registry.counter({
      name: "controller_runtime_reconcile_total",
      help: "",
      labels: ["controller", "result"],
    }),
    failures: registry.counter({
      name: "windlass_reconcile_failures_total",
      help: "",
      labels: ["controller", "reason"],
    }),
    time: registry.histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "",
      labels,
      buckets: [0.01, 0.1, 1],
    }),
    leads: registry.gauge({ name: "leader_election_master_status", help: "", labels: ["name"] }),
    requests: registry.counter({ name: "rest_client_requests_total", help: "", labels: ["code"] }),
    items: registry.gauge({ name: "windlass_cache_items", help: "", labels: ["kind"] }),
  };
  metrics.workers.set(4, { controller: "shop" });
  return { ...metrics, registry, samples: () => readSamples(registry.render()) };
}

const reading = (atMs: number, ...replicas: readonly (readonly Sample[])[]): Reading => ({
  atMs,
  replicas: new Map(replicas.map((samples, index) => [`pod-${index}`, samples])),
  silent: new Map(),
});

test("rates are of the time between two readings, over all replicas", () => {
  const [leader, standby] = [replica(), replica()];
  leader.leads.set(1, { name: "shop" });
  leader.items.set(7, { kind: "Shop" });
  standby.items.set(7, { kind: "Shop" });
  leader.reconciles.inc({ controller: "shop", result: "success" }, 100);
  const earlier = reading(1_000, leader.samples(), standby.samples());
  leader.reconciles.inc({ controller: "shop", result: "success" }, 8);
  leader.reconciles.inc({ controller: "shop", result: "error" }, 2);
  leader.failures.inc({ controller: "shop", reason: "Forbidden" }, 2);
  for (let count = 0; count < 99; count++) leader.time.observe(0.05, { controller: "shop" });
  leader.time.observe(0.5, { controller: "shop" });
  const {
    controllers,
    caches,
    leader: name,
  } = figuresOf(earlier, reading(3_000, leader.samples(), standby.samples()));
  expect(name).toBe("pod-0");
  expect(controllers).toMatchObject([
    { name: "shop", workers: 4, reconciles: 5, failures: [{ reason: "Forbidden", count: 2 }] },
  ]);
  expect(controllers[0]?.medianSeconds).toBeGreaterThan(0.01);
  expect(controllers[0]?.medianSeconds).toBeLessThan(0.1);
  expect(controllers[0]?.p99Seconds).toBeCloseTo(0.1);
  expect(caches).toMatchObject([{ kind: "Shop", items: 7 }]);
});

test("a process that restarted counts from zero", () => {
  const [old, young] = [replica(), replica()];
  old.requests.inc({ code: "200" }, 50);
  old.reconciles.inc({ controller: "shop", result: "success" }, 100);
  young.requests.inc({ code: "200" }, 5);
  young.reconciles.inc({ controller: "shop", result: "success" }, 3);
  const { controllers } = figuresOf(reading(0, old.samples()), reading(1_000, young.samples()));
  expect(controllers[0]?.reconciles).toBe(3);
});

test("nothing that was timed is no time", () => {
  const one = replica();
  const figures = figuresOf(reading(0, one.samples()), reading(1_000, one.samples()));
  expect(figures.controllers[0]?.p99Seconds).toBeUndefined();
  const text = table("shop-operator", figures, [], (_, words) => words);
  expect(text).toContain("shop-operator  1 replica, nobody leads\n");
  expect(text).toMatch(/^shop +0 +0\/4 +0\.0 +0\.0 +- +- +-/m);
});

test.for([
  [undefined, "-"],
  [0.0042, "4.2 ms"],
  [0.25, "250 ms"],
  [2.5, "2.5 s"],
  [600, "10 min"],
] as const)("%s seconds are shown as %s", ([seconds, text]) => {
  expect(duration(seconds)).toBe(text);
});

test("objects that are not ready are listed, up to ten", () => {
  const one = replica();
  const figures = figuresOf(reading(0, one.samples()), reading(1_000, one.samples()));
  const unready = Array.from({ length: 12 }, (_, index) => ({
    kind: "Shop",
    key: `default/s${index}`,
    reason: "NoMoney",
    message: "x".repeat(100),
  }));
  const text = table("a", figures, unready, (_, words) => words);
  expect(text).toContain("default/s9 ");
  expect(text).not.toContain("default/s10");
  expect(text).toContain("and 2 more");
});

let server: Server;
let answer: () => string;
beforeEach(async () => {
  server = createServer((_, response) => response.end(answer()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function top(...args: readonly string[]) {
  const terminal = recordingTerminal();
  const code = await runProgram(windlass, ["top", ...args], terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;

test("windlass top shows what an operator's metrics say, as often as it is told to", async () => {
  const one = replica();
  answer = () => {
    one.reconciles.inc({ controller: "shop", result: "success" }, 10);
    return one.registry.render();
  };
  const { code, said } = await top("--url", address(), "--count", "2", "--interval", "0.05", "--json");
  expect(code).toBe(0);
  const looks = said
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { controllers: { reconciles: number }[] });
  expect(looks).toHaveLength(2);
  expect(looks[0]?.controllers[0]?.reconciles).toBeGreaterThan(10);
  const text = await top("--url", address(), "--count", "1", "--interval", "0.05");
  expect(text.said).toContain("CONTROLLER");
});

test("windlass top waits for an operator that is away for a while, and says so once", async () => {
  const one = replica();
  let count = 0;
  answer = () => {
    count++;
    // Nobody answers the second, third and fourth reading.
    if (count > 1 && count < 5) server.closeAllConnections();
    return one.registry.render();
  };
  const terminal = recordingTerminal();
  const running = runProgram(windlass, ["top", "--url", address(), "--interval", "0.02"], terminal);
  await expect.poll(() => count).toBeGreaterThan(6);
  await expect.poll(() => terminal.said()).toContain("CONTROLLER");
  terminal.interrupt();
  await running;
  expect(terminal.complained().match(/does not answer: .*; trying again/g)).toHaveLength(1);

  count = 0;
  expect(await top("--url", address(), "--interval", "0.02", "--count", "3")).toMatchObject({ code: 1 });
});

test("windlass top waits for an operator that has not answered yet", async () => {
  const one = replica();
  const address = `http://127.0.0.1:${await freePort()}/metrics`;
  const terminal = recordingTerminal();
  const running = runProgram(windlass, ["top", "--url", address, "--interval", "0.02"], terminal);
  await expect.poll(() => terminal.complained()).toContain("does not answer");
  const late = createServer((_, response) => response.end(one.registry.render()));
  await new Promise<void>((resolve) => late.listen(Number(new URL(address).port), "127.0.0.1", resolve));
  try {
    await expect.poll(() => terminal.said()).toContain("CONTROLLER");
    terminal.interrupt();
    await running;
    expect(terminal.complained().match(/trying again/g)).toHaveLength(1);
  } finally {
    late.closeAllConnections();
    late.close();
  }
});

const Shop = defineResource({
  group: "top.example.com",
  version: "v1",
  kind: "Shop",
  spec: z.object({}),
  status: z.object({}),
});
const operator = resolveOperator(
  defineOperator({
    name: "shop-operator",
    description: "Shops",
    kinds: [Shop],
    controllers: [controller(Shop, { reconcile: () => undefined })],
    namespaces: ["acme", "beta"],
  }),
  "1.0.0",
);

/** A pod as a kubelet reports it. */
async function addPod(client: Client, name: string, status: NonNullable<PodType["status"]>): Promise<void> {
  const metadata = { namespace: "default", name, labels: { "app.kubernetes.io/name": "shop-operator" } };
  await client.create(Pod, { metadata, spec: { containers: [{ name: "manager", image: "shop:1" }] } });
  await client.patch(
    Pod,
    { namespace: "default", name },
    { type: "merge", patch: { status } },
    {
      subresource: "status",
    },
  );
}

test("of the pods that run, one that ends again and again does not hide the others", async () => {
  await using plane = await ControlPlane.start({ controllers: "none" });
  const { samples, registry, leads } = replica();
  leads.set(1, { name: "shop" });
  // What an API server answers whose kubelets have nothing to reach, or hang.
  const proxy: Interceptor = (next) => ({
    close: () => next.close(),
    request: async (request) => {
      const [, pod] = /pods\/(\w+):\d+\/proxy\/metrics$/.exec(request.path) ?? [];
      if (pod === undefined) return await next.request(request);
      const status = { good: 200, gone: 404, crashing: 503 }[pod] ?? 500;
      const text =
        status === 200 ? registry.render() : `{"kind":"Status","code":${status},"message":"no route"}`;
      return { status, headers: {}, body: Readable.from([Buffer.from(text)]) };
    },
  });
  await using client = new Client({ transport: plane.connect() }).through(proxy);
  await client.create(ServiceAccount, { metadata: { namespace: "default", name: "default" } });
  await addPod(client, "good", { phase: "Running" });
  const read = metricsOfPods(client, operator, "default");
  const waiting = { reason: "CrashLoopBackOff", message: "back-off 10s" };
  const lastState = { terminated: { exitCode: 3, reason: "Error" } };
  const container = {
    name: "manager",
    image: "shop:1",
    imageID: "",
    ready: false,
    restartCount: 4,
    state: { waiting },
    lastState,
  };
  await addPod(client, "crashing", { phase: "Running", containerStatuses: [container] });
  await addPod(client, "gone", { phase: "Running" });
  await addPod(client, "mute", { phase: "Running" });
  const answers = await read(new AbortController().signal);
  expect([...answers.replicas.keys()]).toEqual(["good"]);
  expect(answers.replicas.get("good")).toEqual(samples());
  expect(Object.fromEntries(answers.silent)).toEqual({
    crashing: "CrashLoopBackOff, it ended with exit code 3",
    mute: expect.stringContaining("no route"),
  });

  const before = { atMs: 0, ...answers };
  const text = table("shop-operator", figuresOf(before, { ...before, atMs: 1_000 }), [], (_, words) => words);
  expect(text).toContain("shop-operator  3 replicas, good leads\n");
  expect(text).toMatch(/^crashing +CrashLoopBackOff, it ended with exit code 3$/m);

  await client.delete(Pod, { namespace: "default", name: "good" }, { gracePeriodSeconds: 0 });
  await expect(read(new AbortController().signal)).rejects.toThrow(
    /crashing does not answer: CrashLoopBackOff.*mute does not answer/,
  );
});

test("what a replica counted while it was silent is no burst", () => {
  const one = replica();
  one.reconciles.inc({ controller: "shop", result: "success" }, 1_000);
  const earlier = { atMs: 0, replicas: new Map(), silent: new Map([["pod-0", "it took longer than 5 s"]]) };
  const { controllers } = figuresOf(earlier, reading(1_000, one.samples()));
  expect(controllers[0]?.reconciles).toBe(0);
});

test("objects that are not ready are listed where the operator watches, page by page, and followed", async () => {
  await using plane = await ControlPlane.start();
  await using admin = new Client({ transport: plane.connect() });
  await admin.create(CustomResourceDefinition, Shop.crd());
  await waitForCondition(admin, CustomResourceDefinition, { name: Shop.crd().metadata.name }, "Established");
  for (const name of ["acme", "beta", "other"]) await admin.create(Namespace, { metadata: { name } });
  const add = async (namespace: string, name: string, status: "True" | "False") => {
    await admin.create(Shop, { metadata: { namespace, name }, spec: {} }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    const conditions = [{ type: "Ready", status, reason: "NoMoney", message: "broke", lastTransitionTime }];
    const patch = { type: "merge", patch: { status: { conditions } } } as const;
    await admin.patch(Shop as AnyKind, { namespace, name }, patch, { subresource: "status" });
  };
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  await add("acme", "a", "False");
  await add("acme", "b", "True");
  await add("other", "c", "False");
  // Somebody with rights in the operator's namespaces alone, and in one of them none.
  await admin.create(Role, {
    metadata: { namespace: "acme", name: "viewer" },
    rules: [{ apiGroups: [Shop.group], resources: ["shops"], verbs: ["list", "watch"] }],
  });
  await admin.create(RoleBinding, {
    metadata: { namespace: "acme", name: "viewer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "viewer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ada" }],
  });
  const asked: string[] = [];
  const ada: Interceptor = (next) => ({
    close: () => next.close(),
    request: async (request) => {
      asked.push(request.path);
      return await next.request({ ...request, headers: { ...request.headers, "impersonate-user": "ada" } });
    },
  });
  await using client = new Client({ transport: plane.connect() }).through(ada);
  await using unready = new UnreadyObjects(client, operator);
  expect(await unready.now()).toEqual({
    objects: [{ kind: "Shop", key: "acme/a", reason: "NoMoney", message: "broke" }],
    hidden: ["shops in beta"],
  });
  expect(asked.filter((path) => !path.includes("watch")).every((path) => path.includes("limit=500"))).toBe(
    true,
  );
  await add("acme", "b", "False");
  await add("acme", "a", "True");
  const keys = async () => (await unready.now()).objects.map(({ key }) => key);
  await expect.poll(keys).toEqual(["acme/b"]);
  await admin.delete(Shop, { namespace: "acme", name: "b" });
  await expect.poll(keys).toEqual([]);
  const lists = asked.filter((path) => path.includes("/acme/") && !path.includes("watch"));
  expect(lists).toHaveLength(1);
});

test("windlass top says what it cannot do", async () => {
  expect(await top("--url", "http://127.0.0.1:1/metrics", "--count", "1")).toMatchObject({ code: 1 });
  expect((await top("--interval", "0")).code).toBe(2);
  expect((await top()).complained).toContain("give it --url");
});
