import { isConflict } from "@windlass/client";
import { ConfigMap, type Container, Deployment } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

test("applying creates, and says who owns what", async () => {
  const applied = await cluster.client.apply(
    ConfigMap,
    { metadata: { namespace, name: "owned" }, data: { x: "1" } },
    { fieldManager: "one" },
  );
  expect(applied.metadata.managedFields).toMatchObject([
    {
      manager: "one",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:x": {} } },
    },
  ]);
});

test("a text is applied as it is, whatever YAML makes of its characters", async () => {
  const texts = [
    "\x7f",
    "\x80",
    " \x85 ",
    "\x9f",
    " \u2028 ",
    "\u2029",
    "\ufeff",
    "\ufffe",
    "\uffff",
    "\0",
    "\r\n ",
    "😀",
  ];
  const data = Object.fromEntries(texts.map((text, index) => [`text-${index}`, `a${text}b`]));
  const object = { metadata: { namespace, name: "texts" }, data };
  expect((await cluster.client.apply(ConfigMap, object, { fieldManager: "one" })).data).toEqual(data);
});

test("two managers with different values are in conflict, which force resolves", async () => {
  const object = (x: string) => ({ metadata: { namespace, name: "contested" }, data: { x } });
  await cluster.client.apply(ConfigMap, object("1"), { fieldManager: "one" });
  const refused = cluster.client.apply(ConfigMap, object("2"), { fieldManager: "two" });
  await expect(refused).rejects.toSatisfy(isConflict);
  await expect(refused).rejects.toThrow('conflict with "one": .data.x');
  const forced = await cluster.client.apply(ConfigMap, object("2"), { fieldManager: "two", force: true });
  expect(forced.data).toEqual({ x: "2" });
});

test("a field that its only owner no longer applies is removed", async () => {
  const key = { namespace, name: "shrinking" };
  await cluster.client.apply(ConfigMap, { metadata: key, data: { x: "1", y: "1" } }, { fieldManager: "one" });
  const after = await cluster.client.apply(
    ConfigMap,
    { metadata: key, data: { x: "1" } },
    { fieldManager: "one" },
  );
  expect(after.data).toEqual({ x: "1" });
});

test("applying the same again changes nothing, not even the version", async () => {
  const deployment = {
    metadata: { namespace, name: "steady" },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "x" } },
      template: {
        metadata: { labels: { app: "x" } },
        spec: { containers: [{ name: "c", image: "nginx:1.25" }] },
      },
    },
  };
  await cluster.client.apply(Deployment, deployment, { fieldManager: "one" });
  const settled = await cluster.client.get(Deployment, { namespace, name: "steady" });
  const again = await cluster.client.apply(Deployment, deployment, { fieldManager: "one" });
  expect(again.spec).toEqual(settled.spec);
  expect(again.metadata.generation).toBe(settled.metadata.generation);
});

test("the containers of a template are merged by name", async () => {
  const key = { namespace, name: "merged" };
  const with_ = (containers: readonly Container[]) => ({
    metadata: key,
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "y" } },
      template: { metadata: { labels: { app: "y" } }, spec: { containers } },
    },
  });
  await cluster.client.apply(Deployment, with_([{ name: "a", image: "nginx:1.25" }]), {
    fieldManager: "one",
  });
  const both = await cluster.client.apply(Deployment, with_([{ name: "b", image: "redis:7" }]), {
    fieldManager: "two",
  });
  expect(both.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(["a", "b"]);
});
