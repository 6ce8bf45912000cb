import type { Clock } from "@windlass/clock";
import type { Pod } from "@windlass/kinds/builtin";
import type { ControllerDependencies, Running } from "../controllers/loop.ts";
import type {
  AddressBlock,
  ContainerRun,
  ProcessOptions,
  ProcessRuntime,
  RuntimeDependencies,
} from "../processes/index.ts";
import type { Stored } from "../storage/typed.ts";
import type { Behavior, BehaviorKind } from "./behavior.ts";
import { Behaviors, type ImageSelector, type PodSelector } from "./behaviors.ts";
import { Connections } from "./connections.ts";
import { type LogHandlers, logHandlers } from "./logs.ts";
import type { NodeNetwork, NodeSpec } from "./node-object.ts";

/** Which nodes there are: so many of the usual kind, or these. */
export type NodeChoice = number | readonly NodeSpec[];

function nodesOf(choice: NodeChoice): readonly NodeSpec[] {
  if (typeof choice !== "number") return choice;
  if (!Number.isInteger(choice) || choice < 1) {
    throw new RangeError(`nodes must be a whole number from 1 on, a list, or "none", not ${choice}`);
  }
  if (choice === 1) return [{ name: "windlass-node" }];
  return Array.from({ length: choice }, (_, index) => ({ name: `windlass-node-${index + 1}` }));
}

/** Nodes with real processes, which have to be ended. */
export interface RunningProcesses extends Running {
  /** Ends every process. Resolves once none is left. */
  close(): Promise<void>;
}

/**
 * Nodes that run nothing: pods are placed on them, become Ready, fail, crash or end as configured,
 * and are removed when they are deleted. Enough for everything above the kubelet to do its work.
 *
 * How a pod behaves is set by its annotations (see `annotations`), by a program (`on`,
 * `missingImages`), or not at all: then it runs and is ready at once, and one that is there to end,
 * as the pods of Jobs are, succeeds at once.
 *
 * @example
 * plane.node.on("web-*", { kind: "crash-loop", exitCode: 3 });
 * plane.node.missingImages("registry.example.com/*");
 */
export class SimulatedNodes {
  readonly #behaviors = new Behaviors();
  readonly #connections: Connections;
  readonly #nodes: readonly NodeSpec[];
  #runtime: ProcessRuntime | undefined;

  /** @throws RangeError for a number of nodes that there cannot be */
  constructor(clock: Clock, choice: NodeChoice = 1) {
    this.#connections = new Connections(clock);
    this.#nodes = nodesOf(choice);
  }

  /**
   * Pods that match behave so from now on, those that run already too. The returned function takes
   * it back.
   */
  on(which: PodSelector, behavior: Behavior | BehaviorKind): () => void {
    return this.#behaviors.on(which, behavior);
  }

  /** These images cannot be pulled. The returned function makes them appear. */
  missingImages(...images: readonly ImageSelector[]): () => void {
    return this.#behaviors.missingImages(...images);
  }

  /**
   * Cuts a node off: it sends no heartbeat and runs nothing until the returned function
   * brings it back. As in a real cluster it counts as lost after 50 seconds, its pods are then not
   * ready, and are deleted once they no longer tolerate it, which by default is after five minutes;
   * they are gone when the node is back, or deleted itself.
   */
  lose(name: string): () => void {
    return this.#connections.lose(name);
  }

  /** Whether pods have real processes by default. */
  get hasProcesses(): boolean {
    return this.#runtime !== undefined;
  }

  /** Whether a pod has real processes. */
  runsProcesses(pod: Stored<Pod>): boolean {
    return this.#runtime !== undefined && !this.#behaviors.hasBehavior(pod);
  }

  /** The run of a pod's container that goes on or was the last; undefined if there was none. */
  runOf(pod: Stored<Pod>, container: string): ContainerRun | undefined {
    return this.#runtime?.runOf(pod, container);
  }

  /** What answers for a pod's logs. */
  get handlers(): LogHandlers {
    return logHandlers(this.#behaviors, () => this.#runtime);
  }

  /** Brings the nodes up: a scheduler for all, and a kubelet on each. */
  async start(deps: ControllerDependencies): Promise<Running> {
    const { startNodes } = await import("./start-nodes.ts");
    return startNodes(deps, {
      nodes: this.#nodes,
      behaviors: this.#behaviors,
      connections: this.#connections,
    });
  }

  /**
   * Brings up nodes that run real processes: for every pod whose behavior is not set.
   *
   * @param block where pods and Services have their addresses
   */
  async startProcesses(
    deps: Omit<RuntimeDependencies, "ownAddresses">,
    options: ProcessOptions,
    block: AddressBlock,
  ): Promise<RunningProcesses> {
    const { startNodes, warnOfSharedAddress } = await import("./start-nodes.ts");
    const { ProcessRuntime, startServiceProxy } = await import("../processes/index.ts");
    const isShared = block.kind === "shared";
    const runtime = new ProcessRuntime({ ...deps, ownAddresses: !isShared }, options);
    this.#runtime = runtime;
    const network: NodeNetwork = {
      pods: block.pods,
      host: (index) => (isShared ? block.pods : `${block.pods}.255.${index + 1}`),
    };
    const nodes = startNodes(deps, {
      nodes: this.#nodes,
      behaviors: this.#behaviors,
      connections: this.#connections,
      network,
      runtime,
    });
    if (isShared) await warnOfSharedAddress(deps, this.#nodes);
    const hosts = this.#nodes.map((_node, index) => network.host(index));
    const proxy = startServiceProxy(deps, { hosts, apiServer: deps.apiServer });
    return {
      stop: () => {
        nodes.stop();
        proxy.stop();
      },
      get idle() {
        return nodes.idle && proxy.idle;
      },
      close: async () => {
        await proxy.close();
        await runtime.close();
        await block.close();
      },
    };
  }
}
