import { expect, test } from "vitest";
import { startCluster, type TestCluster, workload } from "../controllers/cluster.fixture.ts";
import { type JsonObject, textOf } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";

const nodes = [{ name: "east" }, { name: "west" }];
const ready = (cluster: TestCluster, bucket: string, name: string) =>
  objectsAt(cluster.get(bucket, name), "status", "conditions").find(({ type }) => type === "Ready")?.status;
const taints = (cluster: TestCluster, name: string) =>
  objectsAt(cluster.get("nodes", name), "spec", "taints").map(
    ({ key, effect }) => `${textOf(key)}:${textOf(effect)}`,
  );

function pod(name: string, node: string, tolerations: JsonObject[] = []): JsonObject {
  const containers = [{ name: "main", image: "example/app:1" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { nodeSelector: { "kubernetes.io/hostname": node }, containers, tolerations },
  };
}

test("a node that is cut off is lost after a while, its pods go elsewhere, and it can come back", async () => {
  await using cluster = await startCluster({ nodes });
  await cluster.create(workload("Deployment", "web", { replicas: 2 }), pod("alone", "east"));
  const back = cluster.plane.node.lose("east");
  await cluster.pass(49_000);
  expect(ready(cluster, "nodes", "east")).toBe("True");
  await cluster.pass(1_000);
  expect(ready(cluster, "nodes", "east")).toBe("Unknown");
  expect(taints(cluster, "east")).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  expect(ready(cluster, "pods", "alone")).toBe("False");
  expect(cluster.events("Pod")).toContain("NodeNotReady: Node is not ready");
  await cluster.pass(300_000);
  // The node does not report that they have ended: they stay, being deleted.
  const east = cluster.list("pods").filter((one) => valueAt(one, "spec", "nodeName") === "east");
  expect(east.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
  expect(cluster.events("Pod")).toContain("TaintManagerEviction: Marking for deletion Pod default/alone");
  expect(valueAt(cluster.get("deployments.apps", "web"), "status", "readyReplicas")).toBe(2);
  back();
  await cluster.pass(0);
  expect(ready(cluster, "nodes", "east")).toBe("True");
  expect(taints(cluster, "east")).toEqual([]);
  expect(cluster.get("pods", "alone")).toBeUndefined();
  expect(cluster.list("pods")).toHaveLength(2);
});

test("pods leave a node for the taints they do not bear, at once or when their patience ends", async () => {
  await using cluster = await startCluster({ nodes });
  const bears = (seconds?: number): JsonObject => ({
    key: "maintenance",
    operator: "Exists",
    effect: "NoExecute",
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  });
  await cluster.create(
    pod("sensitive", "east"),
    pod("patient", "east", [bears(60)]),
    pod("stoic", "east", [bears()]),
  );
  await cluster.create(pod("elsewhere", "west"), pod("lucky", "east", [bears(90)]));
  const taint = (list: JsonObject[]) => (node: JsonObject) => {
    node.spec = { ...(node.spec as JsonObject), taints: list };
  };
  await cluster.change("nodes", "east", taint([{ key: "maintenance", effect: "NoExecute" }]));
  const there = () => cluster.list("pods").map(({ metadata }) => metadata.name);
  expect(there()).toEqual(["elsewhere", "lucky", "patient", "stoic"]);
  await cluster.pass(60_000);
  expect(there()).toEqual(["elsewhere", "lucky", "stoic"]);
  await cluster.change("nodes", "east", taint([]));
  await cluster.pass(600_000);
  expect(there()).toEqual(["elsewhere", "lucky", "stoic"]);
  expect(cluster.events("Pod")).toContain("TaintManagerEviction: Cancelling deletion of Pod default/lucky");
});

test("a node's conditions and its cordon show as taints", async () => {
  await using cluster = await startCluster({ nodes });
  await cluster.change("nodes", "east", (node) => {
    node.spec = { ...(node.spec as JsonObject), unschedulable: true };
  });
  expect(taints(cluster, "east")).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
  await cluster.change("nodes", "east", (node) => {
    const { unschedulable: _cordon, ...spec } = node.spec as JsonObject;
    node.spec = spec;
  });
  expect(taints(cluster, "east")).toEqual([]);
});

test("devices that a node is said to have can be used by pods, with the overhead of their class", async () => {
  await using cluster = await startCluster();
  const [node] = cluster.list("nodes");
  const name = node?.metadata.name ?? "";
  const device = "example.com/beardsecond";
  const running = (pod: string) => valueAt(cluster.get("pods", pod), "status", "phase");
  const using = (pod: string, amount: string, spec: JsonObject = {}): JsonObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: pod },
    spec: {
      containers: [{ name: "c", image: "i", resources: { limits: { [device]: amount } } }],
      ...spec,
    },
  });
  await cluster.changeStatus("nodes", name, (object) => {
    (valueAt(object, "status", "capacity") as JsonObject)[device] = "1000";
  });
  await cluster.create(
    {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "heavy" },
      handler: "heavy",
      overhead: { podFixed: { [device]: "250" } },
    },
    using("filler", "700"),
    using("too-much", "200", { runtimeClassName: "heavy", overhead: { [device]: "250" } }),
    using("fits", "200"),
  );
  expect([running("filler"), running("too-much"), running("fits")]).toEqual([
    "Running",
    "Pending",
    "Running",
  ]);
  await cluster.changeStatus("nodes", name, (object) => {
    delete (valueAt(object, "status", "capacity") as JsonObject)[device];
  });
  expect(valueAt(cluster.get("nodes", name), "status", "allocatable", device)).toBeUndefined();
});
