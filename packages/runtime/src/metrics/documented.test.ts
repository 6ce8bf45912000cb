import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createCache } from "../cache/index.ts";
import { ModelServer } from "../cache/model-server.fixture.ts";
import { certificateFileMetrics, webhookMetrics } from "../webhook/webhook-metrics.ts";
import { cacheObserver, watchCache } from "./cache-metrics.ts";
import { controllerMetrics } from "./controller-metrics.ts";
import { electionMetrics, rejectionCounter, requestCounter, requestMeasures } from "./manager-metrics.ts";
import { migrationMetrics } from "./migration-metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";
import { Registry } from "./registry.ts";

const source = new URL("../", import.meta.url);
const page = readFileSync(new URL("../../../../docs/reference/metrics.md", import.meta.url), "utf8");

/** The rows of the page's tables: name, type, labels. */
const documented = page
  .split("\n")
  .map((line) => /^\| `(?<name>[a-z_]+)` \| (?<type>\w+) \|(?<labels>[^|]*)\|/.exec(line)?.groups)
  .filter((row) => row !== undefined)
  .map(({ name, type, labels = "" }) => `${name} ${type} ${labels.replaceAll(/[`,]/g, "").trim()}`.trim());

function everything(): Registry {
  const registry = new Registry();
  controllerMetrics(registry, "webapp", 1);
  queueMetrics(registry, "webapp", () => ({ depth: new Map(), running: [] }));
  cacheObserver(registry);
  watchCache(registry, createCache({ source: new ModelServer() }));
  webhookMetrics(registry, ["/validate"]);
  certificateFileMetrics(registry);
  electionMetrics(registry, "webapp-operator");
  requestCounter(registry, "localhost:6443");
  requestMeasures(registry);
  rejectionCounter(registry);
  migrationMetrics(registry);
  return registry;
}

test("every metric is on the reference page, with its type and labels, and nothing else is", () => {
  const measured = everything()
    .describe()
    .map(({ name, type, labels }) => `${name} ${type} ${labels.join(" ")}`.trim());
  expect(documented.toSorted()).toEqual(measured.toSorted());
});

test("no metric is made anywhere that these lists do not know", () => {
  const known = new Set(
    everything()
      .describe()
      .map(({ name }) => name),
  );
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const named = files
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .flatMap((file) => [
      ...readFileSync(new URL(file, source), "utf8").matchAll(
        /"((?:controller_runtime|workqueue|rest_client|leader_election|certwatcher|windlass)_[a-z_]+)"/g,
      ),
    ])
    .map(([, name = ""]) => name);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
  expect(new Set(named)).toEqual(known);
});

test("what dashboards for controller-runtime draw is there from the first scrape, at zero", () => {
  const lines = everything().render().split("\n");
  const queue = '{name="webapp",controller="webapp"';
  const named = '{controller="webapp"';
  const lease = '{name="webapp-operator"}';
  const webhook = '{webhook="/validate"';
  for (const series of [
    ...["success", "error", "requeue", "requeue_after"].map(
      (result) => `controller_runtime_reconcile_total${named},result="${result}"}`,
    ),
    `controller_runtime_reconcile_errors_total${named}}`,
    `controller_runtime_terminal_reconcile_errors_total${named}}`,
    `controller_runtime_reconcile_panics_total${named}}`,
    `controller_runtime_reconcile_timeouts_total${named}}`,
    `controller_runtime_reconcile_time_seconds_bucket${named},le="0.005"}`,
    `controller_runtime_reconcile_time_seconds_bucket${named},le="60"}`,
    `controller_runtime_reconcile_time_seconds_count${named}}`,
    `controller_runtime_active_workers${named}}`,
    `workqueue_depth${queue},priority="0"}`,
    `workqueue_adds_total${queue}}`,
    `workqueue_queue_duration_seconds_count${queue}}`,
    `workqueue_work_duration_seconds_count${queue}}`,
    `workqueue_unfinished_work_seconds${queue}}`,
    `workqueue_longest_running_processor_seconds${queue}}`,
    `workqueue_retries_total${queue}}`,
    `leader_election_master_status${lease}`,
    `leader_election_slowpath_total${lease}`,
    "certwatcher_read_certificate_total",
    "certwatcher_read_certificate_errors_total",
    `controller_runtime_webhook_latency_seconds_count${webhook}}`,
    `controller_runtime_webhook_requests_total${webhook},code="200"}`,
    `controller_runtime_webhook_requests_total${webhook},code="500"}`,
    `controller_runtime_webhook_requests_in_flight${webhook}}`,
    "controller_runtime_webhook_panics_total",
    "controller_runtime_conversion_webhook_panics_total",
  ])
    expect(lines).toContain(`${series} 0`);
  expect(lines).toContain(`controller_runtime_max_concurrent_reconciles${named}} 1`);
});
