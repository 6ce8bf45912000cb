import { expect, test } from "vitest";
import { startCluster, type TestCluster } from "../controllers/cluster.fixture.ts";
import { type JsonObject, textOf } from "../json.ts";
import { objectsAt, valueAt } from "../json-fields.ts";
import type { NodeSpec } from "./index.ts";

const zones: NodeSpec[] = [
  { name: "a1", labels: { zone: "a" } },
  { name: "a2", labels: { zone: "a", disk: "ssd" } },
  { name: "b1", labels: { zone: "b" } },
];

function pod(name: string, spec: JsonObject = {}, labels: JsonObject = { app: "web" }): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: { containers: [{ name: "main", image: "example/app:1" }], ...spec },
  };
}

const asking = (cpu: string): JsonObject => ({
  containers: [{ name: "main", image: "example/app:1", resources: { requests: { cpu } } }],
});
const nodeOf = (cluster: TestCluster, name: string) =>
  textOf(valueAt(cluster.get("pods", name), "spec", "nodeName"));
const why = (cluster: TestCluster, name: string) =>
  objectsAt(cluster.get("pods", name), "status", "conditions").find(({ type }) => type === "PodScheduled")
    ?.message;

test("pods spread over zones as evenly as they ask for, and say so when they cannot", async () => {
  await using cluster = await startCluster({ nodes: zones });
  const spread = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: "web" } },
      },
    ],
  };
  for (let index = 0; index < 4; index++) await cluster.create(pod(`web-${index}`, spread));
  const places = [0, 1, 2, 3].map((index) => nodeOf(cluster, `web-${index}`).charAt(0));
  expect(places.sort()).toEqual(["a", "a", "b", "b"]);
  await cluster.change("nodes", "b1", (node) => {
    node.spec = { ...(node.spec as JsonObject), unschedulable: true };
  });
  await cluster.create(pod("web-4", spread), pod("web-5", spread));
  expect(nodeOf(cluster, "web-4").charAt(0)).toBe("a");
  expect(why(cluster, "web-5")).toBe(
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.",
  );
});

test("a pod goes where it would rather be, if it can", async () => {
  await using cluster = await startCluster({ nodes: zones });
  const rather = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 10,
            preference: { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] },
          },
        ],
      },
    },
  };
  const apart = {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 50,
            podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { app: "web" } } },
          },
        ],
      },
    },
  };
  await cluster.create(pod("fast", rather), pod("far", apart), pod("third", apart));
  expect([nodeOf(cluster, "fast"), nodeOf(cluster, "far")]).toEqual(["a2", "b1"]);
  expect(nodeOf(cluster, "third")).not.toBe("");
});

test("a pod keeps away from those that cannot stand it", async () => {
  await using cluster = await startCluster({ nodes: zones.slice(0, 1) });
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "noisy" } } };
  const aversion = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  await cluster.create(pod("quiet", { affinity: aversion }), pod("noisy", {}, { app: "noisy" }));
  expect(why(cluster, "noisy")).toContain("1 node(s) didn't satisfy existing pods anti-affinity rules");
  await cluster.delete("pods", "quiet");
  expect(nodeOf(cluster, "noisy")).toBe("a1");
});

test("a port of a node is taken by one pod at a time, on each address and by each protocol", async () => {
  await using cluster = await startCluster({ nodes: zones.slice(0, 1) });
  const taking = (port: JsonObject): JsonObject => ({
    containers: [
      { name: "main", image: "example/app:1", ports: [{ containerPort: 80, hostPort: 8080, ...port }] },
    ],
  });
  await cluster.create(
    pod("first", taking({ hostIP: "127.0.0.1" })),
    pod("other-address", taking({ hostIP: "127.0.0.2" })),
    pod("other-protocol", taking({ protocol: "UDP" })),
    pod("same", taking({ hostIP: "127.0.0.1" })),
    pod("everywhere", taking({})),
  );
  expect(["first", "other-address", "other-protocol"].map((name) => nodeOf(cluster, name))).toEqual([
    "a1",
    "a1",
    "a1",
  ]);
  for (const name of ["same", "everywhere"]) {
    expect(why(cluster, name)).toContain("1 node(s) didn't have free ports for the requested pod ports");
  }
  await cluster.delete("pods", "first");
  expect(nodeOf(cluster, "same")).toBe("a1");
});

test("the fewest and least important pods make room for a more important one", async () => {
  await using cluster = await startCluster({ nodes: [{ name: "small", capacity: { cpu: "2" } }] });
  const linger = { annotations: { "node.windlass.dev/linger": "grace" } };
  const low = (name: string, cpu: string, priority: number) => {
    const made = pod(name, { ...asking(cpu), priorityClassName: `p${priority}` });
    return { ...made, metadata: { ...(made.metadata as JsonObject), ...linger } };
  };
  const priorityClass = (value: number) => ({
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: `p${value}` },
    value,
  });
  await cluster.create(...[1, 2, 100].map(priorityClass));
  await cluster.create(low("least", "1", 1), low("less", "1", 2));
  await cluster.create(pod("important", { ...asking("1"), priorityClassName: "p100" }));
  expect(cluster.get("pods", "less")?.metadata.deletionTimestamp).toBeUndefined();
  expect(cluster.get("pods", "least")?.metadata.deletionTimestamp).toBeDefined();
  expect(objectsAt(cluster.get("pods", "least"), "status", "conditions")).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", reason: "PreemptionByScheduler" }),
  );
  expect(valueAt(cluster.get("pods", "important"), "status", "nominatedNodeName")).toBe("small");
  expect(why(cluster, "important")).toBe(
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.",
  );
  const uid = cluster.get("pods", "important")?.metadata.uid;
  expect(cluster.events("Pod")).toContain(`Preempted: Preempted by pod ${uid} on node small`);
  await cluster.pass(30_000);
  expect(nodeOf(cluster, "important")).toBe("small");
  expect(valueAt(cluster.get("pods", "important"), "status", "nominatedNodeName")).toBeUndefined();
});

test("no pod is preempted for one of equal priority, or whose policy is Never", async () => {
  await using cluster = await startCluster({ nodes: [{ name: "small", capacity: { cpu: "1" } }] });
  const important = {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "polite" },
    value: 100,
    preemptionPolicy: "Never",
  };
  await cluster.create(important, pod("first", asking("1")), pod("second", asking("1")));
  await cluster.create(pod("polite", { ...asking("1"), priorityClassName: "polite" }));
  expect(nodeOf(cluster, "first")).toBe("small");
  expect([nodeOf(cluster, "second"), nodeOf(cluster, "polite")]).toEqual(["", ""]);
});
