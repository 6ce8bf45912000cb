import { isNotFound } from "@windlass/client";
import {
  child,
  condition,
  controller,
  defineResource,
  manager,
  ReconcileError,
  terminal,
} from "@windlass/runtime";
import { ConfigMap, EventV1, Lease, Secret } from "@windlass/runtime/kinds";
import {
  startCluster,
  type TestCluster,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { keepLog } from "./logged.ts";

/** On a busy machine even what happens at once takes its time. */
const soon = { timeout: 10_000 };

/** Asks for so many notes; fails when told to. */
const Notebook = defineResource({
  group: "operator.windlass.dev",
  version: "v1",
  kind: "Notebook",
  spec: z.object({
    pages: z.int32().min(0).max(10).default(1),
    fails: z.enum(["never", "always", "terminally", "by-waiting", "at-length"]).default("never"),
  }),
  status: z.object({ pages: z.int32().optional() }),
});

/** Counts how often each notebook was reconciled. */
const looks = new Map<string, number>();
const cleaned: string[] = [];

const notebook = controller(Notebook, {
  owns: [ConfigMap],
  timeout: 300,
  rateLimit: { initial: 20, max: 200 },
  async reconcile({ metadata: { name }, spec }, { ownedAll, signal, log }) {
    looks.set(name, (looks.get(name) ?? 0) + 1);
    if (spec.fails === "always") throw new ReconcileError("InkIsOut", "there is no ink");
    // Longer in bytes, as the server counts, than in characters, and what a terminal prints.
    if (spec.fails === "at-length") throw new ReconcileError("NoRoom", `\x9b1m\x85 ${"é…😀".repeat(400)}`);
    if (spec.fails === "terminally") throw terminal("nobody can read this", "Illegible");
    if (spec.fails === "by-waiting") {
      log.debug({}, "waits indefinitely");
      await new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    }
    const written = ownedAll(ConfigMap).length;
    return {
      children: Array.from({ length: spec.pages }, (_, page) =>
        child(ConfigMap, { metadata: { name: `${name}-${page}` }, data: { page: String(page) } }),
      ),
      status: { pages: written, conditions: [condition("Ready", written === spec.pages, "Written")] },
      events: [{ reason: "Written", message: `${name} was written` }],
    };
  },
  finalize({ metadata: { name } }) {
    cleaned.push(name);
  },
});

let cluster: TestCluster;
let namespace: string;
const { log, lines } = keepLog();

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Notebook);
  namespace = await cluster.createNamespace();
  await cluster.run("notebook-operator", (options) =>
    manager({ ...options, log, namespaces: [namespace] }).add(notebook),
  );
}, 90_000);
afterAll(() => cluster.close(), 60_000);

async function write(name: string, spec: object = {}) {
  const key = { namespace, name };
  const created = await cluster.client.create(Notebook, { metadata: key, spec });
  return { key, uid: created.metadata.uid };
}

/**
 * Resolves when others have been through the queue: what was due before them has been reconciled.
 */
async function letOthersBy(): Promise<void> {
  const { key } = await write(`other-${others++}`);
  await waitForCondition(cluster.client, Notebook, key, "Ready");
}
let others = 0;

const patchSpec = (key: { namespace: string; name: string }, spec: object) =>
  cluster.client.patch(Notebook, key, { type: "merge", patch: { spec } });

async function pagesOf(name: string): Promise<string[]> {
  const { items } = await cluster.client.list(ConfigMap, { namespace });
  return items.map(({ metadata }) => metadata.name).filter((page) => page.startsWith(`${name}-`));
}

test("children come to be, belong to their owner, and are in the status", async () => {
  const { key, uid } = await write("diary", { pages: 2 });
  const ready = await waitForCondition(cluster.client, Notebook, key, "Ready");
  expect(ready.status).toMatchObject({ pages: 2, observedGeneration: 1 });
  expect(await pagesOf("diary")).toEqual(["diary-0", "diary-1"]);
  const page = await cluster.client.get(ConfigMap, { namespace, name: "diary-0" });
  expect(page.metadata.ownerReferences).toEqual([
    {
      apiVersion: "operator.windlass.dev/v1",
      kind: "Notebook",
      name: "diary",
      uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
});

test("a child that is edited or deleted is restored, and one no longer wanted is removed", async () => {
  const { key } = await write("log", { pages: 3 });
  await waitForCondition(cluster.client, Notebook, key, "Ready");
  const first = { namespace, name: "log-0" };
  await cluster.client.patch(ConfigMap, first, { type: "merge", patch: { data: { page: "torn" } } });
  await waitFor(cluster.client, ConfigMap, first, ({ data }) => data?.page === "0");
  const second = { namespace, name: "log-1" };
  const { metadata } = await cluster.client.get(ConfigMap, second);
  await cluster.client.delete(ConfigMap, second);
  await waitFor(cluster.client, ConfigMap, second, (page) => page.metadata.uid !== metadata.uid);
  await patchSpec(key, { pages: 1 });
  await waitForDeletion(cluster.client, ConfigMap, { namespace, name: "log-2" });
  await waitForCondition(cluster.client, Notebook, key, "Ready");
  expect(await pagesOf("log")).toEqual(["log-0"]);
});

test("what another manager adds to a child stays", async () => {
  const { key } = await write("shared");
  await waitForCondition(cluster.client, Notebook, key, "Ready");
  const page = { namespace, name: "shared-0" };
  await cluster.client.patch(ConfigMap, page, { type: "merge", patch: { data: { margin: "mine" } } });
  await patchSpec(key, { pages: 2 });
  await waitFor(cluster.client, Notebook, key, ({ status }) => status?.pages === 2);
  expect((await cluster.client.get(ConfigMap, page)).data).toEqual({ page: "0", margin: "mine" });
});

test("a settled object is neither read nor written", async () => {
  const { key } = await write("quiet");
  const before = await waitForCondition(cluster.client, Notebook, key, "Ready");
  await letOthersBy();
  const looksBefore = looks.get("quiet");
  await letOthersBy();
  expect(looks.get("quiet")).toBe(looksBefore);
  const after = await cluster.client.get(Notebook, key);
  expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test("a failure of many bytes, and of what a terminal prints, is reported in an event and in the condition", async () => {
  const key = { namespace, name: "at-length" };
  await cluster.client.create(Notebook, { metadata: key, spec: { fails: "at-length" } });
  const told = (events: readonly { readonly reason?: string; readonly note?: string }[]) =>
    events.find(({ reason }) => reason === "NoRoom")?.note;
  const said = await waitFor(cluster.client, Notebook, key, ({ status }) =>
    status?.conditions?.find(({ reason }) => reason === "NoRoom"),
  );
  expect(said?.message).toMatch(/^\x9b1m\x85 é…😀/);
  await expect
    .poll(async () => told((await cluster.client.list(EventV1, { namespace })).items), soon)
    .toMatch(/^\x9b1m\x85 (é…😀){112}/);
  await cluster.client.delete(Notebook, key);
});

test("events tell what happened, and the same one again is a series", async () => {
  const { key, uid } = await write("story");
  await waitForCondition(cluster.client, Notebook, key, "Ready");
  await patchSpec(key, { pages: 2 });
  await waitFor(cluster.client, Notebook, key, ({ status }) => status?.pages === 2);
  const eventsOfStory = async () => {
    const { items } = await cluster.client.list(EventV1, { namespace });
    // On a busy machine there may be one of a reconcile that timed out, too.
    return items.filter(({ regarding, reason }) => regarding?.uid === uid && reason === "Written");
  };
  await expect.poll(async () => (await eventsOfStory())[0]?.series?.count, soon).toBeGreaterThanOrEqual(2);
  const [event, ...others] = await eventsOfStory();
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    type: "Normal",
    note: "story was written",
    reportingController: "notebook",
    regarding: { kind: "Notebook", name: "story", namespace },
  });
});

test("a finalizer is there before the first child, and cleaning up comes before the end", {
  // A real garbage collector looks for new kinds every thirty seconds.
  timeout: 75_000,
}, async () => {
  const { key } = await write("brief");
  const ready = await waitForCondition(cluster.client, Notebook, key, "Ready");
  expect(ready.metadata.finalizers).toEqual(["operator.windlass.dev/notebook"]);
  await cluster.client.delete(Notebook, key);
  await waitForDeletion(cluster.client, Notebook, key);
  expect(cleaned).toContain("brief");
  if (cluster.hasControllers)
    await waitForDeletion(cluster.client, ConfigMap, { namespace, name: "brief-0" }, { timeout: 60_000 });
});

test("a failure is tried again until it is cured, and is in the condition meanwhile", async () => {
  const { key } = await write("dry", { fails: "always" });
  const failing = await waitForCondition(cluster.client, Notebook, key, "Ready", "False");
  expect(failing.status?.conditions).toMatchObject([{ reason: "InkIsOut", message: "there is no ink" }]);
  await expect.poll(() => looks.get("dry"), soon).toBeGreaterThan(2);
  await patchSpec(key, { fails: "never" });
  await waitForCondition(cluster.client, Notebook, key, "Ready");
});

test("a terminal failure is not tried again until the object changes", async () => {
  const { key } = await write("scrawl", { fails: "terminally" });
  const failing = await waitForCondition(cluster.client, Notebook, key, "Ready", "False");
  expect(failing.status?.conditions).toMatchObject([
    { reason: "Illegible", message: "nobody can read this" },
  ]);
  await letOthersBy();
  const looksBefore = looks.get("scrawl");
  await letOthersBy();
  expect(looks.get("scrawl")).toBe(looksBefore);
  await patchSpec(key, { fails: "never" });
  await waitForCondition(cluster.client, Notebook, key, "Ready");
});

test("a reconcile that never ends is canceled with a line that reports it, and the others go on", async () => {
  const { key } = await write("endless", { fails: "by-waiting" });
  const stuck = await waitForCondition(cluster.client, Notebook, key, "Ready", "False");
  expect(stuck.status?.conditions).toMatchObject([{ reason: "ReconcileTimeout" }]);
  const message = `Notebook ${namespace}/endless: the reconcile of controller notebook did not end within 0.3 s and was given up. Pass context.signal to what it waits for, or raise the controller's timeout.`;
  await expect.poll(() => lines.some((line) => line.includes(message)), soon).toBe(true);
  const another = await write("after-endless");
  await waitForCondition(cluster.client, Notebook, another.key, "Ready");
  await patchSpec(key, { fails: "never" });
  await waitForCondition(cluster.client, Notebook, key, "Ready");
});

test("a kind whose definition is missing delays its own controller alone, with one line", {
  timeout: 60_000,
}, async () => {
  const Missing = defineResource({
    group: "operator.windlass.dev",
    version: "v1",
    kind: "Missing",
    spec: z.object({}),
    status: z.object({}),
  });
  const Present = { ...ConfigMap };
  const seen: string[] = [];
  const kept = keepLog();
  const running = await cluster.run("partly", (options) =>
    manager({ ...options, log: kept.log, namespaces: [namespace] })
      .add(controller(Missing, { reconcile: ({ metadata }) => void seen.push(`Missing ${metadata.name}`) }))
      .add(
        controller(Present, {
          name: "present",
          scope: { labelSelector: "test=partly" },
          reconcile: ({ metadata }) => void seen.push(`ConfigMap ${metadata.name}`),
        }),
      ),
  );
  await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "partly", labels: { test: "partly" } },
  });
  await expect.poll(() => seen, soon).toEqual(["ConfigMap partly"]);
  expect(kept.lines).toEqual([
    "Missing (operator.windlass.dev/v1) is not installed on the server: install its CustomResourceDefinition, missings.operator.windlass.dev; until then it counts as having no objects, and it is taken up when it appears",
  ]);
  await cluster.install(Missing);
  await cluster.client.create(Missing, { metadata: { namespace, name: "found" }, spec: {} });
  await expect.poll(() => seen, { timeout: 45_000 }).toContain("Missing found");
  await running.stop();
});

test("of two replicas one works, and the other takes over when it stops", { timeout: 60_000 }, async () => {
  const lease = { namespace, name: "relay" };
  const seen: string[] = [];
  const start = (identity: string) =>
    cluster.run(identity, (options) =>
      manager({
        ...options,
        namespaces: [namespace],
        leaderElection: {
          ...lease,
          identity,
          retryPeriod: 200,
        },
      }).add(
        controller(Secret, {
          name: "relay",
          scope: { labelSelector: "test=relay" },
          reconcile: ({ metadata }) => void seen.push(`${identity} ${metadata.name}`),
        }),
      ),
    );
  const make = (name: string) =>
    cluster.client.create(Secret, { metadata: { namespace, name, labels: { test: "relay" } } });
  const first = await start("first");
  await expect.poll(() => first.isLeading, soon).toBe(true);
  const second = await start("second");
  await make("one");
  await expect.poll(() => seen, soon).toEqual(["first one"]);
  expect(second.isLeading).toBe(false);
  await first.stop();
  await expect.poll(() => second.isLeading, soon).toBe(true);
  await make("two");
  await expect.poll(() => seen, soon).toContain("second two");
  expect(seen).not.toContain("first two");
  const held = await cluster.client.get(Lease, lease);
  expect(held.spec).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
  await second.stop();
  expect((await cluster.client.get(Lease, lease)).spec?.holderIdentity || "nobody").toBe("nobody");
});

test("what was asked of a deleted object is not carried over to one of the same name", async () => {
  const first = await write("again", { pages: 2 });
  await waitForCondition(cluster.client, Notebook, first.key, "Ready");
  await cluster.client.delete(Notebook, first.key);
  await waitForDeletion(cluster.client, Notebook, first.key);
  if (!cluster.hasControllers) await cluster.client.delete(ConfigMap, { namespace, name: "again-0" });
  await waitForDeletion(cluster.client, ConfigMap, { namespace, name: "again-0" });
  const second = await write("again", { pages: 1 });
  const ready = await waitForCondition(cluster.client, Notebook, second.key, "Ready");
  expect(ready.metadata.uid).not.toBe(first.uid);
  const page = await cluster.client
    .get(ConfigMap, { namespace, name: "again-0" })
    .catch((error: unknown) => error);
  expect(isNotFound(page)).toBe(false);
});
