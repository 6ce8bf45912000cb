import { startCluster } from "@windlass/testing";
import { expect, test, vi } from "vitest";
import { manyReady, startCounted } from "../testing/many.ts";
import { WebApp } from "./index.ts";

// Enough to see it by; the real control plane gets a thousand, in the lab's suite `scale`.
const count = 100;

test("many WebApps become Ready, and then cost nothing, not even a restart", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  await cluster.install({ crd: () => WebApp.crd({ conversion: "None" }) });
  const namespace = await cluster.createNamespace("many");
  const first = await startCounted(cluster);
  await manyReady(cluster, namespace, count);
  await first.manager.stop();
  const second = await startCounted(cluster);
  await vi.waitFor(() => expect(second.reconciles).toBeGreaterThanOrEqual(count), { timeout: 15_000 });
  await second.manager.stop();
  expect(second.writes).toBe(0);
}, 60_000);
