import type { Container, ContainerStatus, Pod } from "@windlass/kinds/builtin";
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
  isDeleting,
  stored,
  writeStatus,
} from "../controllers/objects.ts";
import { isFinished } from "../controllers/pods.ts";
import { millisOf, namespaceOf } from "../json-fields.ts";
import type { ProcessRuntime } from "../processes/index.ts";
import { StatusError } from "../status.ts";
import type { LogRecord } from "../storage/store.ts";
import { type Stored, typed } from "../storage/typed.ts";
import { Addresses } from "./addresses.ts";
import { type Behaviors, ignoredAnnotations } from "./behaviors.ts";
import type { Connections } from "./connections.ts";
import { stepContainer } from "./container.ts";
import { startNodeLifecycle } from "./node-lifecycle.ts";
import type { NodeSpec } from "./node-object.ts";
import { type NodeNetwork, registerNode } from "./node-object.ts";
import {
  isSettled,
  killing,
  lingersMs,
  type PodView,
  stepPod,
  terminate,
  type WrittenPodStatus,
} from "./pod-status.ts";
import { exitOfProcess, type PodProcesses, stepProcess } from "./process-container.ts";
import { configError, mountError } from "./requirements.ts";
import { startScheduler } from "./scheduler.ts";

/** The network of nodes that run nothing: no packet ever goes there. */
const simulatedNetwork: NodeNetwork = {
  pods: "10.244",
  host: (index) => `10.255.${(index + 1) >> 8}.${(index + 1) & 255}`,
};

export interface NodesOptions {
  readonly nodes: readonly NodeSpec[];
  readonly behaviors: Behaviors;
  readonly connections: Connections;
  /** @default addresses that lead nowhere */
  readonly network?: NodeNetwork;
  /** Runs the containers of pods whose behavior is not set. @default they are simulated too */
  readonly runtime?: ProcessRuntime;
}

/** Brings nodes up: a scheduler for all, and a kubelet on each. */
export function startNodes(deps: ControllerDependencies, options: NodesOptions): Running {
  const { nodes, network = simulatedNetwork } = options;
  for (const [index, node] of nodes.entries()) registerNode(deps, node, index, network);
  const hosts = new Map(nodes.map(({ name }, index) => [name, network.host(index)]));
  return together([
    startScheduler(deps),
    startKubelets(deps, options, hosts),
    startNodeLifecycle(deps, options.connections),
  ]);
}

/** Says on each node that its pods have no addresses of their own. */
export async function warnOfSharedAddress(
  deps: ControllerDependencies,
  nodes: readonly NodeSpec[],
): Promise<void> {
  const context = controllerContext("", "kubelet");
  const record = eventRecorder(deps.registry, { component: "kubelet", context });
  for (const { name } of nodes) {
    const node = deps.registry.store.get("nodes", name)?.object;
    const message = `${process.platform} leads no address of 127.0.0.0/8 here but 127.0.0.1: all pods share it, no two can have the same port, and Services cannot be reached`;
    if (node) await record(node, { type: "Warning", reason: "SharedAddress", message });
  }
}

function startKubelets(
  deps: ControllerDependencies,
  { behaviors, connections, network = simulatedNetwork, runtime }: NodesOptions,
  hosts: ReadonlyMap<string, string>,
): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const pods = builtin<Pod>(registry, "", "v1", "pods");
  const isShared = network.pods.split(".").length === 4;
  const addresses = new Addresses(store, isShared ? "10.244" : network.pods);
  /** Pods that wait for a ConfigMap or Secret, by namespace. */
  const awaitingConfig = new Map<string, Set<string>>();
  /** Pods that were deleted while they ran: their containers are yet to be stopped. */
  const deletedRunning = new Map<string, Stored<Pod>>();
  const contexts = new Map(
    [...hosts.keys()].map((name) => [
      name,
      {
        ...controllerContext("", "kubelet"),
        user: { name: `system:node:${name}`, groups: ["system:nodes", "system:authenticated"] },
      },
    ]),
  );
  const recorders = new Map(
    [...contexts].map(([host, context]) => [
      host,
      eventRecorder(registry, { component: "kubelet", host, context }),
    ]),
  );

  const wake = ({ entry }: LogRecord) => awaitingConfig.get(namespaceOf(entry.object)) ?? [];
  const loop: Loop = startLoop(deps, {
    name: "kubelet",
    watches: {
      [pods.bucket]: ({ key, type, entry }) => {
        const pod = typed<Pod>(entry.object);
        if (!hosts.has(pod.spec.nodeName ?? "")) return [];
        if (type !== "DELETED") return [key];
        addresses.free(key);
        runtime?.drop(pod.metadata.uid);
        awaitingConfig.get(namespaceOf(pod))?.delete(key);
        if (!isFinished(pod)) deletedRunning.set(key, pod);
        return [key];
      },
      configmaps: wake,
      secrets: wake,
    },
    reconcile: async (key) => {
      const gone = deletedRunning.get(key);
      deletedRunning.delete(key);
      if (gone) await recordEvents(gone, gone.spec.nodeName ?? "", killing(gone));
      const pod = stored(registry, pods, key);
      const node = pod?.spec.nodeName ?? "";
      if (!pod || !hosts.has(node) || !store.get("nodes", node) || connections.isLost(node)) return undefined;
      try {
        return isDeleting(pod)
          ? await (isReal(pod) ? finishProcesses(key, pod, node) : finish(pod, node))
          : isFinished(pod)
            ? undefined
            : await advance(key, pod, node);
      } catch (error) {
        // Deleted while its status was being written.
        if (error instanceof StatusError && error.code === 404) return undefined;
        throw error;
      }
    },
  });
  const requeueAll = () => {
    for (const { key } of store.list(pods.bucket).entries) loop.add(key);
  };
  const unsubscribe = [
    behaviors.changes.subscribe(requeueAll),
    connections.changes.subscribe(requeueAll),
    ...(runtime ? [runtime.changes.subscribe((key) => loop.add(key))] : []),
  ];
  return {
    stop: () => {
      for (const end of unsubscribe) end();
      loop.stop();
    },
    get idle() {
      return loop.idle && (runtime?.idle ?? true);
    },
  };

  /** Whether a pod has real processes. */
  function isReal(pod: Stored<Pod>): boolean {
    return runtime !== undefined && !behaviors.hasBehavior(pod);
  }

  function viewOf(key: string, pod: Stored<Pod>, node: string): PodView {
    const view = {
      now: clock.now(),
      address: isShared ? network.pods : addresses.of(key),
      hostAddress: hosts.get(node) ?? "",
      mountError: mountError(store, pod),
      configError: (container: Container) => configError(store, pod, container),
    };
    const missing = ({ image = "" }: Container) => (behaviors.isMissing(image) ? "" : undefined);
    if (!runtime || !isReal(pod)) {
      return {
        ...view,
        behavior: (container) => behaviors.of(pod, container),
        imageMissing: missing,
        step: stepContainer,
      };
    }
    const own = processesOf(runtime, pod, view);
    return {
      ...view,
      behavior: () => ({ kind: "run" }),
      imageMissing: (container) => missing(container) ?? runtime.imageFault(container),
      step: (one, status) => stepProcess(own, one, status),
    };
  }

  function processesOf(
    runs: ProcessRuntime,
    pod: Stored<Pod>,
    { address, hostAddress }: Pick<PodView, "address" | "hostAddress">,
  ): PodProcesses {
    const podAddress = pod.spec.hostNetwork === true ? hostAddress : address;
    return {
      observe: (container, attempt) => runs.observe(pod, container, attempt),
      start: ({ container, part }, attempt) =>
        runs.start({ pod, container, part, attempt, podAddress, hostAddress }),
      stop: (container) => runs.stopContainer(pod, container, graceMs(pod)),
    };
  }

  async function write(pod: Stored<Pod>, node: string, status: WrittenPodStatus): Promise<void> {
    const context = contexts.get(node);
    if (context) await writeStatus(registry, pods, pod, status, context);
  }

  async function recordEvents(
    pod: Stored<Pod>,
    node: string,
    texts: Parameters<NonNullable<ReturnType<typeof recorders.get>>>[1][],
  ): Promise<void> {
    for (const text of texts) await recorders.get(node)?.(pod, text);
  }

  async function advance(key: string, pod: Stored<Pod>, node: string): Promise<Again | undefined> {
    const view = viewOf(key, pod, node);
    const step = stepPod(pod, view);
    if (runtime?.isAlive(pod) && (step.status.phase === "Succeeded" || step.status.phase === "Failed")) {
      // What is left of it, a sidecar say, ends first.
      runtime.stop(pod, graceMs(pod));
      return undefined;
    }
    note(key, pod, view, step.status);
    await recordEvents(pod, node, [...warnings(pod), ...step.events, ...(runtime?.takeEvents(pod) ?? [])]);
    if (!isSettled(pod, step)) await write(pod, node, step.status);
    return step.againMs === undefined ? undefined : { requeueAfterMs: step.againMs };
  }

  /** Told once, when the node first has the pod. */
  function warnings(pod: Stored<Pod>) {
    if (pod.status?.startTime !== undefined) return [];
    return ignoredAnnotations(pod).map(
      (message) => ({ type: "Warning", reason: "AnnotationIgnored", message }) as const,
    );
  }

  /** Remembers who waits for something that may come. */
  function note(key: string, pod: Stored<Pod>, view: PodView, status: WrittenPodStatus): void {
    const namespace = namespaceOf(pod);
    const { initContainerStatuses = [], containerStatuses = [] } = status;
    const waits =
      view.mountError !== undefined ||
      [...initContainerStatuses, ...containerStatuses].some(
        ({ state }) => state?.waiting?.reason === "CreateContainerConfigError",
      );
    if (!waits) awaitingConfig.get(namespace)?.delete(key);
    else if (!awaitingConfig.has(namespace)) awaitingConfig.set(namespace, new Set([key]));
    else awaitingConfig.get(namespace)?.add(key);
  }

  /**
   * Stops the containers of a deleted pod; once they have stopped, the pod may go. What others hold
   * it for is theirs.
   */
  async function finish(pod: Stored<Pod>, node: string): Promise<Again | undefined> {
    const key = `${namespaceOf(pod)}/${pod.metadata.name}`;
    const view = viewOf(key, pod, node);
    if (!isFinished(pod)) {
      await recordEvents(pod, node, killing(pod));
      const left = lingersMs(pod, view.behavior(), view.now);
      if (left > 0) return { requeueAfterMs: left };
      const code = view.behavior().exitCode ?? 0;
      const exit = { exitCode: code, reason: code === 0 ? "Completed" : "Error" };
      await write(pod, node, terminate(pod, view, () => exit).status);
    }
    await release(pod, node);
    return undefined;
  }

  /**
   * The same for a pod with real processes: they are asked to end, and after the grace period made
   * to.
   */
  async function finishProcesses(key: string, pod: Stored<Pod>, node: string): Promise<Again | undefined> {
    const end = millisOf(pod.metadata.deletionTimestamp) ?? clock.now();
    const asked = new Set(runtime?.stop(pod, Math.max(0, end - clock.now())));
    const events = killing(pod, (container) => asked.has(container));
    await recordEvents(pod, node, [...events, ...(runtime?.takeEvents(pod) ?? [])]);
    // Called again when one of them has ended.
    if (runtime?.isAlive(pod)) return undefined;
    if (!isFinished(pod)) {
      const exit = ({ name, restartCount }: ContainerStatus) =>
        exitOfProcess(runtime?.observe(pod, name, restartCount) ?? { at: "absent" });
      await write(pod, node, terminate(pod, viewOf(key, pod, node), exit).status);
    }
    await release(pod, node);
    return undefined;
  }

  /** Lets a pod go whose containers have stopped. */
  async function release(pod: Stored<Pod>, node: string): Promise<void> {
    const context = contexts.get(node);
    const graceful = Number(pod.metadata.deletionGracePeriodSeconds ?? 0) > 0;
    const held = Array.isArray(pod.metadata.finalizers) && pod.metadata.finalizers.length > 0;
    if (context && (graceful || !held)) {
      await deleteIfPresent(registry, pods, pod, context, { gracePeriodSeconds: 0 });
    }
  }
}

function graceMs(pod: Stored<Pod>): number {
  return Number(pod.spec.terminationGracePeriodSeconds ?? 30) * 1_000;
}
