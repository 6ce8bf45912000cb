import { manager } from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Hall, hall } from "./seats.ts";

test("a loop that counts what is in the cache makes as many as are missing, and not one more", async () => {
  await using cluster = await startCluster();
  await cluster.install(Hall);
  await cluster.run("hall-operator", (options) => manager(options).add(hall));
  const key = { namespace: await cluster.createNamespace(), name: "opera" };
  await cluster.client.create(Hall, { metadata: key, spec: { seats: 20 } });
  await waitForCondition(cluster.client, Hall, key, "Ready");
  const { items } = await cluster.client.list(ConfigMap, { namespace: key.namespace });
  expect(items.filter(({ metadata }) => metadata.name.startsWith("opera-"))).toHaveLength(20);
}, 60_000);
