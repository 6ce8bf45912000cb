import { ConfigMap, Deployment, Pod, StatefulSet } from "@windlass/runtime/kinds";
import { waitForDeletion } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EmbeddedTestEnvironment } from "../testing/embedded-test-environment.ts";
import {
  BuildbarnBrowser,
  BuildbarnCluster,
  BuildbarnFrontend,
  BuildbarnScheduler,
  BuildbarnStorage,
  BuildbarnWorker,
} from "./index.ts";

/** What others do to a set: by mistake, or at a bad moment. */
let world: EmbeddedTestEnvironment;
const slow = { timeout: 240_000 };

beforeAll(async () => {
  world = await EmbeddedTestEnvironment.start();
  await world.create(BuildbarnStorage, "storage", { resharding: { hold: "100ms" } });
  await world.create(BuildbarnScheduler, "scheduler");
  await world.create(BuildbarnFrontend, "frontend", { replicas: 1 });
  await world.ready(BuildbarnFrontend, "frontend");
}, 60_000);
afterAll(() => world.close());

const reasonOf = (
  object: { readonly status?: { readonly conditions?: readonly { type: string; reason: string }[] } },
  type: string,
) => object.status?.conditions?.find((one) => one.type === type)?.reason;
const resharded = (shards: number) =>
  world.seen(
    BuildbarnStorage,
    "storage",
    ({ status }) => status?.resharding?.phase === "Stable" && status.resharding.to === shards,
  );
const inPhase = (...phases: readonly string[]) =>
  world.seen(BuildbarnStorage, "storage", (object) =>
    phases.includes(object.status?.resharding?.phase ?? "") ? object : undefined,
  );

test("an object of the same name that the operator did not make is left alone, and named", async () => {
  const labels = { app: "mine" };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: "c", image: "example.com/own:1" }] },
  };
  await world.client.create(Deployment, {
    metadata: world.key("taken"),
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  });
  await world.create(BuildbarnFrontend, "taken", { replicas: 1 });
  const frontend = await world.condition(BuildbarnFrontend, "taken", "Ready", "False");
  expect(reasonOf(frontend, "Ready")).toBe("ChildAlreadyExists");
  const { spec, metadata } = await world.get(Deployment, "taken");
  expect(spec?.template.spec?.containers[0]?.image).toBe("example.com/own:1");
  expect(metadata.ownerReferences).toBeUndefined();
});

test("a component of another kind with the same name gets nothing of the first one", async () => {
  await world.create(BuildbarnBrowser, "frontend", { replicas: 1 });
  const browser = await world.condition(BuildbarnBrowser, "frontend", "Ready", "False");
  expect(reasonOf(browser, "Ready")).toBe("ChildOwnedByOther");
  await world.client.delete(BuildbarnBrowser, world.key("frontend"));
  await waitForDeletion(world.client, BuildbarnBrowser, world.key("frontend"), { timeout: 20_000 });
  await world.ready(BuildbarnFrontend, "frontend");
});

test("workers with the name of the storage are not mistaken for shards", slow, async () => {
  await world.create(BuildbarnWorker, "storage", { replicas: 3 });
  await world.seen(Deployment, "storage", ({ status }) => status?.readyReplicas === 3);
  await world.patch(BuildbarnStorage, "storage", { replicas: 3 });
  const moving = await inPhase("Bridging", "Redirecting", "Copying", "Switching");
  expect(reasonOf(moving, "Progressing")).toBe("Resharding");
  await resharded(3);
  // They stop in their own time: the change is over only then, and no pod of workers is waited for.
  await world.patch(BuildbarnStorage, "storage", { replicas: 2 });
  await resharded(2);
  await world.client.delete(BuildbarnWorker, world.key("storage"));
  await waitForDeletion(world.client, BuildbarnWorker, world.key("storage"), { timeout: 30_000 });
  expect((await world.get(StatefulSet, "storage")).spec?.replicas).toBe(2);
});

test("a ConfigMap that was deleted is there again before a pod needs it", async () => {
  const { spec } = await world.get(Deployment, "frontend");
  const name = spec?.template.spec?.volumes?.[0]?.configMap?.name ?? "";
  const { data, metadata } = await world.get(ConfigMap, name);
  await world.client.delete(ConfigMap, world.key(name));
  await expect
    .poll(
      async () => {
        const { items } = await world.client.list(ConfigMap, { namespace: world.namespace });
        return items.find((one) => one.metadata.name === name && one.metadata.uid !== metadata.uid)?.data;
      },
      { timeout: 20_000 },
    )
    .toEqual(data);
});

test("shards that are changed again and again end up as many as were last asked for", slow, async () => {
  await world.patch(BuildbarnStorage, "storage", { replicas: 3 });
  await inPhase("Bridging", "Redirecting");
  for (const replicas of [5, 1, 4, 2]) await world.patch(BuildbarnStorage, "storage", { replicas });
  await resharded(2);
  const { items } = await world.client.list(Pod, {
    namespace: world.namespace,
    labelSelector: "app=storage",
  });
  expect(items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(2);
});

test(
  "a storage that is deleted while shards change, and created again, goes on where its clients are",
  slow,
  async () => {
    await world.patch(BuildbarnStorage, "storage", { replicas: 3 });
    await inPhase("Bridging", "Redirecting");
    await world.client.delete(BuildbarnStorage, world.key("storage"));
    await waitForDeletion(world.client, BuildbarnStorage, world.key("storage"), { timeout: 20_000 });
    const frontend = await world.condition(BuildbarnFrontend, "frontend", "ConfigValid", "False");
    expect(reasonOf(frontend, "Ready")).toBe("MissingReference");
    await world.create(BuildbarnStorage, "storage", { resharding: { hold: "100ms" }, replicas: 3 });
    await resharded(3);
    await world.ready(BuildbarnFrontend, "frontend");
  },
);

test("names may be as long as they may", slow, async () => {
  const name = `a${"b".repeat(44)}`;
  await world.create(BuildbarnWorker, name, { replicas: 1, instance: "i".repeat(63) });
  await world.ready(BuildbarnWorker, name);
});

test("two sets of one namespace know nothing of each other", slow, async () => {
  const sets = ["one", "two"] as const;
  for (const name of sets)
    await world.create(BuildbarnCluster, name, {
      storage: { replicas: 2, minReadySeconds: 0, resharding: { hold: "100ms" } },
      scheduler: { minReadySeconds: 0 },
      frontend: { replicas: 1, minReadySeconds: 0 },
      workers: [{ name: "linux", replicas: 1, minReadySeconds: 0 }],
    });
  for (const name of sets) await world.ready(BuildbarnCluster, name);
  const texts = async (name: string) =>
    (
      await world.client.list(ConfigMap, {
        namespace: world.namespace,
        labelSelector: `buildbarn.io/cluster=${name}`,
      })
    ).items.map(({ data }) => JSON.stringify(data));
  const other = { one: "two-", two: "one-" };
  for (const name of sets) {
    const all = await texts(name);
    expect(all.length).toBeGreaterThan(3);
    expect(all.filter((text) => text.includes(other[name]))).toEqual([]);
  }
  const generations = async () =>
    Promise.all(
      ["frontend", "scheduler", "linux"].map(
        async (component) => (await world.get(Deployment, `two-${component}`)).metadata.generation,
      ),
    );
  const before = await generations();
  // The pods of the other set are not waited for, though they are on the old map for ever.
  await world.patch(BuildbarnCluster, "one", { storage: { replicas: 3 } });
  await world.seen(
    BuildbarnStorage,
    "one-storage",
    ({ status }) => status?.resharding?.phase === "Stable" && status.resharding.to === 3,
  );
  await world.ready(BuildbarnCluster, "one");
  expect(await generations()).toEqual(before);
  expect((await world.get(BuildbarnStorage, "two-storage")).status?.resharding).toMatchObject({ to: 2 });
});

test(
  "another frontend does not restart the scheduler, and takes over when the one in use is deleted",
  slow,
  async () => {
    await world.ready(BuildbarnScheduler, "scheduler");
    const before = await world.get(Deployment, "scheduler");
    await world.create(BuildbarnFrontend, "ci", { replicas: 1 });
    await world.ready(BuildbarnFrontend, "ci");
    await world.ready(BuildbarnScheduler, "scheduler");
    expect((await world.get(Deployment, "scheduler")).spec).toEqual(before.spec);
    expect((await world.get(BuildbarnScheduler, "scheduler")).status?.frontend).toBe("frontend");
    await world.client.delete(BuildbarnFrontend, world.key("frontend"));
    await world.seen(BuildbarnScheduler, "scheduler", ({ status }) => status?.frontend === "ci");
    await world.seen(
      Deployment,
      "scheduler",
      ({ metadata }) => metadata.generation !== before.metadata.generation,
    );
    await world.ready(BuildbarnScheduler, "scheduler");
  },
);
