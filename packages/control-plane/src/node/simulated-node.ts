import {
  builtin,
  type ControllerWorld,
  controllerContext,
  ownKey,
  type Running,
  startLoop,
  writeStatus,
} from "../controllers/loop.ts";
import { clone, type JsonObject, textOf } from "../json.ts";
import { timestamp } from "../registry/metadata.ts";
import { StatusError } from "../status.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { runningStatus } from "./pod-status.ts";

export interface SimulatedNodeOptions {
  /** @default "windlass-node" */
  readonly name?: string;
}

/**
 * A node that runs nothing: pods are placed on it, become Ready at once, and end when they are deleted. Enough for
 * everything above the kubelet to do its work.
 */
export function startSimulatedNode(world: ControllerWorld, options: SimulatedNodeOptions = {}): Running {
  const { registry } = world;
  const name = options.name ?? "windlass-node";
  const pods = builtin(registry, "", "v1", "pods");
  const nodes = builtin(registry, "", "v1", "nodes");
  const scheduler = {
    ...controllerContext("", "kube-scheduler"),
    user: { name: "system:kube-scheduler", groups: ["system:authenticated"] },
  };
  const kubelet = {
    ...controllerContext("", "kubelet"),
    user: { name: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] },
  };
  const addresses = new Map<string, number>();

  announce();
  return startLoop(world, {
    name: "simulated-node",
    watches: { [pods.bucket]: ownKey },
    reconcile: async (key) => {
      const pod = registry.store.get(pods.bucket, key)?.object;
      if (!pod) {
        addresses.delete(key);
        return;
      }
      const node = field(pod, "spec", "nodeName");
      if (pod.metadata.deletionTimestamp) {
        if (node === name) await finish(pod);
        return;
      }
      if (!node) {
        if (
          field(pod, "spec", "schedulerName") === "default-scheduler" &&
          !field(pod, "spec", "schedulingGates")
        )
          await place(pod);
        return;
      }
      if (node === name && field(pod, "status", "phase") === "Pending") await run(key, pod);
    },
  });

  function announce(): void {
    if (registry.store.get(nodes.bucket, name)) return;
    const now = timestamp(registry.clock);
    const ready: JsonObject = {
      type: "Ready",
      status: "True",
      lastHeartbeatTime: now,
      lastTransitionTime: now,
      reason: "KubeletReady",
      message: "kubelet is posting ready status",
    };
    const capacity = { cpu: "64", memory: "256Gi", pods: "10000", "ephemeral-storage": "1Ti" };
    registry.store.put(nodes.bucket, name, {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        uid: `${name}-uid`,
        creationTimestamp: now,
        labels: {
          "kubernetes.io/hostname": name,
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          "node.windlass.dev/simulated": "true",
        },
      },
      spec: {},
      status: {
        capacity,
        allocatable: capacity,
        conditions: [ready],
        addresses: [
          { type: "InternalIP", address: "10.255.0.1" },
          { type: "Hostname", address: name },
        ],
        nodeInfo: {
          machineID: "",
          systemUUID: "",
          bootID: "",
          kernelVersion: "simulated",
          osImage: "Windlass simulated node",
          containerRuntimeVersion: "windlass://0.1.0",
          kubeletVersion: "v1.35.4",
          kubeProxyVersion: "",
          operatingSystem: "linux",
          architecture: "amd64",
        },
      },
    });
  }

  async function place(pod: StoredObject): Promise<void> {
    await registry.update(
      { resource: pods, namespace: textOf(pod.metadata.namespace), name: pod.metadata.name },
      scheduler,
      (live) => {
        const next = clone(live);
        next.spec = { ...(next.spec as JsonObject), nodeName: name };
        return next;
      },
      { kind: "PatchOptions" },
    );
    const scheduled: JsonObject = {
      type: "PodScheduled",
      status: "True",
      lastProbeTime: null,
      lastTransitionTime: timestamp(registry.clock),
    };
    const status = { ...(pod.status as JsonObject | undefined), phase: "Pending", conditions: [scheduled] };
    await writeStatus(registry, pods, pod, status, scheduler);
  }

  async function run(key: string, pod: StoredObject): Promise<void> {
    await writeStatus(
      registry,
      pods,
      pod,
      runningStatus(pod, { now: timestamp(registry.clock), ip: addressOf(key) }),
      kubelet,
    );
  }

  /** Pods live in 10.244.0.0/16; addresses are handed out in order and not reused soon. */
  function addressOf(key: string): string {
    let number = addresses.get(key);
    if (number === undefined) {
      number = addresses.size === 0 ? 2 : Math.max(...addresses.values()) + 1;
      addresses.set(key, number);
    }
    return `10.244.${(number >> 8) & 255}.${number & 255}`;
  }

  /** The containers have stopped: the pod may go. */
  async function finish(pod: StoredObject): Promise<void> {
    const { name: podName, namespace, uid } = pod.metadata;
    try {
      await registry.delete(
        { resource: pods, namespace: textOf(namespace), name: podName },
        { gracePeriodSeconds: 0, preconditions: { uid } },
        kubelet,
      );
    } catch (error) {
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
}
