import { manager } from "@windlass/runtime";
import { Deployment, Pod } from "@windlass/runtime/kinds";
import { existing, startCluster, testReconcile, waitFor, waitForCondition } from "@windlass/testing";
import { expect, test } from "vitest";
import { Memcached, memcached } from "./memcached.ts";

test("each server is a pod of one Deployment, and the port is the one that is asked for", async () => {
  const object = Memcached.make("cache", { size: 3, containerPort: 1_234 });
  const { child, status } = await testReconcile(memcached, object, {
    owned: [existing(Deployment, { metadata: { name: "cache" }, status: { availableReplicas: 2 } })],
  });
  expect(child(Deployment)?.spec.replicas).toBe(3);
  const [container] = child(Deployment)?.spec.template.spec?.containers ?? [];
  expect(container?.ports).toEqual([{ name: "memcached", containerPort: 1_234 }]);
  expect(status?.conditions).toMatchObject([{ status: "False", message: "2 of 3 servers are available" }]);
});

test("why its servers do not come up is the reason", async () => {
  const labels = { "app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": "cache" };
  const containerStatuses = [
    { name: "memcached", image: "memcached:nope", state: { waiting: { reason: "ErrImagePull" } } },
  ];
  const { status } = await testReconcile(memcached, Memcached.make("cache", { size: 1 }), {
    owned: [existing(Deployment, { metadata: { name: "cache" } })],
    cache: [existing(Pod, { metadata: { name: "cache-1", labels }, status: { containerStatuses } })],
  });
  expect(status?.conditions).toMatchObject([
    {
      reason: "ImagePullFailed",
      message: "0 of 1 servers are available; pod cache-1 cannot pull image memcached:nope",
    },
  ]);
});

test("its status names the pods, and it follows the size", async () => {
  await using cluster = await startCluster();
  await cluster.install(Memcached);
  const namespace = await cluster.createNamespace();
  await cluster.run("memcached", (options) => manager(options).add(memcached));
  const { client } = cluster;
  const key = { namespace, name: "cache" };
  await client.create(Memcached, { metadata: key, spec: { size: 2 } });
  await waitFor(client, Deployment, key, ({ spec }) => spec.replicas === 2);
  // A bare API server makes no pods.
  if (!cluster.hasControllers) return;
  const nodes = (count: number) =>
    waitFor(client, Memcached, key, ({ status }) => status?.nodes?.length === count && status.nodes);
  expect(await nodes(2)).toEqual([expect.stringMatching(/^cache-/), expect.stringMatching(/^cache-/)]);
  await waitForCondition(client, Memcached, key, "Ready");
  await client.patch(Memcached, key, { type: "merge", patch: { spec: { size: 1 } } });
  await nodes(1);
}, 60_000);
