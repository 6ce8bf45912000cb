import { Client, isNotFound, type Transport } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { controller, defineResource, manager } from "@windlass/runtime";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@windlass/runtime/kinds";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { Backend } from "./backend.ts";
import { flavourFromEnvironment, startCluster, TestCluster } from "./cluster.ts";
import { Site } from "./site.fixture.ts";
import { waitForDeletion } from "./wait.ts";

/** On a busy machine even what happens at once takes its time. */
const soon = { timeout: 10_000 };

const kindNamed = (kind: string) =>
  defineResource({ group: "testing.windlass.dev", version: "v1", kind, spec: z.object({}) });

/**
 * A cluster that others run and use: closing a test's share of it must leave it as it was.
 */
async function sharedCluster(): Promise<{
  plane: ControlPlane;
  join: () => TestCluster;
  closed: () => number;
}> {
  const plane = await ControlPlane.start();
  onTestFinished(() => plane.close());
  let closed = 0;
  const backend: Backend = {
    hasControllers: true,
    shared: true,
    transport: () => plane.connect() as Transport,
    kubeconfig: () => Promise.resolve(""),
    close: () => {
      closed++;
      return Promise.resolve();
    },
  };
  return { plane, join: () => new TestCluster("cluster", backend), closed: () => closed };
}

test.for([
  [{}, "embedded"],
  [{ KUBECONFIG: "" }, "embedded"],
  [{ KUBEBUILDER_ASSETS: "/opt/bin" }, "binaries"],
  [{ KUBECONFIG: "/home/me/.kube/config" }, "cluster"],
  [{ KUBECONFIG: "/home/me/.kube/config", KUBEBUILDER_ASSETS: "/opt/bin" }, "cluster"],
] as const)("the environment %j asks for %s", ([environment, flavour]) => {
  expect(flavourFromEnvironment(environment)).toBe(flavour);
});

test("a cluster starts by itself, with controllers, and ends with its scope", async () => {
  let kept: TestCluster;
  {
    await using cluster = await startCluster({ flavour: "embedded" });
    kept = cluster;
    expect(cluster.hasControllers).toBe(true);
    expect(cluster.controlPlane).toBeInstanceOf(ControlPlane);
    expect(await cluster.createNamespace("mine")).toMatch(/^mine-[0-9a-f]{8}$/);
  }
  await expect(kept.client.list(Namespace)).rejects.toThrow("the control plane is closed");
});

test("without controllers nothing moves by itself, and the cluster reports that it has none", async () => {
  await using cluster = await startCluster({ flavour: "embedded", embedded: { controllers: "none" } });
  expect(cluster.hasControllers).toBe(false);
});

test("several definitions are installed at once, and can be used when that is done", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const kinds = ["Alpha", "Beta", "Gamma"].map(kindNamed);
  await cluster.install(...kinds);
  for (const kind of kinds) {
    const made = await cluster.client.create(kind, {
      metadata: { namespace: "default", name: "x" },
      spec: {},
    });
    expect(made.kind).toBe(kind.kind);
  }
  await cluster.uninstall(...kinds);
  for (const kind of kinds) await expect(cluster.client.list(kind)).rejects.toSatisfy(isNotFound);
});

test("a definition may be given as an object, and installed again", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  await cluster.install(Site.crd());
  await cluster.install(Site);
  expect((await cluster.client.list(Site)).items).toEqual([]);
});

test("a service account's client may do nothing until it is given rights", async () => {
  await using cluster = await startCluster({ flavour: "embedded" });
  const client = await cluster.clientFor("default", "operator");
  const again = await cluster.clientFor("default", "operator");
  for (const one of [client, again])
    await expect(one.list(ConfigMap, { namespace: "default" })).rejects.toThrow(
      'User "system:serviceaccount:default:operator" cannot list resource "configmaps"',
    );
});

test("a manager that was started here is stopped with the cluster", async () => {
  const cluster = await startCluster({ flavour: "embedded" });
  const seen: string[] = [];
  const running = await cluster.run("watcher", (options) =>
    manager(options).add(
      controller(ConfigMap, {
        scope: { labelSelector: "mine=yes" },
        reconcile: ({ metadata }) => void seen.push(metadata.name),
      }),
    ),
  );
  const metadata = { namespace: "default", name: "seen", labels: { mine: "yes" } };
  await cluster.client.create(ConfigMap, { metadata });
  await expect.poll(() => seen, soon).toEqual(["seen"]);
  await cluster.close();
  await running.stop();
  await expect(running.start()).rejects.toThrow("can be started once");
});

test("on a shared cluster, what the test made is deleted afterwards, and what others have is not", async () => {
  const { join, closed } = await sharedCluster();
  const owner = join();
  const theirs = kindNamed("Elder");
  await owner.install(theirs);
  await owner.client.create(theirs, { metadata: { namespace: "default", name: "precious" }, spec: {} });
  const guest = join();
  const mine = kindNamed("Mine");
  await guest.install(theirs, mine);
  const namespace = await guest.createNamespace();
  await guest.client.create(ConfigMap, { metadata: { namespace, name: "left-behind" } });
  await guest.close();
  await guest.close();
  expect(closed()).toBe(1);
  await expect(owner.client.get(Namespace, { name: namespace })).rejects.toSatisfy(isNotFound);
  const { items } = await owner.client.list(CustomResourceDefinition);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["elders.testing.windlass.dev"]);
  const precious = await owner.client.get(theirs, { namespace: "default", name: "precious" });
  expect(precious.metadata.deletionTimestamp).toBeUndefined();
});

test("objects that wait for a stopped operator do not keep a shared cluster from being cleaned up", async () => {
  const { join } = await sharedCluster();
  const cluster = join();
  await cluster.install(Site);
  const namespace = await cluster.createNamespace();
  const metadata = { namespace, name: "held", finalizers: ["testing.windlass.dev/site"] };
  await cluster.client.create(Site, { metadata, spec: { image: "nginx:1.25" } });
  await cluster.close();
  const left = await join().client.list(CustomResourceDefinition);
  expect(left.items).toEqual([]);
});

test("what the test deleted itself does not keep the cluster from closing", async () => {
  const { join } = await sharedCluster();
  const cluster = join();
  const namespace = await cluster.createNamespace();
  await cluster.install(Site);
  await cluster.uninstall(Site);
  await cluster.client.delete(Namespace, { name: namespace });
  await cluster.close();
});

test("a definition that the test took away itself does not fail its end", async () => {
  const { plane, join } = await sharedCluster();
  const cluster = join();
  const Gone = kindNamed("Gone");
  await cluster.install(Gone);
  const namespace = await cluster.createNamespace();
  const definition = { name: "gones.testing.windlass.dev" };
  await cluster.client.delete(CustomResourceDefinition, definition);
  await waitForDeletion(cluster.client, CustomResourceDefinition, definition);
  await cluster.close();
  const left = new Client({ transport: plane.connect() as Transport }).get(Namespace, { name: namespace });
  await expect(left).rejects.toSatisfy(isNotFound);
});
