import { Client } from "@windlass/client";
import { manager, silentLogger } from "@windlass/runtime";
import { Namespace } from "@windlass/runtime/kinds";
import { startCluster, waitFor } from "@windlass/testing";
import { expect, test, vi } from "vitest";
import { BuildKitPool, BuildKitWorker, claimed, controllers, isClaimable, released } from "./index.ts";
import { kinds } from "./kinds.fixture.ts";

const namespace = "builds";
const system = "buildkit-system";
const wait = { timeout: 20_000 };

/** The value of a series, by its name and labels as they are rendered. */
function seriesValue(text: string, series: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test("each metric of the operator says what happens to a pool", { timeout: 60_000 }, async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const { client } = cluster;
  await cluster.install(...kinds);
  cluster.controlPlane?.node.missingImages("moby/buildkit:no-such-tag");
  for (const name of [namespace, system]) await client.create(Namespace, { metadata: { name } });
  await using running = manager({
    client: new Client({ transport: cluster.transport(), fieldManager: "operator" }),
    health: false,
    metrics: false,
    log: silentLogger,
  });
  const probe = { builds: async () => ({ is: "known", count: 0 }) as const, prune: async () => true };
  for (const part of controllers({ namespace: system, gatewayImage: "gateway:1", probe, askEvery: "100ms" }))
    running.add(part);
  await running.start();
  const value = (name: string, labels = "") =>
    seriesValue(running.registry.render(), `${name}{pool="ci",namespace="builds"${labels}}`);
  const becomes = (expected: number, name: string, labels = "") =>
    vi.waitFor(() => expect(value(name, labels), `${name}${labels}`).toBe(expected), wait);

  const key = { namespace, name: "ci" };
  await client.create(BuildKitPool, { metadata: key, spec: { scaling: { min: 1, max: 2 } } });
  await becomes(1, "buildkit_workers_total", ',phase="idle"');
  expect(value("buildkit_workers_max")).toBe(2);
  expect(value("buildkit_worker_start_duration_seconds_count")).toBe(1);
  expect(value("buildkit_queue_length")).toBe(0);
  expect(value("buildkit_queue_oldest_seconds")).toBe(0);
  expect(value("buildkit_certificate_expiry_timestamp_seconds")).toBeGreaterThan(Date.now() / 1_000);

  const [first] = (await client.list(BuildKitWorker, { namespace })).items;
  const worker = { namespace, name: first?.metadata.name ?? "" };
  const idle = await waitFor(client, BuildKitWorker, worker, (one) => isClaimable(one) && one, wait);
  const now = new Date();
  const allocation = {
    jobId: "1",
    tokenHash: "0".repeat(64),
    requestedBy: "someone",
    allocatedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + 3_600_000).toISOString(),
  };
  await client.update(BuildKitWorker, claimed(idle, allocation));
  await becomes(1, "buildkit_workers_total", ',phase="allocated"');
  await becomes(1, "buildkit_worker_allocations_total");
  await client.update(BuildKitWorker, released(await client.get(BuildKitWorker, worker)));
  await becomes(0, "buildkit_workers_total", ',phase="allocated"');

  const broken = { spec: { buildkitImage: "moby/buildkit:no-such-tag" } };
  await client.patch(BuildKitPool, key, { type: "merge", patch: broken });
  await vi.waitFor(
    () =>
      expect(value("buildkit_worker_failures_total", ',reason="ImagePullFailed"')).toBeGreaterThanOrEqual(1),
    wait,
  );
  await client.delete(BuildKitPool, key);
  await vi.waitFor(() => expect(value("buildkit_workers_max")).toBeUndefined(), wait);
});
