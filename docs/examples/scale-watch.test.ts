import { manager } from "@windlass/runtime";
import { Deployment } from "@windlass/runtime/kinds";
import { startCluster, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { ScaleWatch, scaleWatch } from "./scale-watch.ts";

test("a target is followed from the moment that an object points at it", async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.install(ScaleWatch);
  await cluster.run("scale-watch", (options) => manager(options).add(scaleWatch));
  const key = { namespace: await cluster.createNamespace(), name: "web" };
  const target = { kind: "Deployment", name: "web" } as const;
  await client.create(ScaleWatch, { metadata: key, spec: { target } });
  const missing = await waitForCondition(client, ScaleWatch, key, "Ready", "False");
  expect(missing.status?.conditions?.[0]?.reason).toBe("TargetMissing");

  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await client.create(Deployment, { metadata: key, spec });
  await waitForCondition(client, ScaleWatch, key, "Ready");
  if (cluster.hasControllers) await waitFor(client, ScaleWatch, key, ({ status }) => status?.replicas === 2);
}, 60_000);
