import assert from "node:assert/strict";
import { test } from "node:test";
import { manager } from "@windlass/runtime";
import { Deployment, Service } from "@windlass/runtime/kinds";
import { existing, startCluster, testReconcile, waitForCondition } from "@windlass/testing";
import { gadgetController } from "./controller.ts";
import { Gadget } from "./kind.ts";

// A reconciler is a function: it needs no server.
test("a Gadget wants a Deployment of its image, and a Service", async () => {
  const shop = Gadget.make("shop", { image: "nginx:1.29", replicas: 2 });
  const { child } = await testReconcile(gadgetController, shop);
  assert.equal(child(Deployment)?.spec?.replicas, 2);
  assert.equal(child(Deployment)?.spec?.template.spec?.containers[0]?.image, "nginx:1.29");
  assert.deepEqual(child(Service)?.spec?.ports, [{ port: 80 }]);
});

test("a Gadget is not Ready before its pods are available", async () => {
  const shop = Gadget.make("shop", { image: "nginx:1.29", replicas: 2 });
  const rolling = existing(Deployment, { metadata: { name: "shop" }, status: { availableReplicas: 1 } });
  const { status } = await testReconcile(gadgetController, shop, { owned: [rolling] });
  assert.equal(status?.conditions?.[0]?.status, "False");
});

// On an API server in this process. Without a flavour, KUBEBUILDER_ASSETS or KUBECONFIG choose a
// real one: that of your terminal may be a cluster that others use.
test("a Gadget becomes Ready, and follows its spec", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(Gadget);
  await cluster.run("gadget-operator", (options) => manager(options).add(gadgetController));
  const key = { namespace: await cluster.createNamespace(), name: "shop" };

  await cluster.client.create(Gadget, { metadata: key, spec: { image: "nginx:1.29" } });
  await waitForCondition(cluster.client, Gadget, key, "Ready");

  await cluster.client.patch(Gadget, key, { type: "merge", patch: { spec: { replicas: 0 } } });
  await waitForCondition(cluster.client, Gadget, key, "Ready");
  assert.equal((await cluster.client.get(Deployment, key)).spec?.replicas, 0);
});
