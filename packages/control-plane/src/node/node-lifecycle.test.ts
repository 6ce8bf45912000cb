import { expect, test } from "vitest";
import { listAt } from "../controllers/objects.ts";
import { type Stage, stage, workload } from "../controllers/stage.ts";
import { type JsonObject, textOf } from "../json.ts";
import { field } from "../storage/store.ts";

const nodes = [{ name: "east" }, { name: "west" }];
const ready = (world: Stage, bucket: string, name: string) =>
  listAt(world.get(bucket, name), "status", "conditions").find(({ type }) => type === "Ready")?.status;
const taints = (world: Stage, name: string) =>
  listAt(world.get("nodes", name), "spec", "taints").map(
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
  await using world = await stage({ nodes });
  await world.create(workload("Deployment", "web", { replicas: 2 }), pod("alone", "east"));
  const back = world.plane.node.lose("east");
  await world.pass(49_000);
  expect(ready(world, "nodes", "east")).toBe("True");
  await world.pass(1_000);
  expect(ready(world, "nodes", "east")).toBe("Unknown");
  expect(taints(world, "east")).toEqual([
    "node.kubernetes.io/unreachable:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
  ]);
  expect(ready(world, "pods", "alone")).toBe("False");
  expect(world.events("Pod")).toContain("NodeNotReady: Node is not ready");
  await world.pass(300_000);
  // Nobody on the node can say that they have ended: they stay, on their way out.
  const east = world.list("pods").filter((one) => field(one, "spec", "nodeName") === "east");
  expect(east.every(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
  expect(world.events("Pod")).toContain("TaintManagerEviction: Marking for deletion Pod default/alone");
  expect(field(world.get("deployments.apps", "web"), "status", "readyReplicas")).toBe(2);
  back();
  await world.pass(0);
  expect(ready(world, "nodes", "east")).toBe("True");
  expect(taints(world, "east")).toEqual([]);
  expect(world.get("pods", "alone")).toBeUndefined();
  expect(world.list("pods")).toHaveLength(2);
});

test("pods leave a node for the taints they do not bear, at once or when their patience ends", async () => {
  await using world = await stage({ nodes });
  const bears = (seconds?: number): JsonObject => ({
    key: "maintenance",
    operator: "Exists",
    effect: "NoExecute",
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  });
  await world.create(
    pod("sensitive", "east"),
    pod("patient", "east", [bears(60)]),
    pod("stoic", "east", [bears()]),
  );
  await world.create(pod("elsewhere", "west"), pod("lucky", "east", [bears(90)]));
  const taint = (list: JsonObject[]) => (node: JsonObject) => {
    node.spec = { ...(node.spec as JsonObject), taints: list };
  };
  await world.change("nodes", "east", taint([{ key: "maintenance", effect: "NoExecute" }]));
  const there = () => world.list("pods").map(({ metadata }) => metadata.name);
  expect(there()).toEqual(["elsewhere", "lucky", "patient", "stoic"]);
  await world.pass(60_000);
  expect(there()).toEqual(["elsewhere", "lucky", "stoic"]);
  await world.change("nodes", "east", taint([]));
  await world.pass(600_000);
  expect(there()).toEqual(["elsewhere", "lucky", "stoic"]);
  expect(world.events("Pod")).toContain("TaintManagerEviction: Cancelling deletion of Pod default/lucky");
});

test("a node's conditions and its cordon show as taints", async () => {
  await using world = await stage({ nodes });
  await world.change("nodes", "east", (node) => {
    node.spec = { ...(node.spec as JsonObject), unschedulable: true };
  });
  expect(taints(world, "east")).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
  await world.change("nodes", "east", (node) => {
    const { unschedulable: _cordon, ...spec } = node.spec as JsonObject;
    node.spec = spec;
  });
  expect(taints(world, "east")).toEqual([]);
});
