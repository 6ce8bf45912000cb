import { expect, test } from "vitest";
import { type JsonObject, textOf } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";
import { forbidden } from "../status.ts";
import type { StoredObject } from "../storage/store.ts";
import { names, podTemplate, startCluster, workload } from "./cluster.fixture.ts";

const replicas = (count: number) => (object: JsonObject) => {
  (object.spec as JsonObject).replicas = count;
};

test("a ReplicaSet takes pods that it selects and that have no controller, and releases those it no longer selects", async () => {
  await using cluster = await startCluster();
  const { metadata, spec } = podTemplate({ app: "web" });
  await cluster.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...(metadata as JsonObject), name: "stray" },
    spec: spec as JsonObject,
  });
  await cluster.create(workload("ReplicaSet", "web", { replicas: 2 }));
  expect(cluster.list("pods")).toHaveLength(2);
  expect(valueAt(cluster.get("pods", "stray"), "metadata", "ownerReferences")).toMatchObject([
    { kind: "ReplicaSet", name: "web", controller: true, blockOwnerDeletion: true },
  ]);
  await cluster.change("pods", "stray", (pod) => {
    (pod.metadata as JsonObject).labels = { app: "other" };
  });
  expect(cluster.list("pods")).toHaveLength(3);
  expect(valueAt(cluster.get("pods", "stray"), "metadata", "ownerReferences")).toBeUndefined();
});

test("a ReplicaSet that may not make pods says why, and stops saying so once it may", async () => {
  await using cluster = await startCluster();
  let closed = true;
  cluster.plane.registry.admission.push({
    name: "quota",
    validate: ({ operation, resource, name }) => {
      if (closed && operation === "CREATE" && resource.info.kind === "Pod")
        throw forbidden({ group: "", resource: "pods" }, name, "exceeded quota");
    },
  });
  await cluster.create(workload("ReplicaSet", "web", { replicas: 1 }));
  expect(cluster.get("replicasets.apps", "web")?.status).toMatchObject({
    replicas: 0,
    conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate" }],
  });
  expect(cluster.events("ReplicaSet")[0]).toMatch(
    /^FailedCreate: Error creating: pods .* is forbidden: exceeded quota$/,
  );
  closed = false;
  await cluster.pass(1_000);
  expect(cluster.get("replicasets.apps", "web")?.status).toMatchObject({ replicas: 1, readyReplicas: 1 });
  expect(valueAt(cluster.get("replicasets.apps", "web"), "status", "conditions")).toBeUndefined();
});

test("fewer replicas cost those pods first that serve the least", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("ReplicaSet", "web", { replicas: 3 }));
  const [keep, , sick] = names(cluster.list("pods"));
  cluster.plane.node.on(sick as string, "never-ready");
  await cluster.pass(0);
  await cluster.change("pods", keep as string, (pod) => {
    (pod.metadata as JsonObject).annotations = { "controller.kubernetes.io/pod-deletion-cost": "10" };
  });
  await cluster.change("replicasets.apps", "web", replicas(2));
  expect(names(cluster.list("pods"))).not.toContain(sick);
  await cluster.change("replicasets.apps", "web", replicas(1));
  expect(names(cluster.list("pods"))).toEqual([keep]);
});

test("a ReplicationController keeps pods like a ReplicaSet", async () => {
  await using cluster = await startCluster();
  await cluster.create({
    apiVersion: "v1",
    kind: "ReplicationController",
    metadata: { name: "rc" },
    spec: { replicas: 2, selector: { app: "rc" }, template: podTemplate({ app: "rc" }) },
  });
  expect(cluster.get("replicationcontrollers", "rc")?.status).toMatchObject({
    replicas: 2,
    availableReplicas: 2,
  });
});

const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

test("a StatefulSet's pods come one after another, each with its name, labels and claim", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("db-0", { kind: "run", readyAfter: 10_000 });
  await cluster.create(
    workload("StatefulSet", "db", { replicas: 2, serviceName: "db", volumeClaimTemplates: [claim] }),
  );
  expect(names(cluster.list("pods"))).toEqual(["db-0"]);
  await cluster.pass(10_000);
  expect(names(cluster.list("pods"))).toEqual(["db-0", "db-1"]);
  expect(cluster.get("pods", "db-1")).toMatchObject({
    metadata: {
      labels: {
        app: "db",
        "apps.kubernetes.io/pod-index": "1",
        "statefulset.kubernetes.io/pod-name": "db-1",
      },
    },
    spec: { hostname: "db-1", subdomain: "db" },
  });
  expect(objectsAt(cluster.get("pods", "db-1"), "spec", "volumes")).toContainEqual({
    name: "data",
    persistentVolumeClaim: { claimName: "data-db-1" },
  });
  expect(cluster.get("persistentvolumeclaims", "data-db-0")).toMatchObject({
    metadata: { labels: { app: "db" } },
    status: { phase: "Bound", capacity: { storage: "1Gi" } },
  });
  expect(cluster.events("StatefulSet")).toEqual([
    "SuccessfulCreate: Create Claim data-db-0 Pod db-0 in StatefulSet db success",
    "SuccessfulCreate: Create Pod db-0 in StatefulSet db successful",
    "SuccessfulCreate: Create Claim data-db-1 Pod db-1 in StatefulSet db success",
    "SuccessfulCreate: Create Pod db-1 in StatefulSet db successful",
  ]);
});

test("a StatefulSet shrinks from its last pod, and claims stay unless its policy says otherwise", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    workload("StatefulSet", "kept", { replicas: 2, serviceName: "kept", volumeClaimTemplates: [claim] }),
    workload("StatefulSet", "lost", {
      replicas: 2,
      serviceName: "lost",
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Delete" },
    }),
  );
  await cluster.change("statefulsets.apps", "kept", replicas(1));
  await cluster.change("statefulsets.apps", "lost", replicas(1));
  expect(names(cluster.list("pods"))).toEqual(["kept-0", "lost-0"]);
  expect(names(cluster.list("persistentvolumeclaims"))).toEqual([
    "data-kept-0",
    "data-kept-1",
    "data-lost-0",
  ]);
  await cluster.delete("statefulsets.apps", "kept");
  await cluster.delete("statefulsets.apps", "lost");
  expect(names(cluster.list("persistentvolumeclaims"))).toEqual(["data-kept-0", "data-kept-1"]);
  expect(cluster.list("pods")).toEqual([]);
});

test("a StatefulSet takes control of a claim again that it only owns", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    workload("StatefulSet", "db", {
      replicas: 1,
      serviceName: "db",
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenScaled: "Retain", whenDeleted: "Delete" },
    }),
  );
  const owners = () => cluster.get("persistentvolumeclaims", "data-db-0")?.metadata.ownerReferences;
  const owned = owners();
  expect(owned).toMatchObject([{ kind: "StatefulSet", name: "db", controller: true }]);
  await cluster.change("persistentvolumeclaims", "data-db-0", ({ metadata }) => {
    const [owner] = (metadata as JsonObject).ownerReferences as JsonObject[];
    if (owner) owner.controller = false;
  });
  await cluster.change("statefulsets.apps", "db", (object) => {
    (object.spec as JsonObject).revisionHistoryLimit = 3;
  });
  expect(owners()).toEqual(owned);
});

test("a StatefulSet leaves a claim alone that another owner controls, and still shrinks", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } },
    workload("StatefulSet", "db", {
      replicas: 2,
      serviceName: "db",
      volumeClaimTemplates: [claim],
      persistentVolumeClaimRetentionPolicy: { whenScaled: "Delete", whenDeleted: "Retain" },
    }),
  );
  const uid = cluster.get("configmaps", "other")?.metadata.uid ?? "";
  await cluster.change("persistentvolumeclaims", "data-db-1", (object) => {
    (object.metadata as JsonObject).ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "other", uid, controller: true },
    ];
  });
  await cluster.change("statefulsets.apps", "db", replicas(0));
  expect(cluster.list("pods")).toEqual([]);
  expect(names(cluster.list("persistentvolumeclaims"))).toEqual(["data-db-1"]);
});

test("a StatefulSet's new template goes to pods from the partition on, last first", async () => {
  await using cluster = await startCluster();
  await cluster.create(
    workload("StatefulSet", "db", {
      replicas: 3,
      serviceName: "db",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 1 } },
    }),
  );
  const before = textOfRevision(cluster.get("statefulsets.apps", "db"));
  await cluster.change("statefulsets.apps", "db", (object) => {
    const [container] = valueAt(object, "spec", "template", "spec", "containers") as JsonObject[];
    (container as JsonObject).image = "example/app:2";
  });
  const images = cluster
    .list("pods")
    .map((pod) => valueAt((valueAt(pod, "spec", "containers") as JsonObject[])[0], "image"));
  expect(images).toEqual(["example/app:1", "example/app:2", "example/app:2"]);
  expect(cluster.get("statefulsets.apps", "db")?.status).toMatchObject({
    currentRevision: before,
    updatedReplicas: 2,
    currentReplicas: 1,
  });
  await cluster.delete("pods", "db-0");
  expect(
    valueAt((valueAt(cluster.get("pods", "db-0"), "spec", "containers") as JsonObject[])[0], "image"),
  ).toBe("example/app:1");
  await cluster.change("statefulsets.apps", "db", (object) => {
    (object.spec as JsonObject).updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 0 } };
  });
  expect(cluster.get("statefulsets.apps", "db")?.status).toMatchObject({
    updatedReplicas: 3,
    currentReplicas: 3,
    readyReplicas: 3,
  });
  expect(cluster.list("controllerrevisions.apps")).toHaveLength(2);
});

function textOfRevision(set: JsonObject | undefined): unknown {
  return valueAt(set, "status", "currentRevision");
}

test("ordinals start where the StatefulSet says, and with Parallel no pod waits for another", async () => {
  await using cluster = await startCluster();
  cluster.plane.node.on("db-*", "never-ready");
  await cluster.create(
    workload("StatefulSet", "db", {
      replicas: 3,
      serviceName: "db",
      podManagementPolicy: "Parallel",
      ordinals: { start: 5 },
    }),
  );
  expect(names(cluster.list("pods"))).toEqual(["db-5", "db-6", "db-7"]);
});

test("a DaemonSet has one pod on each node that will have it, and follows nodes that come, go and change", async () => {
  await using cluster = await startCluster({
    nodes: [
      { name: "a" },
      { name: "b", labels: { disk: "ssd" } },
      { name: "c", labels: { disk: "ssd" }, taints: [{ key: "reserved", effect: "NoSchedule" }] },
    ],
  });
  await cluster.create(workload("DaemonSet", "agent", {}, { spec: { nodeSelector: { disk: "ssd" } } }));
  const nodes = () =>
    cluster
      .list("pods")
      .map((pod) => textOf(valueAt(pod, "spec", "nodeName")))
      .toSorted();
  expect(nodes()).toEqual(["b"]);
  await cluster.change("nodes", "a", (node) => {
    (node.metadata as JsonObject).labels = { disk: "ssd" };
  });
  expect(nodes()).toEqual(["a", "b"]);
  expect(cluster.get("daemonsets.apps", "agent")?.status).toMatchObject({
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    numberReady: 2,
    numberAvailable: 2,
    updatedNumberScheduled: 2,
    numberMisscheduled: 0,
  });
  await cluster.change("daemonsets.apps", "agent", (object) => {
    const [container] = valueAt(object, "spec", "template", "spec", "containers") as JsonObject[];
    (container as JsonObject).image = "example/app:2";
    (object.spec as JsonObject).updateStrategy = {
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    };
  });
  expect(cluster.get("daemonsets.apps", "agent")?.status).toMatchObject({
    updatedNumberScheduled: 2,
    numberReady: 2,
  });
});

test("a revision is written as the real controllers write it, with sorted keys", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("DaemonSet", "logs"));
  const [revision] = cluster.list("controllerrevisions.apps");
  const data = revision?.data as JsonObject;
  expect(Object.keys(valueAt(data, "spec", "template") as JsonObject)).toEqual([
    "$patch",
    "metadata",
    "spec",
  ]);
  const spec = Object.keys(valueAt(data, "spec", "template", "spec") as JsonObject);
  expect(spec).toEqual(spec.toSorted());
});

test("a set whose pods need not wait for each other is still updated one pod at a time", async () => {
  await using cluster = await startCluster();
  await cluster.create(workload("StatefulSet", "db", { replicas: 3, podManagementPolicy: "Parallel" }));
  cluster.plane.node.on("db-*", "never-ready");
  await cluster.change("statefulsets.apps", "db", (object) => {
    (valueAt(object, "spec", "template", "metadata") as JsonObject).annotations = { v: "2" };
  });
  expect(valueAt(cluster.get("statefulsets.apps", "db"), "status", "updatedReplicas")).toBe(1);
  expect(valueAt(cluster.get("pods", "db-2"), "metadata", "annotations", "v")).toBe("2");
});

test("a DaemonSet that may surge runs the new pod beside the old until it has served long enough", async () => {
  await using cluster = await startCluster();
  const updateStrategy = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  await cluster.create(workload("DaemonSet", "agent", { updateStrategy, minReadySeconds: 30 }));
  await cluster.pass(30_000);
  const roll = (v: string) =>
    cluster.change("daemonsets.apps", "agent", (object) => {
      (valueAt(object, "spec", "template", "metadata") as JsonObject).annotations = { v };
    });
  const versionOf = (pod: StoredObject) => valueAt(pod, "metadata", "annotations", "v");
  const versions = () => new Set(cluster.list("pods").map(versionOf));
  await roll("2");
  expect(versions()).toEqual(new Set([undefined, "2"]));
  await cluster.pass(30_000);
  expect(versions()).toEqual(new Set(["2"]));
  cluster.plane.node.on(({ metadata }) => Number(metadata.annotations?.v) > 2, "never-ready");
  await roll("3");
  await cluster.pass(300_000);
  expect(versions()).toEqual(new Set(["2", "3"]));
  await roll("4");
  expect(versions()).toEqual(new Set(["2", "4"]));
  expect(valueAt(cluster.get("daemonsets.apps", "agent"), "status")).toMatchObject({
    desiredNumberScheduled: 1,
  });
});
