import { manager } from "@windlass/runtime";
import { Secret, StatefulSet } from "@windlass/runtime/kinds";
import { startCluster, testReconcile, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Shop, shop } from "./shop.ts";

test("the web server comes after its database, which comes after its password", async () => {
  await using cluster = await startCluster();
  await cluster.install(Shop);
  const namespace = await cluster.createNamespace();
  await cluster.run("shop", (options) => manager(options).add(shop));
  const key = { namespace, name: "books" };
  await cluster.client.create(Shop, { metadata: key, spec: { image: "nginx:1.25" } });
  await waitForCondition(cluster.client, Shop, key, "Ready");
  const database = await cluster.client.get(StatefulSet, { namespace, name: "books-database" });
  expect(database.status?.availableReplicas).toBe(1);
  const before = await cluster.client.get(Secret, key);
  await cluster.client.patch(Shop, key, { type: "merge", patch: { spec: { image: "nginx:1.26" } } });
  await waitForCondition(cluster.client, Shop, key, "Ready");
  expect((await cluster.client.get(Secret, key)).data).toEqual(before.data);
}, 60_000);

test("the order is part of what the reconciler returns", async () => {
  const { children } = await testReconcile(shop, Shop.make("books", { image: "nginx:1.25" }));
  const [, password, database, web] = children;
  expect(database?.options.after).toEqual([password]);
  expect(web?.options.after).toEqual([database]);
});
