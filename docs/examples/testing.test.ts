import { applyManifest, every, isForbidden, manager, rbacFor } from "@windlass/runtime";
import { ConfigMap, Secret } from "@windlass/runtime/kinds";
import {
  existing,
  ManualClock,
  Simulation,
  startCluster,
  testReconcile,
  testSource,
  waitForCondition,
} from "@windlass/testing";
import { expect, onTestFailed, test } from "vitest";
import { Greeting, greeting } from "./greeting.ts";

test("a reconciler is a function of plain objects", async () => {
  const ada = Greeting.make("ada", { name: "Ada", language: "fr" });
  const { child, status } = await testReconcile(greeting, ada);
  expect(child(ConfigMap)?.data).toEqual({ text: "Bonjour, Ada!" });
  expect(status?.text).toBe("Bonjour, Ada!");
});

test("a reconciler finds the children that a test gives it", async () => {
  const ada = Greeting.make("ada", { name: "Ada" });
  const written = existing(ConfigMap, { metadata: { name: "ada" }, data: { text: "Hello, Ada!" } });
  const { writes, children } = await testReconcile(greeting, ada, { owned: [written] });
  expect(writes).toEqual([]);
  expect(children).toHaveLength(1);
});

test("an operator works with the role that is generated for it", async () => {
  await using cluster = await startCluster();
  await cluster.install(Greeting);
  const namespace = await cluster.createNamespace();
  const serviceAccount = { namespace, name: "greeting" };
  for (const object of rbacFor([greeting], { name: `greeting-${namespace}`, serviceAccount }))
    await applyManifest(cluster.client, object);
  const client = await cluster.clientFor(namespace, "greeting");
  await cluster.run("greeting", (options) => manager({ ...options, client }).add(greeting));
  const key = { namespace, name: "ada" };
  await cluster.client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await waitForCondition(cluster.client, Greeting, key, "Ready");
  await expect(client.list(Secret, { namespace })).rejects.toSatisfy(isForbidden);
}, 60_000);

test("an hour passes in a moment, and a settled operator writes nothing in it", async () => {
  await using world = await Simulation.start({ seed: 7 });
  onTestFailed(() => console.log(world.operatorLog));
  await world.install(Greeting);
  await world.run("greeting", (options) => manager(options).add(greeting));
  const key = { namespace: "default", name: "ada" };
  await world.client.create(Greeting, { metadata: key, spec: { name: "Ada" } });
  await world.advance(10_000);
  const settled = await world.client.get(ConfigMap, key);
  await world.advance(3_600_000);
  expect(await world.client.get(ConfigMap, key)).toEqual(settled);
});

test("a source alone", async () => {
  const clock = new ManualClock();
  using tried = testSource(every("1h"), { clock });
  await clock.advance("2h");
  expect(tried.asked).toEqual(["all", "all"]);
});
