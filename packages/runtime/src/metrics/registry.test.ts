import { expect, test } from "vitest";
import { controllerMetrics } from "./controller-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { Registry } from "./registry.ts";

test("renders the Prometheus text format, with label values escaped", () => {
  const registry = new Registry();
  const hits = registry.counter({ name: "hits_total", help: "Hits \\ and\nmore", labels: ["path"] });
  hits.inc({ path: 'a"b\\c\nd' });
  hits.inc({ path: "/" }, 2.5);
  registry.gauge({ name: "depth", help: "Depth" }).set(-1);
  expect(registry.render()).toBe(
    [
      "# HELP hits_total Hits \\\\ and\\nmore",
      "# TYPE hits_total counter",
      'hits_total{path="a\\"b\\\\c\\nd"} 1',
      'hits_total{path="/"} 2.5',
      "# HELP depth Depth",
      "# TYPE depth gauge",
      "depth -1",
      "",
    ].join("\n"),
  );
});

test("histogram buckets are cumulative and end with the count", () => {
  const registry = new Registry();
  const time = registry.histogram({ name: "t", help: "T", labels: ["a"], buckets: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 7]) time.observe(value, { a: "x" });
  const lines = registry.render().split("\n");
  expect(lines.slice(2, 7)).toEqual([
    't_bucket{a="x",le="0.1"} 2',
    't_bucket{a="x",le="1"} 3',
    't_bucket{a="x",le="+Inf"} 4',
    't_sum{a="x"} 7.65',
    't_count{a="x"} 4',
  ]);
});

test("the same name is the same metric; another type under it is refused", () => {
  const registry = new Registry();
  registry.counter({ name: "n", help: "N" }).inc();
  expect(registry.counter({ name: "n", help: "N" }).value()).toBe(1);
  expect(() => registry.gauge({ name: "n", help: "N" })).toThrow("already registered as a counter");
});

test("labels that are missing or unknown, bad names and negative amounts are refused", () => {
  const registry = new Registry();
  // Names that the compiler does not know.
  const names: readonly string[] = ["a"];
  const counter = registry.counter({ name: "n", help: "N", labels: names });
  expect(() => counter.inc()).toThrow('label "a" is missing');
  expect(() => counter.inc({ a: "1", b: "2" })).toThrow('no label "b"');
  expect(() => counter.inc({ a: "1" }, -1)).toThrow(RangeError);
  expect(() => registry.counter({ name: "a b", help: "" })).toThrow("not a metric name");
});

test("a controller's series are there with zeros from the start, so that rates work", () => {
  const registry = new Registry();
  controllerMetrics(registry, "webapp", 4);
  const text = registry.render();
  for (const result of ["success", "error", "requeue", "requeue_after"])
    expect(text).toContain(`controller_runtime_reconcile_total{controller="webapp",result="${result}"} 0`);
  expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="webapp"} 4');
  expect(text).toContain('controller_runtime_reconcile_time_seconds_count{controller="webapp"} 0');
  expect(text).toContain('controller_runtime_reconcile_panics_total{controller="webapp"} 0');
});

test("a failure's reason has a bounded number of series", () => {
  const registry = new Registry();
  const metrics = controllerMetrics(registry, "webapp", 1);
  for (let index = 0; index < 80; index += 1) metrics.failed(`Reason${index}`, { terminal: false });
  const reasons = registry.render().match(/windlass_reconcile_failures_total\{[^}]*reason="[^"]*"/g);
  expect(reasons).toHaveLength(51);
  expect(registry.render()).toContain('reason="exceeded_cardinality_limit"} 30');
});

test("a queue's depth is asked for at each scrape, by priority, and falls back to zero", () => {
  const registry = new Registry();
  let depth = new Map([
    [0, 2],
    [-100, 7],
  ]);
  queueMetrics(registry, "webapp", () => ({ depth, running: [1.5, 0.5] }));
  expect(registry.render()).toContain('workqueue_depth{name="webapp",controller="webapp",priority="-100"} 7');
  expect(registry.render()).toContain(
    'workqueue_unfinished_work_seconds{name="webapp",controller="webapp"} 2',
  );
  expect(registry.render()).toContain(
    'workqueue_longest_running_processor_seconds{name="webapp",controller="webapp"} 1.5',
  );
  depth = new Map();
  expect(registry.render()).toContain('workqueue_depth{name="webapp",controller="webapp",priority="-100"} 0');
});

test("a queue's priorities have a bounded number of series", () => {
  const registry = new Registry();
  const depth = new Map(Array.from({ length: 40 }, (_, priority) => [priority, 1]));
  queueMetrics(registry, "webapp", () => ({ depth, running: [] }));
  const lines = registry
    .render()
    .split("\n")
    .filter((line) => line.startsWith("workqueue_depth{"));
  expect(lines).toHaveLength(26);
  expect(lines.at(-1)).toBe(
    'workqueue_depth{name="webapp",controller="webapp",priority="exceeded_cardinality_limit"} 15',
  );
});

test("frozen labels count as any others do, for each metric by itself", () => {
  const registry = new Registry();
  const one = registry.counter({ name: "one_total", help: "One", labels: ["a"] });
  const names: readonly string[] = ["b"];
  const two = registry.counter({ name: "two_total", help: "Two", labels: names });
  const labels = Object.freeze({ a: "x" });
  one.inc(labels);
  one.inc(labels);
  one.inc({ a: "x" });
  expect(one.value({ a: "x" })).toBe(3);
  expect(() => two.inc(labels)).toThrow(TypeError);
});
