import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Registry } from "@windlass/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { windlass } from "../program.ts";
import { readSamples, type Sample } from "../prometheus-text.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";
import { figuresOf, type Reading } from "./figures.ts";
import { duration, table } from "./table.ts";

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

test("windlass top says what it cannot do", async () => {
  expect(await top("--url", "http://127.0.0.1:1/metrics")).toMatchObject({ code: 1 });
  expect((await top("--interval", "0")).code).toBe(2);
  expect((await top()).complained).toContain("give it --url");
});
