import {
  type AnyKind,
  controller,
  createCache,
  defineResource,
  type KubernetesObject,
  manager,
} from "@windlass/runtime";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const Look = defineResource({
  group: "caching.windlass.dev",
  version: "v1",
  kind: "Look",
  spec: z.object({ at: z.string() }),
  status: z.object({ saw: z.string().optional() }),
});

/** Says in the status what the cache holds of a ConfigMap. */
const look = controller(Look, {
  reads: [ConfigMap],
  reconcile: ({ metadata: { namespace }, spec }, { cache }) => {
    const found = cache.get(ConfigMap, { namespace, name: spec.at });
    const { managedFields } = found?.metadata ?? {};
    return {
      status: { saw: `${Object.keys(found?.data ?? {}).join()} ${managedFields ? "managed" : "bare"}` },
    };
  },
});

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Look);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

test("a manager's cache drops and keeps what its options ask for", async () => {
  const namespace = await cluster.createNamespace("caching");
  await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "large" },
    data: { needed: "x", bulk: "y" },
  });
  const saw = async (name: string, caching: Parameters<typeof manager>[0]) => {
    const running = await cluster.run(name, (options) =>
      manager({ ...options, namespaces: [namespace], ...caching }).add(look),
    );
    await cluster.client.create(Look, { metadata: { namespace, name }, spec: { at: "large" } });
    const key = { namespace, name };
    await waitFor(cluster.client, Look, key, ({ status }) => status?.saw !== undefined);
    await running.stop();
    return (await cluster.client.get(Look, key)).status?.saw;
  };
  expect(await saw("as-it-is", {})).toBe("bulk,needed bare");
  const transforms = ({ kind }: AnyKind) =>
    kind === "ConfigMap" ? (object: KubernetesObject) => ({ ...object, data: { needed: "x" } }) : undefined;
  expect(await saw("transformed", { caching: { transforms, keepManagedFields: true } })).toBe(
    "needed managed",
  );
});

test("a kind whose definition goes takes its objects along, and is followed again when it is back", async () => {
  const Fleeting = defineResource({
    group: "caching.windlass.dev",
    version: "v1",
    kind: "Fleeting",
    spec: z.object({}),
  });
  const namespace = await cluster.createNamespace("caching");
  await cluster.install(Fleeting);
  const cache = createCache({ source: cluster.client });
  onTestFinished(() => cache.stop());
  const told: string[] = [];
  const informer = cache.informer(Fleeting, { namespace });
  informer.subscribe(({ type, object }) => void told.push(`${type} ${object.metadata.name}`));
  await informer.synced;
  const within = { timeout: 60_000, interval: 100 };
  await cluster.client.create(Fleeting, { metadata: { namespace, name: "one" }, spec: {} });
  await expect.poll(() => told, within).toEqual(["added one"]);
  await cluster.uninstall(Fleeting);
  await expect.poll(() => told, within).toEqual(["added one", "deleted one"]);
  await expect.poll(() => informer.status.at, within).toBe("missing");
  await cluster.install(Fleeting);
  await cluster.client.create(Fleeting, { metadata: { namespace, name: "two" }, spec: {} });
  await expect.poll(() => told, within).toEqual(["added one", "deleted one", "added two"]);
}, 180_000);
