import { startCluster } from "@windlass/testing";
import { WebApp } from "@windlass/webapp";
import { expect, test, vi } from "vitest";
import { manyReady, startCounted } from "../../operators/webapp/testing/many.ts";

const count = 1_000;

/**
 * On the real control plane with simulated nodes: pods become Ready there and run nothing, so there
 * is room for a thousand.
 */
test("a thousand WebApps become Ready, and then cost nothing, not even a restart", async () => {
  await using cluster = await startCluster({ flavour: "cluster" });
  await cluster.install({ crd: () => WebApp.crd({ conversion: "None" }) });
  const namespace = await cluster.createNamespace("thousand");
  const began = performance.now();
  const first = await startCounted(cluster);
  await manyReady(cluster, namespace, count);
  const seconds = Math.round((performance.now() - began) / 1_000);
  process.stdout.write(`${count} WebApps were Ready after ${seconds} s and ${first.writes} writes\n`);
  await first.manager.stop();

  const second = await startCounted(cluster);
  await vi.waitFor(() => expect(second.reconciles).toBeGreaterThanOrEqual(count), { timeout: 60_000 });
  expect(second.writes).toBe(0);
  await manyReady(cluster, namespace, 1, "one-more");
  expect(second.writes).toBeLessThan(20);

  // The operator must see its WebApps off before the namespace can go.
  await cluster.client.deleteCollection(WebApp, { namespace });
  await vi.waitFor(
    async () => expect((await cluster.client.list(WebApp, { namespace, limit: 1 })).items).toEqual([]),
    { timeout: 300_000, interval: 1_000 },
  );
  await second.manager.stop();
}, 900_000);
