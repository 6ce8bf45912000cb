import { child, controller, defineResource, manager, namespaceSet } from "@windlass/runtime";
import { ConfigMap, Namespace } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster, waitFor } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";

const Note = defineResource({
  group: "namespaces.windlass.dev",
  version: "v1",
  kind: "Note",
  spec: z.object({ text: z.string() }),
});

/** Keeps a ConfigMap with the text of each note. */
const note = controller(Note, {
  owns: [ConfigMap],
  reconcile: ({ metadata: { name }, spec }) => ({
    children: [child(ConfigMap, { metadata: { name }, data: { text: spec.text } })],
  }),
});

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Note);
}, 90_000);
afterAll(() => cluster.close(), 60_000);

const write = (namespace: string, text: string) =>
  cluster.client.apply(Note, { metadata: { namespace, name: "n" }, spec: { text } }, { force: true });
const copied = (namespace: string, text: string) =>
  waitFor(cluster.client, ConfigMap, { namespace, name: "n" }, ({ data }) => data?.text === text);
const textIn = async (namespace: string) =>
  (await cluster.client.list(ConfigMap, { namespace, fieldSelector: "metadata.name=n" })).items[0]?.data
    ?.text;

test("namespaces by name: what is in others is not seen, and the choice can change while running", async () => {
  const [one, two] = [await cluster.createNamespace("one"), await cluster.createNamespace("two")];
  const chosen = namespaceSet([one]);
  const running = await cluster.run("notes", (options) =>
    manager({ ...options, namespaces: chosen }).add(note),
  );
  await Promise.all([write(one, "a"), write(two, "a")]);
  await copied(one, "a");
  expect(await textIn(two)).toBeUndefined();
  chosen.set([two]);
  await copied(two, "a");
  await write(one, "b");
  await write(two, "b");
  await copied(two, "b");
  expect(await textIn(one)).toBe("a");
  await running.stop();
}, 60_000);

test("namespaces by label: those that get the label are taken up, and those that lose it are let go", async () => {
  const label = `windlass.dev/team-${Math.random().toString(36).slice(2, 8)}`;
  const [one, two] = [await cluster.createNamespace("one"), await cluster.createNamespace("two")];
  const mark = (name: string, value: string | null) =>
    cluster.client.patch(
      Namespace,
      { name },
      { type: "merge", patch: { metadata: { labels: { [label]: value } } } },
    );
  await mark(one, "a");
  const running = await cluster.run("notes", (options) =>
    manager({ ...options, namespaces: { labelSelector: `${label}=a` } }).add(note),
  );
  await Promise.all([write(one, "a"), write(two, "a")]);
  await copied(one, "a");
  expect(await textIn(two)).toBeUndefined();
  await mark(two, "a");
  await copied(two, "a");
  await mark(one, null);
  // What comes after the change of the label in one namespace's history comes after it for the
  // operator too.
  await mark(two, "b");
  await mark(two, "a");
  await write(two, "b");
  await copied(two, "b");
  await write(one, "b");
  await write(two, "c");
  await copied(two, "c");
  expect(await textIn(one)).toBe("a");
  await running.stop();
}, 60_000);

test("a list of namespaces is all that is watched", async () => {
  const names = await Promise.all(["one", "two", "three"].map((name) => cluster.createNamespace(name)));
  const [one = "", two = "", three = ""] = names;
  const running = await cluster.run("notes", (options) =>
    manager({ ...options, namespaces: [one, two] }).add(note),
  );
  await Promise.all(names.map((name) => write(name, "a")));
  await Promise.all([copied(one, "a"), copied(two, "a")]);
  expect(await textIn(three)).toBeUndefined();
  await running.stop();
}, 60_000);

test("a runnable's informers have the manager's namespaces, unless it asks for others", async () => {
  const [one, two] = [await cluster.createNamespace("one"), await cluster.createNamespace("two")];
  await Promise.all([write(one, "a"), write(two, "a")]);
  const seen = Promise.withResolvers<readonly (readonly string[])[]>();
  const running = await cluster.run("notes", (options) =>
    manager({ ...options, namespaces: [one] }).add({
      name: "looker",
      stage: "everywhere",
      start: async ({ informer }) => {
        const informers = [informer(Note), informer(Note, { namespace: two })];
        await Promise.all(informers.map(({ synced }) => synced));
        seen.resolve(informers.map((held) => held.list().map(({ metadata }) => metadata.namespace)));
        return () => {
          for (const held of informers) held.release();
        };
      },
    }),
  );
  expect(await seen.promise).toEqual([[one], [two]]);
  await running.stop();
}, 60_000);
