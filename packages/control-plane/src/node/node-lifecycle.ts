import type { Node, Pod } from "@windlass/kinds/builtin";
import { replaceCondition } from "../controllers/conditions.ts";
import { eventRecorder } from "../controllers/events.ts";
import {
  type Again,
  type ControllerDependencies,
  type Loop,
  type Running,
  startLoop,
  together,
} from "../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  edit,
  isDeleting,
  listAt,
  namespaceOf,
  unlessGone,
  writeStatus,
} from "../controllers/objects.ts";
import { isFinished, isReady } from "../controllers/pods.ts";
import { type JsonObject, textOf } from "../json.ts";
import { timestamp } from "../registry/metadata.ts";
import { statusOf } from "../storage/object-fields.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { typed } from "../storage/typed.ts";
import type { Connections } from "./connections.ts";
import { tolerates } from "./fitting.ts";
import { healthyConditions } from "./node-object.ts";

/** A node whose heartbeat is this old counts as lost. */
const graceMs = 50_000;
/** Taints that follow from a node's conditions, and when. */
const conditionTaints = [
  {
    type: "Ready",
    status: "False",
    key: "node.kubernetes.io/not-ready",
    effects: ["NoSchedule", "NoExecute"],
  },
  {
    type: "Ready",
    status: "Unknown",
    key: "node.kubernetes.io/unreachable",
    effects: ["NoSchedule", "NoExecute"],
  },
  {
    type: "MemoryPressure",
    status: "True",
    key: "node.kubernetes.io/memory-pressure",
    effects: ["NoSchedule"],
  },
  { type: "DiskPressure", status: "True", key: "node.kubernetes.io/disk-pressure", effects: ["NoSchedule"] },
  { type: "PIDPressure", status: "True", key: "node.kubernetes.io/pid-pressure", effects: ["NoSchedule"] },
  {
    type: "NetworkUnavailable",
    status: "True",
    key: "node.kubernetes.io/network-unavailable",
    effects: ["NoSchedule"],
  },
] as const;
const cordoned = "node.kubernetes.io/unschedulable";

/** Taints unhealthy nodes, and evicts pods that do not tolerate it. */
export function startNodeLifecycle(deps: ControllerDependencies, connections: Connections): Running {
  return together([startNodeMonitor(deps, connections), startTaintEviction(deps)]);
}

/**
 * Keeps the conditions of simulated nodes, and the taints that follow from the conditions of all.
 */
function startNodeMonitor(deps: ControllerDependencies, connections: Connections): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const nodes = builtin(registry, "", "v1", "nodes");
  const pods = builtin(registry, "", "v1", "pods");
  const context = controllerContext("node-controller");
  const kubelet = controllerContext("", "kubelet");
  const record = eventRecorder(registry, { component: "node-controller", context });

  const loop: Loop = startLoop(deps, {
    name: "node-lifecycle-controller",
    watches: { nodes: ({ key, type }) => (type === "DELETED" ? [] : [key]) },
    reconcile: async (name) => {
      const node = store.get("nodes", name)?.object;
      if (!node) return undefined;
      const again = await watchOver(node);
      const now = store.get("nodes", name)?.object;
      if (now) await taint(now);
      return again;
    },
  });
  const unsubscribe = connections.changes.subscribe((name) => loop.add(name));
  return {
    stop: () => {
      unsubscribe();
      loop.stop();
    },
    get idle() {
      return loop.idle;
    },
  };

  /**
   * Detects that a node was lost or came back. Nodes that others created report their own status.
   */
  async function watchOver(node: StoredObject): Promise<Again | undefined> {
    if (field(node, "metadata", "labels", "node.windlass.dev/simulated") !== "true") return undefined;
    const { name } = node.metadata;
    const ready = listAt(node, "status", "conditions").find(({ type }) => type === "Ready");
    const since = connections.lostSince(name);
    if (since === undefined) {
      await offerDevices(node);
      if (ready?.status !== "Unknown") return undefined;
      await setConditions(node, healthyConditions(timestamp(clock)));
      await record(node, {
        type: "Normal",
        reason: "NodeReady",
        message: `Node ${name} status is now: NodeReady`,
      });
      return undefined;
    }
    const left = since + graceMs - clock.now();
    if (left > 0) return { requeueAfterMs: left };
    if (ready?.status === "Unknown") return undefined;
    await setConditions(
      node,
      listAt(node, "status", "conditions").map((condition) => ({
        ...condition,
        status: "Unknown",
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
        lastTransitionTime: timestamp(clock),
      })),
    );
    await record(node, {
      type: "Normal",
      reason: "NodeNotReady",
      message: `Node ${name} status is now: NodeNotReady`,
    });
    await disregardPods(name);
    return undefined;
  }

  /**
   * Whatever devices somebody says that a node has, pods may use: its kubelet offers what is in the
   * capacity, and nothing else.
   */
  async function offerDevices(node: StoredObject): Promise<void> {
    const { capacity, allocatable } = typed<Node>(node).status ?? {};
    const [has, offers] = [capacity ?? {}, allocatable ?? {}];
    const isDevice = (name: string) => name.includes("/");
    const isOutdated = (name: string) =>
      isDevice(name) && Object.hasOwn(has, name) !== Object.hasOwn(offers, name);
    if (![...Object.keys(has), ...Object.keys(offers)].some(isOutdated)) return;
    const kept = Object.entries(offers).filter(([name]) => !isDevice(name) || Object.hasOwn(has, name));
    const added = Object.entries(has).filter(([name]) => isOutdated(name));
    const status = { ...statusOf(node), allocatable: Object.fromEntries([...kept, ...added]) };
    await unlessGone(writeStatus(registry, nodes, node, status, kubelet));
  }

  async function setConditions(node: StoredObject, conditions: JsonObject[]): Promise<void> {
    await unlessGone(writeStatus(registry, nodes, node, { ...statusOf(node), conditions }, context));
  }

  /** Pods of a lost node get no traffic. */
  async function disregardPods(node: string): Promise<void> {
    for (const { object: pod } of store.list(pods.bucket).entries) {
      if (field(pod, "spec", "nodeName") !== node || !isReady(typed<Pod>(pod))) continue;
      const known = listAt(pod, "status", "conditions").find(({ type }) => type === "Ready") ?? {};
      const conditions = replaceCondition(listAt(pod, "status", "conditions"), {
        ...known,
        status: "False",
        lastTransitionTime: timestamp(clock),
      });
      await unlessGone(writeStatus(registry, pods, pod, { ...statusOf(pod), conditions }, context));
      await record(pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
    }
  }

  async function taint(node: StoredObject): Promise<void> {
    const conditions = listAt(node, "status", "conditions");
    // A node without a Ready condition is left alone.
    if (!conditions.some(({ type }) => type === "Ready")) return;
    const wanted: JsonObject[] = conditionTaints.flatMap(({ type, status, key, effects }) =>
      conditions.some((one) => one.type === type && one.status === status)
        ? effects.map((effect) => ({ key, effect }))
        : [],
    );
    if (field(node, "spec", "unschedulable") === true) wanted.push({ key: cordoned, effect: "NoSchedule" });
    const own = new Set<string>([cordoned, ...conditionTaints.map(({ key }) => key)]);
    const before = listAt(node, "spec", "taints");
    const isSame = (a: JsonObject, b: JsonObject) => a.key === b.key && a.effect === b.effect;
    const kept = before.filter(
      (one) => !own.has(textOf(one.key)) || wanted.some((other) => isSame(one, other)),
    );
    const added = wanted
      .filter((one) => !before.some((other) => isSame(one, other)))
      .map((one) => ({ ...one, timeAdded: timestamp(clock) }));
    if (kept.length === before.length && added.length === 0) return;
    await unlessGone(
      edit(registry, nodes, node, context, (next) => {
        const { taints: _before, ...spec } = next.spec as JsonObject;
        const taints = [...kept, ...added];
        next.spec = taints.length > 0 ? { ...spec, taints } : spec;
      }),
    );
  }
}

/** Deletes pods from nodes whose taints they do not tolerate, or no longer. */
function startTaintEviction(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const pods = builtin(registry, "", "v1", "pods");
  const context = controllerContext("taint-eviction-controller");
  const record = eventRecorder(registry, { component: "taint-eviction-controller", context });
  /** Since when a pod's tolerations have been running out. */
  const since = new Map<string, number>();

  return startLoop(deps, {
    name: "taint-eviction-controller",
    watches: {
      [pods.bucket]: ({ key, type, entry, previous }) => {
        if (type === "DELETED") since.delete(key);
        const isPlaced = field(entry.object, "spec", "nodeName") !== undefined;
        return type !== "DELETED" && isPlaced && previous?.object.spec !== entry.object.spec ? [key] : [];
      },
      nodes: ({ key, entry, previous }) =>
        listAt(entry.object, "spec", "taints").length + listAt(previous?.object, "spec", "taints").length ===
        0
          ? []
          : [...store.entries(pods.bucket)]
              .filter(({ object }) => field(object, "spec", "nodeName") === key)
              .map((pod) => pod.key)
              .sort(),
    },
    reconcile: async (key) => {
      const pod = store.get(pods.bucket, key)?.object;
      const node = store.get("nodes", textOf(field(pod, "spec", "nodeName")))?.object;
      if (!pod || !node || isDeleting(pod) || isFinished(typed<Pod>(pod))) return undefined;
      const patience = patienceOf(pod, node);
      if (patience === undefined) {
        if (since.delete(key)) {
          const message = `Cancelling deletion of Pod ${key}`;
          await record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
        }
        return undefined;
      }
      const start = since.get(key) ?? clock.now();
      since.set(key, start);
      const left = start + patience - clock.now();
      if (left > 0) return { requeueAfterMs: left };
      since.delete(key);
      await evict(pod);
      return undefined;
    },
  });

  async function evict(pod: StoredObject): Promise<void> {
    const message = `Marking for deletion Pod ${namespaceOf(pod)}/${pod.metadata.name}`;
    await record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
    const conditions = replaceCondition(listAt(pod, "status", "conditions"), {
      type: "DisruptionTarget",
      observedGeneration: Number(pod.metadata.generation ?? 1),
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock),
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    });
    await unlessGone(writeStatus(registry, pods, pod, { ...statusOf(pod), conditions }, context));
    await deleteIfPresent(registry, pods, pod, context);
  }
}

/** How long a pod tolerates the taints of its node, in milliseconds; undefined if without limit. */
function patienceOf(pod: StoredObject, node: StoredObject): number | undefined {
  const tolerations = listAt(pod, "spec", "tolerations");
  const times: number[] = [];
  for (const taint of listAt(node, "spec", "taints")) {
    if (taint.effect !== "NoExecute") continue;
    const bearing = tolerations.filter((toleration) => tolerates(toleration, taint));
    if (bearing.length === 0) return 0;
    for (const { tolerationSeconds } of bearing) {
      if (typeof tolerationSeconds === "number") times.push(Math.max(0, tolerationSeconds) * 1_000);
    }
  }
  return times.length === 0 ? undefined : Math.min(...times);
}
