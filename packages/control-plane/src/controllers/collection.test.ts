import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import type { StoredObject } from "../storage/store.ts";
import { names, startCluster, type TestCluster, workload } from "./cluster.fixture.ts";

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
const maps = (cluster: TestCluster) =>
  names(cluster.list("configmaps")).filter((name) => name !== "kube-root-ca.crt");

test("what loses its last owner goes; what has another stays, without the reference", async () => {
  await using cluster = await startCluster();
  await cluster.create(map("a"), map("b"));
  const [a, b] = [cluster.get("configmaps", "a"), cluster.get("configmaps", "b")];
  await cluster.create(
    map("of-a", ownedBy({ owner: a })),
    map("of-both", ownedBy({ owner: a }, { owner: b })),
  );
  await cluster.delete("configmaps", "a");
  expect(maps(cluster)).toEqual(["b", "of-both"]);
  expect(valueAt(cluster.get("configmaps", "of-both"), "metadata", "ownerReferences")).toMatchObject([
    { name: "b" },
  ]);
  await cluster.delete("configmaps", "b");
  expect(maps(cluster)).toEqual([]);
});

test("an owner deleted in the foreground waits for the dependents that block it, and only for those", async () => {
  await using cluster = await startCluster();
  await cluster.create(map("owner"));
  const owner = cluster.get("configmaps", "owner");
  await cluster.create(
    map("blocking", { ...ownedBy({ owner, block: true }), finalizers: ["example.com/wait"] }),
    map("loose", { ...ownedBy({ owner }), finalizers: ["example.com/wait"] }),
    map("other", ownedBy({ owner })),
  );
  await cluster.delete("configmaps", "owner", { propagationPolicy: "Foreground" });
  expect(maps(cluster)).toEqual(["blocking", "loose", "owner"]);
  expect(cluster.get("configmaps", "blocking")?.metadata.deletionTimestamp).toBeDefined();
  await cluster.change("configmaps", "blocking", ({ metadata }) => {
    delete (metadata as JsonObject).finalizers;
  });
  expect(maps(cluster)).toEqual(["loose"]);
  expect(cluster.get("configmaps", "loose")?.metadata.deletionTimestamp).toBeDefined();
});

test("a circle of owners that block each other is still deleted", async () => {
  await using cluster = await startCluster();
  await cluster.create(map("a"), map("b"), map("c"));
  for (const [name, owner] of [
    ["b", "a"],
    ["c", "b"],
    ["a", "c"],
  ] as const) {
    const references = ownedBy({ owner: cluster.get("configmaps", owner), block: true });
    await cluster.change("configmaps", name, ({ metadata }) => {
      Object.assign(metadata as JsonObject, references);
    });
  }
  await cluster.delete("configmaps", "a", { propagationPolicy: "Foreground" });
  expect(maps(cluster)).toEqual([]);
});

test("what an object of an unknown kind owns stays: whether its owner exists is unknown", async () => {
  await using cluster = await startCluster();
  const owner = { kind: "Nothing", name: "x", uid: "11111111-1111-4111-8111-111111111111" };
  await cluster.create(
    map("strange", { ownerReferences: [{ apiVersion: "nowhere.example.com/v1", ...owner }] }),
    map("known", { ownerReferences: [{ apiVersion: "v1", ...owner, kind: "ConfigMap" }] }),
  );
  await cluster.pass(120_000);
  expect(maps(cluster)).toEqual(["strange"]);
});

test("a dependent with another owner survives the foreground deletion of one", async () => {
  await using cluster = await startCluster();
  await cluster.create(map("a"), map("b"));
  const [a, b] = [cluster.get("configmaps", "a"), cluster.get("configmaps", "b")];
  await cluster.create(map("both", ownedBy({ owner: a, block: true }, { owner: b })));
  await cluster.delete("configmaps", "a", { propagationPolicy: "Foreground" });
  expect(maps(cluster)).toEqual(["b", "both"]);
});

test("orphans are let go", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 1 }));
  await cluster.delete("deployments.apps", "web", { propagationPolicy: "Orphan" });
  expect(cluster.list("deployments.apps")).toEqual([]);
  const [set] = cluster.list("replicasets.apps");
  expect(set?.metadata.ownerReferences).toBeUndefined();
  expect(cluster.list("pods")).toHaveLength(1);
});

test("an owner in another namespace is none: the dependent goes, and an event says why", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "far" } },
    map("owner", { namespace: "far" }),
  );
  await cluster.create(map("near", ownedBy({ owner: cluster.get("configmaps", "far/owner") })));
  expect(maps(cluster)).toEqual(["owner"]);
  expect(cluster.events("ConfigMap")[0]).toMatch(
    /^OwnerRefInvalidNamespace: ownerRef \[v1\/ConfigMap, namespace: default, name: owner, uid: .*\] does not exist in namespace "default"$/,
  );
});

test("deleting a Deployment takes its ReplicaSets and pods along", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("Deployment", "web", { replicas: 3 }));
  await cluster.delete("deployments.apps", "web", { propagationPolicy: "Foreground" });
  for (const bucket of ["deployments.apps", "replicasets.apps", "pods"])
    expect(cluster.list(bucket)).toEqual([]);
});

test("a namespace goes once it is empty, and says until then what holds it", async () => {
  await using cluster = await startCluster();
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "doomed" } });
  expect(cluster.get("serviceaccounts", "doomed/default")).toBeDefined();
  expect(valueAt(cluster.get("configmaps", "doomed/kube-root-ca.crt"), "data", "ca.crt")).toMatch(
    /BEGIN CERTIFICATE/,
  );
  await cluster.create(map("held", { namespace: "doomed", finalizers: ["example.com/wait"] }));
  await cluster.delete("namespaces", "doomed");
  const conditions = valueAt(cluster.get("namespaces", "doomed"), "status", "conditions") as JsonObject[];
  expect(conditions.map(({ type, status, message }) => [type, status, message])).toContainEqual([
    "NamespaceContentRemaining",
    "True",
    "Some resources are remaining: configmaps. has 1 resource instances",
  ]);
  expect(conditions.at(-1)?.message).toBe(
    "Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances",
  );
  await cluster.change("configmaps", "doomed/held", ({ metadata }) => {
    delete (metadata as JsonObject).finalizers;
  });
  expect(cluster.get("namespaces", "doomed")).toBeUndefined();
});

test("an event about what was long ago is kept for an hour as well", async () => {
  await using cluster = await startCluster();
  const involvedObject = { namespace: "default" };
  const times = { firstTimestamp: "2017-01-01T00:00:00Z", lastTimestamp: "2017-01-01T00:00:00Z" };
  await cluster.create({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "old" },
    involvedObject,
    ...times,
  });
  await cluster.pass(3_599_000);
  expect(names(cluster.list("events"))).toContain("old");
  await cluster.pass(1_000);
  expect(names(cluster.list("events"))).not.toContain("old");
});

test("events are forgotten after an hour", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("ReplicaSet", "web", { replicas: 1 }));
  expect(cluster.list("events").length).toBeGreaterThan(0);
  await cluster.pass(3_600_000);
  expect(cluster.list("events")).toEqual([]);
});
