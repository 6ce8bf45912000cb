import { uuid } from "@windlass/clock";
import type { Node, NodeCondition } from "@windlass/kinds/builtin";
import type { ControllerDependencies } from "../controllers/loop.ts";
import type { JsonObject } from "../json.ts";
import { kubernetesVersion } from "../kinds/index.ts";
import { timestamp } from "../registry/metadata.ts";
import { typed } from "../storage/typed.ts";

/** Where pods and nodes have their addresses. */
export interface NodeNetwork {
  /** The first two numbers of pod addresses; a whole address where all pods share one. */
  readonly pods: string;
  /** A node's own address, by its number. */
  readonly host: (index: number) => string;
}

/** The conditions of a healthy node. @param now as a timestamp */
export function healthyConditions(now: string): NodeCondition[] {
  const condition = (type: string, status: string, reason: string, message: string): NodeCondition => ({
    type,
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: now,
    reason,
    message,
  });
  return [
    condition(
      "MemoryPressure",
      "False",
      "KubeletHasSufficientMemory",
      "kubelet has sufficient memory available",
    ),
    condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
  ];
}

/** Registers a node, or updates its address. */
export function registerNode(
  { registry }: ControllerDependencies,
  node: NodeSpec,
  index: number,
  network: NodeNetwork,
): void {
  const { store, clock, random } = registry;
  const put = (object: object) => store.put("nodes", node.name, object as JsonObject);
  const stored = store.get("nodes", node.name)?.object;
  const known = stored && typed<Node>(stored);
  const internal = known?.status?.addresses?.find(({ type }) => type === "InternalIP");
  if (known && internal?.address === network.host(index)) return;
  const now = timestamp(clock);
  const capacity = {
    cpu: "64",
    memory: "256Gi",
    pods: "10000",
    "ephemeral-storage": "1Ti",
    ...node.capacity,
  };
  const podCIDR = `${network.pods.split(".").slice(0, 2).join(".")}.${index & 255}.0/24`;
  const addresses = [
    { type: "InternalIP", address: network.host(index) },
    { type: "Hostname", address: node.name },
  ];
  if (known) {
    put({
      ...known,
      spec: { ...known.spec, podCIDR, podCIDRs: [podCIDR] },
      status: { ...known.status, addresses },
    });
    return;
  }
  put({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: node.name,
      uid: uuid(random),
      creationTimestamp: now,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "node.windlass.dev/simulated": "true",
        ...node.labels,
      },
    },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      ...(node.taints ? { taints: node.taints.map((taint) => ({ ...taint })) } : {}),
    },
    status: {
      capacity,
      allocatable: capacity,
      conditions: healthyConditions(now),
      addresses,
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: "",
        systemUUID: "",
        bootID: "",
        kernelVersion: "simulated",
        osImage: "Windlass simulated node",
        containerRuntimeVersion: "windlass://0.1.0",
        kubeletVersion: kubernetesVersion().gitVersion,
        kubeProxyVersion: "",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
  });
}

/** One node as it presents itself. */
export interface NodeSpec {
  readonly name: string;
  /** Besides the labels every node has. */
  readonly labels?: { readonly [key: string]: string };
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** What there is of each resource. @default 64 CPUs, 256Gi of memory, 10000 pods */
  readonly capacity?: { readonly [resource: string]: string };
}
