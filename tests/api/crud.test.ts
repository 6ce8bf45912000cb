import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "@windlass/client";
import { ConfigMap } from "@windlass/runtime/kinds";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startCluster();
  namespace = await cluster.createNamespace();
}, 90_000);
afterAll(() => cluster.close(), 60_000);

test("what is created can be read back, with an identity and a version", async () => {
  const created = await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "a" },
    data: { x: "1" },
  });
  expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  const read = await cluster.client.get(ConfigMap, { namespace, name: "a" });
  expect(read).toEqual(created);
});

test("a name can be taken once", async () => {
  const object = { metadata: { namespace, name: "taken" } };
  await cluster.client.create(ConfigMap, object);
  await expect(cluster.client.create(ConfigMap, object)).rejects.toSatisfy(isAlreadyExists);
});

test("a generated name begins with its prefix and is unlike the next", async () => {
  const object = { metadata: { namespace, generateName: "gen-" } };
  const [one, two] = [
    await cluster.client.create(ConfigMap, object),
    await cluster.client.create(ConfigMap, object),
  ];
  expect(one.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  expect(one.metadata.name).not.toBe(two.metadata.name);
});

test("an update with an old version is a conflict; with the present one it is not", async () => {
  const first = await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "raced" },
    data: { x: "1" },
  });
  const second = await cluster.client.update(ConfigMap, { ...first, data: { x: "2" } });
  expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion));
  await expect(cluster.client.update(ConfigMap, { ...first, data: { x: "3" } })).rejects.toSatisfy(
    isConflict,
  );
});

test("a write that changes nothing leaves the version alone", async () => {
  const before = await cluster.client.create(ConfigMap, {
    metadata: { namespace, name: "same" },
    data: { x: "1" },
  });
  const after = await cluster.client.patch(
    ConfigMap,
    { namespace, name: "same" },
    { type: "merge", patch: { data: { x: "1" } } },
  );
  expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test("a dry run answers as if, and stores nothing", async () => {
  const object = { metadata: { namespace, name: "dry" }, data: { x: "1" } };
  const answer = await cluster.client.create(ConfigMap, object, { dryRun: true });
  expect(answer.metadata.uid).toBeDefined();
  expect(answer.metadata.resourceVersion).toBeUndefined();
  await expect(cluster.client.get(ConfigMap, { namespace, name: "dry" })).rejects.toSatisfy(isNotFound);
});

test("a bad name is refused, and the field is named", async () => {
  const refused = cluster.client.create(ConfigMap, { metadata: { namespace, name: "Not_A_Name" } });
  await expect(refused).rejects.toSatisfy(isInvalid);
  await expect(refused).rejects.toThrow(/metadata\.name: Invalid value: "Not_A_Name"/);
});

test("an object with a finalizer stays until the finalizer goes", async () => {
  const key = { namespace, name: "held" };
  await cluster.client.create(ConfigMap, { metadata: { ...key, finalizers: ["example.com/hold"] } });
  await cluster.client.delete(ConfigMap, key);
  const held = await cluster.client.get(ConfigMap, key);
  expect(held.metadata.deletionTimestamp).toBeDefined();
  await cluster.client.patch(ConfigMap, key, { type: "merge", patch: { metadata: { finalizers: null } } });
  await expect(cluster.client.get(ConfigMap, key)).rejects.toSatisfy(isNotFound);
});

test("lists come in pages that together are one moment's state", async () => {
  const inside = await cluster.createNamespace();
  for (let i = 0; i < 5; i++)
    await cluster.client.create(ConfigMap, { metadata: { namespace: inside, name: `page-${i}` } });
  const first = await cluster.client.list(ConfigMap, { namespace: inside, limit: 2 });
  await cluster.client.create(ConfigMap, { metadata: { namespace: inside, name: "page-9-later" } });
  const names = first.items.map(({ metadata }) => metadata.name);
  for (let token = first.metadata.continue; token; ) {
    const page = await cluster.client.list(ConfigMap, { namespace: inside, limit: 2, continue: token });
    expect(page.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    names.push(...page.items.map(({ metadata }) => metadata.name));
    token = page.metadata.continue;
  }
  expect(names.filter((name) => name.startsWith("page-"))).toEqual([
    "page-0",
    "page-1",
    "page-2",
    "page-3",
    "page-4",
  ]);
});

test("selectors choose by label and by field", async () => {
  const inside = await cluster.createNamespace();
  for (const [name, tier] of [
    ["one", "a"],
    ["two", "b"],
    ["three", "a"],
  ] as const) {
    await cluster.client.create(ConfigMap, { metadata: { namespace: inside, name, labels: { tier } } });
  }
  const byLabel = await cluster.client.list(ConfigMap, { namespace: inside, labelSelector: "tier in (a)" });
  expect(byLabel.items.map(({ metadata }) => metadata.name)).toEqual(["one", "three"]);
  const byField = await cluster.client.list(ConfigMap, {
    namespace: inside,
    fieldSelector: "metadata.name=two",
  });
  expect(byField.items.map(({ metadata }) => metadata.name)).toEqual(["two"]);
});
