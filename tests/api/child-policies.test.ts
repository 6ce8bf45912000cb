import { child, controller, defineResource, manager } from "@windlass/runtime";
import { ConfigMap, Deployment, Secret, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const Stage = defineResource({
  group: "policies.windlass.dev",
  version: "v1",
  kind: "Stage",
  spec: z.object({
    label: z.string().default("a"),
    image: z.string().default("registry.k8s.io/pause:3.10.1"),
    wants: z.array(z.enum(["settings", "web", "password", "kept"])).default([]),
  }),
  status: z.object({ web: z.string().optional() }),
});

/** Each child shows one policy. */
const stages = controller(Stage, {
  owns: [ConfigMap, Deployment, Secret, Service],
  rateLimit: { initial: "20ms", max: "1s" },
  reconcile: ({ metadata: { name }, spec: { label, image, wants } }, { owned }) => {
    const labels = { app: name, label };
    const settings = child(
      ConfigMap,
      { metadata: { name: `${name}-settings` }, data: { label } },
      { readyWhen: ({ metadata }) => metadata.labels?.approved === "yes" },
    );
    const web = child(
      Deployment,
      {
        metadata: { name },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: "web", image }] } },
        },
      },
      { after: wants.includes("settings") ? [settings] : [], onImmutable: "replace" },
    );
    const password = child(
      Secret,
      { metadata: { name: `${name}-password` }, stringData: { password: label } },
      { update: "never" },
    );
    const kept = child(
      ConfigMap,
      { metadata: { name: `${name}-kept` }, data: { label } },
      { onRemoval: "keep" },
    );
    return {
      children: [
        wants.includes("web") && web,
        wants.includes("settings") && settings,
        wants.includes("password") && password,
        wants.includes("kept") && kept,
      ],
      status: { web: owned(Deployment, name)?.metadata.uid ?? "" },
    };
  },
});

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Stage);
  namespace = await cluster.createNamespace("policies");
  await cluster.run("stages", (options) => manager({ ...options, namespaces: [namespace] }).add(stages));
}, 90_000);
afterAll(() => cluster.close(), 60_000);

type Spec = Parameters<typeof Stage.make>[1];

async function create(name: string, spec: Spec) {
  const key = { namespace, name };
  await cluster.client.create(Stage, { metadata: key, spec });
  return key;
}

async function change(key: { readonly namespace: string; readonly name: string }, spec: Partial<Spec>) {
  await cluster.client.patch(Stage, key, { type: "merge", patch: { spec } });
}

const named = (name: string) => ({ namespace, name });

test("a child comes after another is ready, and what is no longer wanted goes after that", async () => {
  const { client } = cluster;
  const key = await create("order", { wants: ["password"] });
  await waitFor(client, Secret, named("order-password"), () => true);
  await change(key, { wants: ["settings", "web"] });
  const settings = await waitFor(client, ConfigMap, named("order-settings"), (live) => live);
  // The next write of the controller's would bring the Deployment, if anything did.
  await client.patch(ConfigMap, settings.metadata, { type: "merge", patch: { data: { label: "edited" } } });
  await waitFor(client, ConfigMap, named("order-settings"), ({ data }) => data?.label === "a");
  expect((await client.list(Deployment, { namespace })).items).toEqual([]);
  expect((await client.get(Secret, named("order-password"))).metadata.deletionTimestamp).toBeUndefined();
  await client.patch(ConfigMap, settings.metadata, {
    type: "merge",
    patch: { metadata: { labels: { approved: "yes" } } },
  });
  await waitFor(client, Deployment, key, () => true);
  await waitForDeletion(client, Secret, named("order-password"));
}, 60_000);

test("a field that cannot be changed makes a new object of the same name", async () => {
  const { client } = cluster;
  const key = await create("replaced", { wants: ["web"], label: "blue" });
  const before = await waitFor(client, Deployment, key, (live) => live);
  await change(key, { label: "green" });
  const after = await waitFor(client, Deployment, key, (live) =>
    live.spec.selector.matchLabels?.label === "green" ? live : undefined,
  );
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
}, 60_000);

test("an object that the server would not take in place of the old is not replaced, and the reason is reported", async () => {
  const { client } = cluster;
  const key = await create("invalid", { wants: ["web"], label: "blue" });
  const before = await waitFor(client, Deployment, key, (live) => live);
  await change(key, { label: "not a label" });
  await waitForCondition(client, Stage, key, "Ready", "False");
  expect((await client.get(Deployment, key)).metadata.uid).toBe(before.metadata.uid);
}, 60_000);

test("what is created only is left alone from then on", async () => {
  const { client } = cluster;
  const key = await create("created", { wants: ["password", "kept"], label: "first" });
  const secret = await waitFor(client, Secret, named("created-password"), (live) => live);
  await change(key, { label: "second" });
  await waitFor(client, ConfigMap, named("created-kept"), ({ data }) => data?.label === "second");
  const later = await client.get(Secret, named("created-password"));
  expect(later.metadata.resourceVersion).toBe(secret.metadata.resourceVersion);
  expect(Buffer.from(later.data?.password ?? "", "base64").toString()).toBe("first");
}, 60_000);

test("what is kept loses its owner and stays, and can be wanted again", async () => {
  const { client } = cluster;
  const key = await create("kept", { wants: ["kept"], label: "one" });
  await waitFor(client, ConfigMap, named("kept-kept"), () => true);
  await change(key, { wants: [] });
  const free = await waitFor(client, ConfigMap, named("kept-kept"), (live) =>
    live.metadata.ownerReferences === undefined ? live : undefined,
  );
  expect(free.data).toEqual({ label: "one" });
  expect(free.metadata.annotations).toBeUndefined();
  await change(key, { wants: ["kept"] });
  // It belongs to nobody now, so it is not taken back without a word.
  await waitForCondition(client, Stage, key, "Ready", "False");
}, 60_000);
