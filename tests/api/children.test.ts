import type { InputOf } from "@windlass/client";
import {
  adoptableByAnnotation,
  child,
  condition,
  controller,
  defineResource,
  listSet,
  type Manager,
  manager,
  type ReconcileContext,
  type Wanted,
} from "@windlass/runtime";
import { ConfigMap, Deployment, EventV1, NetworkPolicy, Secret, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const soon = { timeout: 10_000 };

const Shop = defineResource({
  group: "children.windlass.dev",
  version: "v1",
  kind: "Shop",
  spec: z.object({ round: z.int32().default(0) }),
  status: z.object({
    stock: z.record(z.string(), z.string()).optional(),
    sold: z.array(z.string()).check(listSet()).optional(),
    branches: z.array(z.object({ name: z.string(), note: z.string().optional() })).optional(),
  }),
});

/** A custom kind that shops own. */
const Till = defineResource({
  group: "children.windlass.dev",
  version: "v1",
  kind: "Till",
  spec: z.object({
    place: z.string(),
    coins: z.record(z.string(), z.int32()).optional(),
    notes: z.array(z.string()).check(listSet()).optional(),
  }),
});

type Owned =
  | typeof ConfigMap
  | typeof Deployment
  | typeof NetworkPolicy
  | typeof Secret
  | typeof Service
  | typeof Till;
type Result = Wanted<typeof Shop, Owned> | undefined;
type Wants = (context: ReconcileContext) => Result | Promise<Result>;

/** What each shop wants, by name. */
const wants = new Map<string, Wants>();
const cleanUp = new Map<string, (context: ReconcileContext) => Promise<void>>();
const ready = condition("Ready", true, "Open");

const shops = controller(Shop, {
  name: "shop",
  owns: [ConfigMap, Deployment, NetworkPolicy, Secret, Service, Till],
  rateLimit: { initial: 20, max: 2_000 },
  reconcile: async (_shop, context) => await wants.get(context.key.name)?.(context),
  finalize: async (_shop, context) => await cleanUp.get(context.key.name)?.(context),
});

let cluster: TestCluster;
let namespace: string;
let running: Manager;

const start = async () => {
  running = await cluster.run("shop-operator", (options) =>
    manager({ ...options, namespaces: [namespace] }).add(shops),
  );
};

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Shop, Till);
  namespace = await cluster.createNamespace();
  await start();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

async function open(name: string, wanted: Wants) {
  wants.set(name, wanted);
  const key = { namespace, name };
  const { metadata } = await cluster.client.create(Shop, { metadata: key, spec: {} });
  return { key, uid: metadata.uid };
}

async function openReady(name: string, wanted: Wants) {
  const opened = await open(name, wanted);
  await waitForCondition(cluster.client, Shop, opened.key, "Ready", "True", soon);
  return opened;
}

const labels = { app: "shop" };
const podSpec = {
  nodeSelector: { disk: "ssd" },
  containers: [
    {
      name: "app",
      image: "nginx:1.25",
      env: [
        { name: "B", value: "1" },
        { name: "A", value: "2" },
      ],
    },
  ],
};
const deployment = (name: string): InputOf<typeof Deployment> => ({
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec },
  },
});
const service = (name: string): InputOf<typeof Service> => ({
  metadata: { name },
  spec: { selector: labels, ports: [{ port: 80 }] },
});

test("a key that a user adds to a Service's selector is removed", async () => {
  const { key } = await openReady("selector", () => ({
    children: [child(Service, service("selector"))],
    status: { conditions: [ready] },
  }));
  const patch = { spec: { selector: { added: "by-hand" } } };
  const edited = await cluster.client.patch(Service, key, { type: "merge", patch });
  expect(edited.spec?.selector).toEqual({ ...labels, added: "by-hand" });
  const put = await waitFor(
    cluster.client,
    Service,
    key,
    (one) => one.metadata.resourceVersion !== edited.metadata.resourceVersion && one,
    soon,
  );
  expect(put.spec?.selector).toEqual(labels);
});

test("a key that a user adds to a nodeSelector or to matchLabels is removed", async () => {
  const policy = { metadata: { name: "maps" }, spec: { podSelector: { matchLabels: labels } } };
  const { key } = await openReady("maps", () => ({
    children: [child(Deployment, deployment("maps")), child(NetworkPolicy, policy)],
    status: { conditions: [ready] },
  }));
  await cluster.client.patch(NetworkPolicy, key, {
    type: "merge",
    patch: { spec: { podSelector: { matchLabels: { added: "by-hand" } } } },
  });
  await cluster.client.patch(Deployment, key, {
    type: "merge",
    patch: { spec: { template: { spec: { nodeSelector: { added: "by-hand" } } } } },
  });
  await waitFor(
    cluster.client,
    NetworkPolicy,
    key,
    ({ spec }) => spec?.podSelector?.matchLabels?.added === undefined,
    soon,
  );
  await waitFor(
    cluster.client,
    Deployment,
    key,
    ({ spec }) => spec.template.spec?.nodeSelector?.added === undefined,
    soon,
  );
});

test("items that a user reorders are put back", async () => {
  const { key } = await openReady("order", () => ({
    children: [child(Deployment, deployment("order"))],
    status: { conditions: [ready] },
  }));
  const path = "/spec/template/spec/containers/0/env";
  const env = podSpec.containers[0]?.env.toReversed();
  await cluster.client.patch(Deployment, key, { type: "json", patch: [{ op: "replace", path, value: env }] });
  await waitFor(
    cluster.client,
    Deployment,
    key,
    ({ metadata, spec }) =>
      (metadata.generation ?? 0) > 2 && spec.template.spec?.containers[0]?.env?.[0]?.name === "B",
    soon,
  );
});

test("a key of a Secret's stringData that is no longer wanted goes, and an edit of it is undone", async () => {
  let stringData: Record<string, string> = { user: "jane", password: "1" };
  const { key } = await openReady("secret", () => ({
    children: [child(Secret, { metadata: { name: "secret" }, stringData })],
    status: { conditions: [ready] },
  }));
  await cluster.client.patch(Secret, key, { type: "merge", patch: { stringData: { password: "2" } } });
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  await waitFor(cluster.client, Secret, key, ({ data }) => data?.password === base64("1"), soon);
  stringData = { user: "jane" };
  await cluster.client.patch(Shop, key, { type: "merge", patch: { spec: { round: 1 } } });
  await waitFor(cluster.client, Secret, key, ({ data }) => data?.password === undefined, soon);
});

test("a map or a list that becomes empty is emptied, in the status and in a child", async () => {
  let names = ["five"];
  const wanted = () => {
    const coins = Object.fromEntries(names.map((name) => [name, 1]));
    const stock = Object.fromEntries(names.map((name) => [name, "1"]));
    const till = (name: string, spec: object) =>
      child(Till, { metadata: { name }, spec: { place: "door", ...spec } });
    return {
      children: [till("map", { coins }), till("list", { notes: names })],
      status: { stock, sold: names, conditions: [ready] },
    };
  };
  const { key } = await openReady("emptied", wanted);
  names = [];
  await cluster.client.patch(Shop, key, { type: "merge", patch: { spec: { round: 1 } } });
  await waitFor(
    cluster.client,
    Shop,
    key,
    ({ status }) =>
      status?.stock && Object.keys(status.stock).length === 0 && status.sold && status.sold.length === 0,
    soon,
  );
  const till = async (name: string) => (await cluster.client.get(Till, { namespace, name })).spec;
  expect(await till("map")).toEqual({ place: "door", coins: {} });
  expect(await till("list")).toEqual({ place: "door", notes: [] });
});

test("a new leader takes away what it no longer wants of the status, and leaves what others wrote", async () => {
  const { key } = await openReady("status", () => ({
    status: {
      branches: [{ name: "a", note: "old" }],
      conditions: [ready, condition("Old", true, "Old")],
    },
  }));
  const theirs = {
    ...condition("Audited", true, "Auditor"),
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await cluster.client.apply(
    Shop,
    { metadata: key, status: { conditions: [theirs] } },
    { fieldManager: "auditor", subresource: "status" },
  );
  await running.stop();
  wants.set("status", () => ({ status: { branches: [{ name: "a" }], conditions: [ready] } }));
  await start();
  const { status } = await waitFor(
    cluster.client,
    Shop,
    key,
    (shop) => shop.status?.branches?.[0]?.note === undefined && shop,
    soon,
  );
  expect(status?.branches).toEqual([{ name: "a" }]);
  expect(status?.conditions?.map(({ type }) => type)).toEqual(["Ready", "Audited"]);
});

test("a user's Service is left alone, reported, kept when the owner is deleted, and adopted once it is handed over", async () => {
  const key = { namespace, name: "payments" };
  const mine = { metadata: key, spec: { selector: { app: "payments" }, ports: [{ port: 80 }] } };
  const made = await cluster.client.create(Service, mine);
  await open("payments", () => ({
    children: [child(Service, service("payments")), child(ConfigMap, { metadata: { name: "payments" } })],
    status: { conditions: [ready] },
  }));
  const refused = await waitForCondition(cluster.client, Shop, key, "Ready", "False", soon);
  const why = refused.status?.conditions?.find(({ type }) => type === "Ready");
  expect(why).toMatchObject({
    reason: "ChildAlreadyExists",
    message: expect.stringContaining(`Service ${namespace}/payments exists and was not made for Shop`),
  });
  await cluster.client.get(ConfigMap, key);
  expect((await cluster.client.get(Service, key)).metadata.resourceVersion).toBe(
    made.metadata.resourceVersion,
  );
  const handOver = { [adoptableByAnnotation]: "shops.children.windlass.dev/payments" };
  expect(why?.message).toContain(`${adoptableByAnnotation}=${handOver[adoptableByAnnotation]}`);
  await cluster.client.patch(Service, key, { type: "merge", patch: { metadata: { annotations: handOver } } });
  await waitForCondition(cluster.client, Shop, key, "Ready", "True", soon);
  const taken = await cluster.client.get(Service, key);
  expect(taken.spec?.selector).toEqual(labels);
  expect(taken.metadata).toMatchObject({ uid: made.metadata.uid, ownerReferences: [{ kind: "Shop" }] });
});

test("a conflict with another field manager is reported, and does not stay when it is resolved", async () => {
  const key = { namespace, name: "contested" };
  const theirs = { metadata: key, data: { colour: "red" } };
  await cluster.client.apply(ConfigMap, theirs, { fieldManager: "theirs" });
  const { uid } = await open("contested", async ({ client }) => {
    await client.apply(ConfigMap, { metadata: key, data: { colour: "blue" } }, { fieldManager: "shop" });
    return { status: { conditions: [ready] } };
  });
  const refused = await waitForCondition(cluster.client, Shop, key, "Ready", "False", soon);
  expect(refused.status?.conditions).toContainEqual(
    expect.objectContaining({
      reason: "Conflict",
      message: expect.stringContaining('conflict with "theirs": .data.colour'),
    }),
  );
  await cluster.client.apply(ConfigMap, { metadata: key }, { fieldManager: "theirs" });
  await waitForCondition(cluster.client, Shop, key, "Ready", "True", soon);
  const { items } = await cluster.client.list(EventV1, { namespace });
  expect(items).toContainEqual(
    expect.objectContaining({ reason: "Conflict", regarding: expect.objectContaining({ uid }) }),
  );
});

test("a finalizer deletes the object that it saw, and not another of its name", async () => {
  const { key } = await openReady("by-uid", () => ({
    children: [child(ConfigMap, { metadata: { name: "by-uid" } })],
    status: { conditions: [ready] },
  }));
  const { client } = cluster;
  const old = await client.get(ConfigMap, key);
  wants.set("by-uid", () => ({ status: { conditions: [ready] } }));
  await client.delete(ConfigMap, key);
  const theirs = await client.create(ConfigMap, { metadata: key, data: { whose: "theirs" } });
  cleanUp.set("by-uid", (context) => context.delete(ConfigMap, old));
  await client.delete(Shop, key);
  await waitForDeletion(client, Shop, key, soon);
  expect((await client.get(ConfigMap, key)).metadata.uid).toBe(theirs.metadata.uid);
});
