import { ignoreNotFound, type KubernetesObject } from "@windlass/client";
import { adoptableByAnnotation, child, controller, defineResource, manager } from "@windlass/runtime";
import { ConfigMap, Deployment, EventV1 as Event, Secret, Service } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { beforeWrite } from "./before-write.ts";

const Stage = defineResource({
  group: "policies.windlass.dev",
  version: "v1",
  kind: "Stage",
  spec: z.object({
    label: z.string().default("a"),
    image: z.string().default("registry.k8s.io/pause:3.10.1"),
    keepsPassword: z.boolean().default(false),
    wants: z.array(z.enum(["settings", "schema", "web", "password", "kept"])).default([]),
  }),
  status: z.object({ web: z.string().optional() }),
});

/** Each child shows one policy. */
const stages = controller(Stage, {
  owns: [ConfigMap, Deployment, Secret, Service],
  rateLimit: { initial: "20ms", max: "1s" },
  reconcile: ({ metadata: { name }, spec: { label, image, keepsPassword, wants } }, { owned }) => {
    const labels = { app: name, label };
    const settings = child(
      ConfigMap,
      { metadata: { name: `${name}-settings` }, data: { label } },
      { readyWhen: ({ metadata }) => metadata.labels?.approved === "yes" },
    );
    const schema = child(
      ConfigMap,
      { metadata: { name: `${name}-schema` }, immutable: true, data: { label } },
      { onImmutable: "replace", readyWhen: () => true },
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
      {
        after: [
          ...(wants.includes("settings") ? [settings] : []),
          ...(wants.includes("schema") ? [schema] : []),
        ],
        onImmutable: "replace",
      },
    );
    const password = child(
      Secret,
      { metadata: { name: `${name}-password` }, stringData: { password: label } },
      { update: "never", onRemoval: keepsPassword ? "keep" : "delete" },
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
        wants.includes("schema") && schema,
        wants.includes("password") && password,
        wants.includes("kept") && kept,
      ],
      status: { web: owned(Deployment, name)?.metadata.uid ?? "" },
    };
  },
});

/** What others do just before the controller's next such write is sent, by its method and name. */
const { acts: before, interceptor: others } = beforeWrite(({ method, name }) => `${method} ${name}`);

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Stage);
  namespace = await cluster.createNamespace("policies");
  await cluster.run("stages", (options) => {
    const client = (options.client ?? cluster.client).through(others);
    return manager({ ...options, client, namespaces: [namespace] }).add(stages);
  });
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

/** What makes an owner of another kind the controller of an object. */
async function takenByOther() {
  const { client } = cluster;
  const { metadata } = await client.create(ConfigMap, { metadata: { namespace, generateName: "other-" } });
  const { name, uid = "" } = metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid, controller: true }];
  return { other: name, patch: { type: "merge", patch: { metadata: { ownerReferences } } } } as const;
}

const named = (name: string) => ({ namespace, name });

const withoutOwner = { type: "merge", patch: { metadata: { ownerReferences: null } } } as const;

/** The password in a Secret of the controller's. */
const passwordIn = ({ data }: { readonly data?: Readonly<Record<string, string>> | null }) =>
  Buffer.from(data?.password ?? "", "base64").toString();
const ownersOf = ({ metadata }: KubernetesObject) =>
  metadata.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? [];

/** Whether mark and server say that the controller has applied an object. */
const isRecorded = ({ metadata: { annotations, managedFields } }: KubernetesObject) =>
  annotations?.["windlass.dev/applied"] !== undefined &&
  managedFields?.some(({ manager, operation }) => manager === "stage.windlass" && operation === "Apply");

/** Waits for an event by its reason and the beginning of its note. */
async function waitForNote(wanted: string) {
  const { client } = cluster;
  const notes = async () =>
    (await client.list(Event, { namespace })).items.map(({ reason, note }) => `${reason}: ${note}`);
  await expect.poll(notes, { timeout: 30_000 }).toContainEqual(expect.stringContaining(wanted));
}

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

test("what comes after a child that is replaced waits for the new one, also while the old one is held", async () => {
  const { client } = cluster;
  const key = await create("held", { wants: ["schema", "web"], label: "blue" });
  await waitFor(client, Deployment, key, () => true);
  const finalizers = (present: readonly string[] | null) =>
    client.patch(ConfigMap, named("held-schema"), {
      type: "merge",
      patch: { metadata: { finalizers: present } },
    });
  await finalizers(["example.com/hold"]);
  await change(key, { label: "green", wants: ["schema", "web", "kept"] });
  await waitFor(client, ConfigMap, named("held-kept"), () => true);
  // Each of these brings a reconcile that finds the old one being deleted.
  for (const label of ["white", "green"]) {
    await change(key, { label });
    await waitFor(client, ConfigMap, named("held-kept"), ({ data }) => data?.label === label);
  }
  const label = async () => (await client.get(Deployment, key)).spec.selector.matchLabels?.label;
  expect(await label()).toBe("blue");
  await finalizers(null);
  await waitFor(client, ConfigMap, named("held-schema"), ({ data }) => data?.label === "green");
  await waitFor(client, Deployment, key, ({ spec }) => spec.selector.matchLabels?.label === "green");
}, 60_000);

test("an object that is to be replaced, and is taken by another owner just before, is not deleted", async () => {
  const { client } = cluster;
  const key = await create("taken", { wants: ["web"], label: "blue" });
  const web = await waitFor(client, Deployment, key, (live) => live);
  const { other, patch } = await takenByOther();
  before.set("DELETE taken", () => client.patch(Deployment, key, patch));
  await change(key, { label: "green" });
  await waitForCondition(client, Stage, key, "Ready", "False");
  const later = await client.get(Deployment, key);
  expect(later.metadata.uid).toBe(web.metadata.uid);
  expect(ownersOf(later)).toEqual([`ConfigMap ${other}`]);
}, 60_000);

test("what is created only does not get its owner beside another that was faster, however often it changes", async () => {
  const { client } = cluster;
  const key = await create("busy", { wants: ["password"], label: "first" });
  const secret = await waitFor(client, Secret, named("busy-password"), (live) => live);
  const { other, patch } = await takenByOther();
  let times = 0;
  const interfere = async () => {
    times += 1;
    if (times === 5) return await client.patch(Secret, secret.metadata, patch);
    before.set("PATCH busy-password", interfere);
    const labels = { times: String(times) };
    return await client.patch(Secret, secret.metadata, { type: "merge", patch: { metadata: { labels } } });
  };
  before.set("PATCH busy-password", interfere);
  await client.patch(Secret, secret.metadata, withoutOwner);
  await waitForCondition(client, Stage, key, "Ready", "False");
  expect(ownersOf(await client.get(Secret, named("busy-password")))).toEqual([`ConfigMap ${other}`]);
}, 60_000);

test("what is created only is left alone from then on", async () => {
  const { client } = cluster;
  const key = await create("created", { wants: ["password", "kept"], label: "first" });
  const secret = await waitFor(client, Secret, named("created-password"), (live) => live);
  await change(key, { label: "second" });
  await waitFor(client, ConfigMap, named("created-kept"), ({ data }) => data?.label === "second");
  const later = await client.get(Secret, named("created-password"));
  expect(later.metadata.resourceVersion).toBe(secret.metadata.resourceVersion);
  expect(passwordIn(later)).toBe("first");
}, 60_000);

test("what is created only keeps its content when it gets its owner again", async () => {
  const { client } = cluster;
  const key = await create("stripped", { wants: ["password"], label: "first" });
  const secret = await waitFor(client, Secret, named("stripped-password"), (live) => live);
  const filledIn = { stringData: { token: "by-another" } };
  await client.patch(Secret, secret.metadata, { type: "merge", patch: filledIn });
  await client.patch(Secret, secret.metadata, withoutOwner);
  await change(key, { label: "second" });
  const owned = await waitFor(client, Secret, named("stripped-password"), (live) =>
    live.metadata.ownerReferences ? live : undefined,
  );
  expect(ownersOf(owned)).toEqual(["Stage stripped"]);
  expect(Object.keys(owned.data ?? {}).sort()).toEqual(["password", "token"]);
  expect(passwordIn(owned)).toBe("first");
}, 60_000);

test("what is created only keeps its content when it is handed over to the next owner of the name, and goes when that no longer wants it", async () => {
  const { client } = cluster;
  const key = await create("heir", { wants: ["password"], label: "first" });
  const secret = await waitFor(client, Secret, named("heir-password"), (live) => live);
  await client.delete(Stage, key, { propagationPolicy: "Orphan" });
  // A bare API server collects nothing, so that its orphans keep their owner and the owner stays.
  const patch = { metadata: { finalizers: null } };
  await ignoreNotFound(client.patch(Stage, key, { type: "merge", patch }));
  await client.patch(Secret, secret.metadata, withoutOwner);
  await waitForDeletion(client, Stage, key);
  await create("heir", { wants: ["password"], label: "second" });
  await waitForCondition(client, Stage, key, "Ready", "False");
  const annotations = { [adoptableByAnnotation]: "stages.policies.windlass.dev/heir" };
  await client.patch(Secret, secret.metadata, { type: "merge", patch: { metadata: { annotations } } });
  const owned = await waitFor(client, Secret, named("heir-password"), (live) =>
    live.metadata.ownerReferences ? live : undefined,
  );
  expect(owned.metadata.uid).toBe(secret.metadata.uid);
  expect(passwordIn(owned)).toBe("first");
  await change(key, { wants: [] });
  await waitForDeletion(client, Secret, named("heir-password"));
}, 60_000);

test("what another client made and hands over keeps its content where a child is created only", async () => {
  const { client } = cluster;
  const annotations = { [adoptableByAnnotation]: "stages.policies.windlass.dev/given" };
  const metadata = { ...named("given-password"), annotations };
  await client.create(Secret, { metadata, stringData: { password: "by-hand" } });
  const key = await create("given", { wants: ["password"], label: "first" });
  const owned = await waitFor(client, Secret, named("given-password"), (live) =>
    live.metadata.ownerReferences ? live : undefined,
  );
  expect(passwordIn(owned)).toBe("by-hand");
  await change(key, { wants: [] });
  await waitForDeletion(client, Secret, named("given-password"));
}, 60_000);

test("a user's copy of a child is left alone", async () => {
  const { client } = cluster;
  const key = await create("copied", { wants: ["settings", "kept"], label: "first" });
  const original = await waitFor(client, ConfigMap, named("copied-settings"), (live) => live);
  const { uid: _uid, resourceVersion: _version, managedFields: _fields, ...metadata } = original.metadata;
  const copy = await client.create(ConfigMap, {
    data: original.data ?? {},
    metadata: { ...metadata, name: "copied-by-hand" },
  });
  await change(key, { label: "second" });
  await waitFor(client, ConfigMap, named("copied-kept"), ({ data }) => data?.label === "second");
  await change(key, { wants: ["kept"] });
  await waitForDeletion(client, ConfigMap, named("copied-settings"));
  await waitForNote(`ChildNotPruned: ConfigMap ${namespace}/copied-by-hand has Stage`);
  const later = await client.get(ConfigMap, named("copied-by-hand"));
  expect(later.metadata.resourceVersion).toBe(copy.metadata.resourceVersion);
}, 60_000);

test("a copy of a child without its owner is not taken for a child", async () => {
  const { client } = cluster;
  const key = await create("double", { wants: ["settings"], label: "first" });
  const original = await waitFor(client, ConfigMap, named("double-settings"), (live) => live);
  const { annotations = {} } = original.metadata;
  const copy = await client.create(ConfigMap, {
    data: { label: "by-hand" },
    metadata: { ...named("double-kept"), annotations },
  });
  await change(key, { wants: ["settings", "kept"] });
  await waitForCondition(client, Stage, key, "Ready", "False");
  const later = await client.get(ConfigMap, named("double-kept"));
  expect(later.metadata.resourceVersion).toBe(copy.metadata.resourceVersion);
}, 60_000);

test("a child that loses its owner just before a write does not get a dead owner again", async () => {
  const { client } = cluster;
  const key = await create("orphaned", { wants: ["kept"], label: "first" });
  await waitFor(client, ConfigMap, named("orphaned-kept"), () => true);
  const done = Promise.withResolvers<void>();
  before.set("PATCH orphaned-kept", async () => {
    // As the garbage collector does for --cascade=orphan.
    await client.patch(ConfigMap, named("orphaned-kept"), withoutOwner);
    await client.delete(Stage, key, { propagationPolicy: "Background" });
    done.resolve();
  });
  await change(key, { label: "second" });
  await done.promise;
  // The next of its reconciles is after that write.
  const next = await create("after-orphaned", { wants: ["kept"] });
  await waitFor(client, ConfigMap, named("after-orphaned-kept"), () => true);
  await change(next, { label: "third" });
  await waitFor(client, ConfigMap, named("after-orphaned-kept"), ({ data }) => data?.label === "third");
  const child = await client.get(ConfigMap, named("orphaned-kept"));
  expect(ownersOf(child)).toEqual([]);
  expect(child.data).toEqual({ label: "first" });
}, 60_000);

test("a child that is no longer wanted, and is taken from its owner just before, is not deleted", async () => {
  const { client } = cluster;
  const key = await create("saved", { wants: ["password", "kept"], label: "first" });
  await waitFor(client, Secret, named("saved-password"), () => true);
  const done = Promise.withResolvers<void>();
  before.set("DELETE saved-password", async () => {
    await client.patch(Secret, named("saved-password"), withoutOwner);
    done.resolve();
  });
  await change(key, { wants: ["kept"] });
  await done.promise;
  await change(key, { wants: ["kept"], label: "second" });
  await waitFor(client, ConfigMap, named("saved-kept"), ({ data }) => data?.label === "second");
  expect(passwordIn(await client.get(Secret, named("saved-password")))).toBe("first");
}, 60_000);

test("what is created only goes when it is no longer wanted, though others cleared what the server knew of it", async () => {
  const { client } = cluster;
  const key = await create("cleared", { wants: ["password", "kept"], label: "first" });
  const secret = await waitFor(client, Secret, named("cleared-password"), (live) => live);
  const byHand = { stringData: { password: "by-hand" }, metadata: { labels: { team: "blue" } } };
  for (const forget of [{ managedFields: [{}] }, { annotations: null }]) {
    await client.patch(Secret, secret.metadata, { type: "merge", patch: byHand });
    await client.patch(Secret, secret.metadata, { type: "merge", patch: { metadata: forget } });
    const live = await waitFor(client, Secret, named("cleared-password"), (again) =>
      isRecorded(again) ? again : undefined,
    );
    expect(passwordIn(live)).toBe("by-hand");
    expect(live.metadata.labels).toEqual({ team: "blue" });
  }
  await change(key, { wants: ["kept"] });
  await waitForDeletion(client, Secret, named("cleared-password"));
}, 60_000);

const forgotten = {
  record: [{ managedFields: [{}] }, "the server has no record that stage.windlass applied it"],
  mark: [{ annotations: null }, "its annotation windlass.dev/applied was removed"],
} as const;

test.for(["record", "mark"] as const)(
  "a child that is no longer wanted, and loses its %s just before, is left and named",
  { timeout: 60_000 },
  async (what) => {
    const { client } = cluster;
    const [metadata, why] = forgotten[what];
    const name = `unproven-${what}`;
    const password = named(`${name}-password`);
    const key = await create(name, { wants: ["password"], label: "first" });
    await waitFor(client, Secret, password, () => true);
    before.set(`DELETE ${password.name}`, () =>
      client.patch(Secret, password, { type: "merge", patch: { metadata } }),
    );
    await change(key, { wants: [] });
    await waitForNote(
      `ChildNotPruned: Secret ${namespace}/${password.name} has Stage ${namespace}/${name} as its controller and is not wanted, but ${why}`,
    );
    expect(passwordIn(await client.get(Secret, password))).toBe("first");
  },
);

test("a child that somebody changes again and again is put back each time, and an event names who it is", async () => {
  const { client } = cluster;
  await create("fought", { wants: ["kept"], label: "first" });
  await waitFor(client, ConfigMap, named("fought-kept"), () => true);
  for (let round = 1; round <= 5; round++) {
    const patch = { data: { label: `edited ${round}` } };
    await client.patch(
      ConfigMap,
      named("fought-kept"),
      { type: "merge", patch },
      { fieldManager: "somebody" },
    );
    await waitFor(client, ConfigMap, named("fought-kept"), ({ data }) => data?.label === "first");
  }
  await waitForNote(
    `ChildContested: ConfigMap ${namespace}/fought-kept was changed 5 times within ten minutes, most recently by somebody (data), and put back each time by stage.windlass`,
  );
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
  // It has no owner now, so it is not taken back silently.
  await waitForCondition(client, Stage, key, "Ready", "False");
}, 60_000);

test("what is created only is kept when it is no longer wanted, also if that was said later", async () => {
  const { client } = cluster;
  const key = await create("later", { wants: ["password", "kept"], label: "first" });
  await waitFor(client, Secret, named("later-password"), () => true);
  await change(key, { label: "second", keepsPassword: true });
  await waitFor(client, ConfigMap, named("later-kept"), ({ data }) => data?.label === "second");
  await change(key, { wants: [] });
  const free = await waitFor(client, Secret, named("later-password"), (live) =>
    live.metadata.ownerReferences === undefined ? live : undefined,
  );
  expect(passwordIn(free)).toBe("first");
  expect(free.metadata.annotations).toBeUndefined();
}, 60_000);
