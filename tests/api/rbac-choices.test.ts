import { randomBytes } from "node:crypto";
import { applyManifest, kindOfManifest } from "@windlass/client";
import { controller, defineResource, manager, rbacFor } from "@windlass/runtime";
import { ConfigMap, Namespace } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { keepLog } from "./logged.ts";

const Reader = defineResource({
  group: "rbac-choices.windlass.dev",
  version: "v1",
  kind: "Reader",
  spec: z.object({ book: z.string() }),
  status: z.object({ text: z.string().optional() }),
});

/**
 * Shows the text of a ConfigMap whose kind is known only while running, as far as the cache is
 * concerned.
 */
const reader = controller(Reader, {
  follows: [ConfigMap],
  reconcile: async ({ metadata: { namespace }, spec }, { follow }) => {
    const { data } = (await follow(ConfigMap, { namespace, name: spec.book })) ?? {};
    return { status: data?.text === undefined ? {} : { text: data.text } };
  },
});

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Reader);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

test("the role of a controller that follows kinds, in namespaces that are chosen by label, suffices", async () => {
  const { client } = cluster;
  const own = await cluster.createNamespace("readers-own");
  const namespace = await cluster.createNamespace("readers");
  const label = `windlass.dev/readers-${randomBytes(4).toString("hex")}`;
  const name = `readers-${randomBytes(4).toString("hex")}`;
  const namespaces = { labelSelector: label };
  const roles = rbacFor([reader], { name, namespaces, serviceAccount: { namespace: own, name } });
  for (const role of roles) await applyManifest(client, role);
  const { log, lines } = keepLog();
  const running = manager({
    client: await cluster.clientFor(own, name),
    namespaces,
    log,
    health: false,
    metrics: false,
  }).add(reader);
  await running.start();
  try {
    await client.patch(
      Namespace,
      { name: namespace },
      { type: "merge", patch: { metadata: { labels: { [label]: "" } } } },
    );
    await client.create(ConfigMap, { metadata: { namespace, name: "novel" }, data: { text: "Once" } });
    await client.create(Reader, { metadata: { namespace, name: "anna" }, spec: { book: "novel" } });
    const shown = (text: string) =>
      waitFor(client, Reader, { namespace, name: "anna" }, ({ status }) => status?.text === text);
    await shown("Once");
    await client.patch(
      ConfigMap,
      { namespace, name: "novel" },
      { type: "merge", patch: { data: { text: "Twice" } } },
    );
    await shown("Twice");
    expect(lines).toEqual([]);
  } finally {
    await running.stop();
    for (const role of roles)
      await client.delete(await kindOfManifest(client, role), { name: role.metadata.name });
  }
}, 60_000);
