import { expect, test } from "vitest";
import { listAt } from "../controllers/objects.ts";
import { type Stage, stage } from "../controllers/stage.ts";
import { type JsonObject, textOf } from "../json.ts";
import { field } from "../storage/store.ts";
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
const nodeOf = (world: Stage, name: string) => textOf(field(world.get("pods", name), "spec", "nodeName"));
const why = (world: Stage, name: string) =>
  listAt(world.get("pods", name), "status", "conditions").find(({ type }) => type === "PodScheduled")
    ?.message;

test("pods spread over zones as evenly as they ask for, and say so when they cannot", async () => {
  await using world = await stage({ nodes: zones });
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
  for (let index = 0; index < 4; index++) await world.create(pod(`web-${index}`, spread));
  const places = [0, 1, 2, 3].map((index) => nodeOf(world, `web-${index}`).charAt(0));
  expect(places.sort()).toEqual(["a", "a", "b", "b"]);
  await world.change("nodes", "b1", (node) => {
    node.spec = { ...(node.spec as JsonObject), unschedulable: true };
  });
  await world.create(pod("web-4", spread), pod("web-5", spread));
  expect(nodeOf(world, "web-4").charAt(0)).toBe("a");
  expect(why(world, "web-5")).toBe(
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints. no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.",
  );
});

test("a pod goes where it would rather be, if it can", async () => {
  await using world = await stage({ nodes: zones });
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
  await world.create(pod("fast", rather), pod("far", apart), pod("third", apart));
  expect([nodeOf(world, "fast"), nodeOf(world, "far")]).toEqual(["a2", "b1"]);
  expect(nodeOf(world, "third")).not.toBe("");
});

test("a pod keeps away from those that cannot stand it", async () => {
  await using world = await stage({ nodes: zones.slice(0, 1) });
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "noisy" } } };
  const aversion = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  await world.create(pod("quiet", { affinity: aversion }), pod("noisy", {}, { app: "noisy" }));
  expect(why(world, "noisy")).toContain("1 node(s) didn't satisfy existing pods anti-affinity rules");
  await world.delete("pods", "quiet");
  expect(nodeOf(world, "noisy")).toBe("a1");
});

test("a port of a node is taken by one pod at a time, on each address and by each protocol", async () => {
  await using world = await stage({ nodes: zones.slice(0, 1) });
  const taking = (port: JsonObject): JsonObject => ({
    containers: [
      { name: "main", image: "example/app:1", ports: [{ containerPort: 80, hostPort: 8080, ...port }] },
    ],
  });
  await world.create(
    pod("first", taking({ hostIP: "127.0.0.1" })),
    pod("other-address", taking({ hostIP: "127.0.0.2" })),
    pod("other-protocol", taking({ protocol: "UDP" })),
    pod("same", taking({ hostIP: "127.0.0.1" })),
    pod("everywhere", taking({})),
  );
  expect(["first", "other-address", "other-protocol"].map((name) => nodeOf(world, name))).toEqual([
    "a1",
    "a1",
    "a1",
  ]);
  for (const name of ["same", "everywhere"]) {
    expect(why(world, name)).toContain("1 node(s) didn't have free ports for the requested pod ports");
  }
  await world.delete("pods", "first");
  expect(nodeOf(world, "same")).toBe("a1");
});

test("the fewest and least important pods make room for a more important one", async () => {
  await using world = await stage({ nodes: [{ name: "small", capacity: { cpu: "2" } }] });
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
  await world.create(...[1, 2, 100].map(priorityClass));
  await world.create(low("least", "1", 1), low("less", "1", 2));
  await world.create(pod("important", { ...asking("1"), priorityClassName: "p100" }));
  expect(world.get("pods", "less")?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.get("pods", "least")?.metadata.deletionTimestamp).toBeDefined();
  expect(listAt(world.get("pods", "least"), "status", "conditions")).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", reason: "PreemptionByScheduler" }),
  );
  expect(field(world.get("pods", "important"), "status", "nominatedNodeName")).toBe("small");
  expect(why(world, "important")).toBe(
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node.",
  );
  const uid = world.get("pods", "important")?.metadata.uid;
  expect(world.events("Pod")).toContain(`Preempted: Preempted by pod ${uid} on node small`);
  await world.pass(30_000);
  expect(nodeOf(world, "important")).toBe("small");
  expect(field(world.get("pods", "important"), "status", "nominatedNodeName")).toBeUndefined();
});

test("nobody makes room for a pod that is no more important, or does not want it", async () => {
  await using world = await stage({ nodes: [{ name: "small", capacity: { cpu: "1" } }] });
  const important = {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "polite" },
    value: 100,
    preemptionPolicy: "Never",
  };
  await world.create(important, pod("first", asking("1")), pod("second", asking("1")));
  await world.create(pod("polite", { ...asking("1"), priorityClassName: "polite" }));
  expect(nodeOf(world, "first")).toBe("small");
  expect([nodeOf(world, "second"), nodeOf(world, "polite")]).toEqual(["", ""]);
});
