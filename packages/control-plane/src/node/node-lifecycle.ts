import type { Node, NodeCondition, Pod, Taint } from "@windlass/kinds/builtin";
import { replaceCondition, type WrittenPodCondition } from "../controllers/conditions.ts";
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
  allStored,
  builtin,
  controllerContext,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
  unlessGone,
  writeStatus,
} from "../controllers/objects.ts";
import { isFinished, isReady, podCondition } from "../controllers/pods.ts";
import { namespaceOf } from "../json-fields.ts";
import { timestamp } from "../registry/metadata.ts";
import type { Entry } from "../storage/store.ts";
import { type Stored, typed } from "../storage/typed.ts";
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
] as const satisfies readonly {
  readonly type: string;
  readonly status: string;
  readonly key: string;
  readonly effects: readonly Taint["effect"][];
}[];
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
  const { clock } = registry;
  const nodes = builtin<Node>(registry, "", "v1", "nodes");
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const context = controllerContext("node-controller");
  const kubelet = controllerContext("", "kubelet");
  const record = eventRecorder(registry, { component: "node-controller", context });

  const loop: Loop = startLoop(deps, {
    name: "node-lifecycle-controller",
    watches: { [nodes.bucket]: ({ key, type }) => (type === "DELETED" ? [] : [key]) },
    reconcile: async (name) => {
      const node = stored(registry, nodes, name);
      if (!node) return undefined;
      const again = await checkHeartbeat(node);
      const now = stored(registry, nodes, name);
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
  async function checkHeartbeat(node: Stored<Node>): Promise<Again | undefined> {
    if (node.metadata.labels?.["node.windlass.dev/simulated"] !== "true") return undefined;
    const { name } = node.metadata;
    const { conditions = [] } = node.status ?? {};
    const ready = conditions.find(({ type }) => type === "Ready");
    const since = connections.lostSince(name);
    if (since === undefined) {
      await syncDevices(node);
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
      conditions.map((condition) => ({
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
    await markPodsNotReady(name);
    return undefined;
  }

  /**
   * Pods may use whatever devices a client writes into a node's capacity: the kubelet offers those,
   * and no others.
   */
  async function syncDevices(node: Stored<Node>): Promise<void> {
    const { capacity: has = {}, allocatable: offers = {} } = node.status ?? {};
    const isDevice = (name: string) => name.includes("/");
    const isOutdated = (name: string) =>
      isDevice(name) && Object.hasOwn(has, name) !== Object.hasOwn(offers, name);
    if (![...Object.keys(has), ...Object.keys(offers)].some(isOutdated)) return;
    const kept = Object.entries(offers).filter(([name]) => !isDevice(name) || Object.hasOwn(has, name));
    const added = Object.entries(has).filter(([name]) => isOutdated(name));
    const status = { ...node.status, allocatable: Object.fromEntries([...kept, ...added]) };
    await unlessGone(writeStatus(registry, nodes, node, status, kubelet));
  }

  async function setConditions(node: Stored<Node>, conditions: readonly NodeCondition[]): Promise<void> {
    await unlessGone(writeStatus(registry, nodes, node, { ...node.status, conditions }, context));
  }

  /** Pods of a lost node get no traffic. */
  async function markPodsNotReady(node: string): Promise<void> {
    for (const pod of allStored(registry, pods)) {
      const ready = podCondition(pod, "Ready");
      if (pod.spec.nodeName !== node || !ready || !isReady(pod)) continue;
      const conditions = replaceCondition(pod.status?.conditions ?? [], {
        ...ready,
        status: "False",
        lastTransitionTime: timestamp(clock),
      });
      await unlessGone(writeStatus(registry, pods, pod, { ...pod.status, conditions }, context));
      await record(pod, { type: "Warning", reason: "NodeNotReady", message: "Node is not ready" });
    }
  }

  async function taint(node: Stored<Node>): Promise<void> {
    const { conditions = [] } = node.status ?? {};
    // A node without a Ready condition is left alone.
    if (!conditions.some(({ type }) => type === "Ready")) return;
    const wanted: Taint[] = conditionTaints.flatMap(({ type, status, key, effects }) =>
      conditions.some((one) => one.type === type && one.status === status)
        ? effects.map((effect) => ({ key, effect }))
        : [],
    );
    if (node.spec?.unschedulable === true) wanted.push({ key: cordoned, effect: "NoSchedule" });
    const own = new Set<string>([cordoned, ...conditionTaints.map(({ key }) => key)]);
    const { taints: before = [] } = node.spec ?? {};
    const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect;
    const kept = before.filter((one) => !own.has(one.key) || wanted.some((other) => isSame(one, other)));
    const added = wanted
      .filter((one) => !before.some((other) => isSame(one, other)))
      .map((one) => ({ ...one, timeAdded: timestamp(clock) }));
    if (kept.length === before.length && added.length === 0) return;
    await unlessGone(
      edit(registry, nodes, node, context, (next) => {
        const { taints: _before, ...spec } = next.spec ?? {};
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
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const nodes = builtin<Node>(registry, "", "v1", "nodes");
  const context = controllerContext("taint-eviction-controller");
  const record = eventRecorder(registry, { component: "taint-eviction-controller", context });
  /** Since when a pod's tolerations have been running out. */
  const since = new Map<string, number>();

  return startLoop(deps, {
    name: "taint-eviction-controller",
    watches: {
      [pods.bucket]: ({ key, type, entry, previous }) => {
        if (type === "DELETED") since.delete(key);
        const isPlaced = typed<Pod>(entry.object).spec.nodeName !== undefined;
        return type !== "DELETED" && isPlaced && previous?.object.spec !== entry.object.spec ? [key] : [];
      },
      [nodes.bucket]: ({ key, entry, previous }) =>
        isTainted(entry) || isTainted(previous)
          ? [...store.entries(pods.bucket)]
              .filter(({ object }) => typed<Pod>(object).spec.nodeName === key)
              .map((pod) => pod.key)
              .sort()
          : [],
    },
    reconcile: async (key) => {
      const pod = stored(registry, pods, key);
      const node = stored(registry, nodes, pod?.spec.nodeName ?? "");
      if (!pod || !node || isDeleting(pod) || isFinished(pod)) return undefined;
      const tolerationMs = tolerationMsOf(pod, node);
      if (tolerationMs === undefined) {
        if (since.delete(key)) {
          const message = `Cancelling deletion of Pod ${key}`;
          await record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
        }
        return undefined;
      }
      const start = since.get(key) ?? clock.now();
      since.set(key, start);
      const left = start + tolerationMs - clock.now();
      if (left > 0) return { requeueAfterMs: left };
      since.delete(key);
      await evict(pod);
      return undefined;
    },
  });

  async function evict(pod: Stored<Pod>): Promise<void> {
    const message = `Marking for deletion Pod ${namespaceOf(pod)}/${pod.metadata.name}`;
    await record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
    const known: readonly WrittenPodCondition[] = pod.status?.conditions ?? [];
    const conditions = replaceCondition(known, {
      type: "DisruptionTarget",
      observedGeneration: Number(pod.metadata.generation ?? 1),
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: timestamp(clock),
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
    });
    await unlessGone(writeStatus(registry, pods, pod, { ...pod.status, conditions }, context));
    await deleteIfPresent(registry, pods, pod, context);
  }
}

function isTainted(entry: Entry | undefined): boolean {
  return entry !== undefined && (typed<Node>(entry.object).spec?.taints ?? []).length > 0;
}

/** How long a pod tolerates the taints of its node, in milliseconds; undefined if without limit. */
function tolerationMsOf(pod: Stored<Pod>, node: Stored<Node>): number | undefined {
  const { tolerations = [] } = pod.spec;
  const times: number[] = [];
  for (const taint of node.spec?.taints ?? []) {
    if (taint.effect !== "NoExecute") continue;
    const bearing = tolerations.filter((toleration) => tolerates(toleration, taint));
    if (bearing.length === 0) return 0;
    for (const { tolerationSeconds } of bearing) {
      if (tolerationSeconds !== undefined) times.push(Math.max(0, Number(tolerationSeconds)) * 1_000);
    }
  }
  return times.length === 0 ? undefined : Math.min(...times);
}
