import { type AnyKind, Client } from "@windlass/runtime";
import { startCluster, type TestCluster } from "@windlass/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Budget } from "./budget.ts";

let cluster: TestCluster;
let namespace: string;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.install(Budget);
  namespace = await cluster.createNamespace();
}, 60_000);
afterAll(() => cluster.close(), 60_000);

const create = (name: string, spec: object) =>
  cluster.client.create<AnyKind>(Budget, { metadata: { namespace, name }, spec });
const change = (name: string, spec: object) =>
  cluster.client.patch(Budget, { namespace, name }, { type: "merge", patch: { spec } });

test("what a rule says is refused with its field, on creation and on change", async () => {
  await expect(create("narrow", { min: 3, max: 2 })).rejects.toThrow("min must not exceed max");
  await create("one", {});
  await expect(change("one", { tier: "gold" })).rejects.toThrow("spec.tier: Invalid value");
  await expect(change("one", { max: 5 })).rejects.toThrow("spec.max: Invalid value");
  await create("two", { tier: "gold" });
  expect((await change("two", { max: 5 })).spec).toMatchObject({ max: 5, memory: "256Mi" });
});

test("quantities are checked, and names and values are there once", async () => {
  await expect(create("odd", { memory: "a lot" })).rejects.toThrow("spec.memory");
  const twice = [
    { name: "a", cpu: 1 },
    { name: "a", cpu: "500m" },
  ];
  await expect(create("twice", { limits: twice })).rejects.toThrow("Duplicate value");
  await expect(create("zones", { zones: ["a", "a"] })).rejects.toThrow("Duplicate value");
});

test("lists of two appliers are merged by name, and what is atomic has one owner", async () => {
  const metadata = { namespace, name: "merged" };
  const by = (fieldManager: string) => new Client({ transport: cluster.transport(), fieldManager });
  await by("one").apply(Budget, { metadata, spec: { limits: [{ name: "a", cpu: 1 }] } });
  const { spec } = await by("two").apply(Budget, { metadata, spec: { limits: [{ name: "b", cpu: 2 }] } });
  expect(spec.limits).toEqual([
    { name: "a", cpu: 1 },
    { name: "b", cpu: 2 },
  ]);
});
