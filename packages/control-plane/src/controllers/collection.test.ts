import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { names, type Stage, stage, workload } from "./stage.ts";

function map(name: string, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } };
}
function ownedBy(...owners: { owner: StoredObject | undefined; block?: boolean }[]): JsonObject {
  return {
    ownerReferences: owners.map(({ owner, block }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: owner?.metadata.name ?? "gone",
      uid: owner?.metadata.uid ?? "0",
      ...(block ? { blockOwnerDeletion: true } : {}),
    })),
  };
}
const maps = (world: Stage) => names(world.list("configmaps")).filter((name) => name !== "kube-root-ca.crt");

test("what loses its last owner goes; what has another stays, without the reference", async () => {
  await using world = await stage();
  await world.create(map("a"), map("b"));
  const [a, b] = [world.get("configmaps", "a"), world.get("configmaps", "b")];
  await world.create(map("of-a", ownedBy({ owner: a })), map("of-both", ownedBy({ owner: a }, { owner: b })));
  await world.delete("configmaps", "a");
  expect(maps(world)).toEqual(["b", "of-both"]);
  expect(field(world.get("configmaps", "of-both"), "metadata", "ownerReferences")).toMatchObject([
    { name: "b" },
  ]);
  await world.delete("configmaps", "b");
  expect(maps(world)).toEqual([]);
});

test("an owner deleted in the foreground waits for the dependents that block it, and only for those", async () => {
  await using world = await stage();
  await world.create(map("owner"));
  const owner = world.get("configmaps", "owner");
  await world.create(
    map("blocking", { ...ownedBy({ owner, block: true }), finalizers: ["example.com/wait"] }),
    map("loose", { ...ownedBy({ owner }), finalizers: ["example.com/wait"] }),
    map("other", ownedBy({ owner })),
  );
  await world.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
  expect(maps(world)).toEqual(["blocking", "loose", "owner"]);
  expect(world.get("configmaps", "blocking")?.metadata.deletionTimestamp).toBeDefined();
  await world.change("configmaps", "blocking", ({ metadata }) => {
    delete (metadata as JsonObject).finalizers;
  });
  expect(maps(world)).toEqual(["loose"]);
  expect(world.get("configmaps", "loose")?.metadata.deletionTimestamp).toBeDefined();
});

test("a circle of owners that block each other goes all the same", async () => {
  await using world = await stage();
  await world.create(map("a"), map("b"), map("c"));
  for (const [name, owner] of [
    ["b", "a"],
    ["c", "b"],
    ["a", "c"],
  ] as const) {
    const references = ownedBy({ owner: world.get("configmaps", owner), block: true });
    await world.change("configmaps", name, ({ metadata }) => {
      Object.assign(metadata as JsonObject, references);
    });
  }
  await world.delete("configmaps", "a", { propagationPolicy: "Foreground" });
  expect(maps(world)).toEqual([]);
});

test("what an object of an unknown kind owns stays: nobody can say whether its owner is there", async () => {
  await using world = await stage();
  const owner = { kind: "Nothing", name: "x", uid: "11111111-1111-4111-8111-111111111111" };
  await world.create(
    map("strange", { ownerReferences: [{ apiVersion: "nowhere.example.com/v1", ...owner }] }),
    map("known", { ownerReferences: [{ apiVersion: "v1", ...owner, kind: "ConfigMap" }] }),
  );
  await world.pass(120_000);
  expect(maps(world)).toEqual(["strange"]);
});

test("a dependent with another owner survives the foreground deletion of one", async () => {
  await using world = await stage();
  await world.create(map("a"), map("b"));
  const [a, b] = [world.get("configmaps", "a"), world.get("configmaps", "b")];
  await world.create(map("both", ownedBy({ owner: a, block: true }, { owner: b })));
  await world.delete("configmaps", "a", { propagationPolicy: "Foreground" });
  expect(maps(world)).toEqual(["b", "both"]);
});

test("orphans are let go", async () => {
  await using world = await stage();
  await world.create(workload("Deployment", "web", { replicas: 1 }));
  await world.delete("deployments.apps", "web", { propagationPolicy: "Orphan" });
  expect(world.list("deployments.apps")).toEqual([]);
  const [set] = world.list("replicasets.apps");
  expect(set?.metadata.ownerReferences).toBeUndefined();
  expect(world.list("pods")).toHaveLength(1);
});

test("an owner in another namespace is none: the dependent goes, and an event says why", async () => {
  await using world = await stage();
  await world.create(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "far" } },
    map("owner", { namespace: "far" }),
  );
  await world.create(map("near", ownedBy({ owner: world.get("configmaps", "far/owner") })));
  expect(maps(world)).toEqual(["owner"]);
  expect(world.events("ConfigMap")[0]).toMatch(
    /^OwnerRefInvalidNamespace: ownerRef \[v1\/ConfigMap, namespace: default, name: owner, uid: .*\] does not exist in namespace "default"$/,
  );
});

test("deleting a Deployment takes its ReplicaSets and pods along", async () => {
  await using world = await stage();
  await world.create(workload("Deployment", "web", { replicas: 3 }));
  await world.delete("deployments.apps", "web", { propagationPolicy: "Foreground" });
  for (const bucket of ["deployments.apps", "replicasets.apps", "pods"])
    expect(world.list(bucket)).toEqual([]);
});

test("a namespace goes once it is empty, and says until then what holds it", async () => {
  await using world = await stage();
  await world.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "doomed" } });
  expect(world.get("serviceaccounts", "doomed/default")).toBeDefined();
  expect(field(world.get("configmaps", "doomed/kube-root-ca.crt"), "data", "ca.crt")).toMatch(
    /BEGIN CERTIFICATE/,
  );
  await world.create(map("held", { namespace: "doomed", finalizers: ["example.com/wait"] }));
  await world.delete("namespaces", "doomed");
  const conditions = field(world.get("namespaces", "doomed"), "status", "conditions") as JsonObject[];
  expect(conditions.map(({ type, status, message }) => [type, status, message])).toContainEqual([
    "NamespaceContentRemaining",
    "True",
    "Some resources are remaining: configmaps. has 1 resource instances",
  ]);
  expect(conditions.at(-1)?.message).toBe(
    "Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances",
  );
  await world.change("configmaps", "doomed/held", ({ metadata }) => {
    delete (metadata as JsonObject).finalizers;
  });
  expect(world.get("namespaces", "doomed")).toBeUndefined();
});

test("an event about what was long ago is kept for an hour as well", async () => {
  await using world = await stage();
  const involvedObject = { namespace: "default" };
  const times = { firstTimestamp: "2017-01-01T00:00:00Z", lastTimestamp: "2017-01-01T00:00:00Z" };
  await world.create({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "old" },
    involvedObject,
    ...times,
  });
  await world.pass(3_599_000);
  expect(names(world.list("events"))).toContain("old");
  await world.pass(1_000);
  expect(names(world.list("events"))).not.toContain("old");
});

test("events are forgotten after an hour", async () => {
  await using world = await stage();
  await world.create(workload("ReplicaSet", "web", { replicas: 1 }));
  expect(world.list("events").length).toBeGreaterThan(0);
  await world.pass(3_600_000);
  expect(world.list("events")).toEqual([]);
});
