import type { ControllerWorld, Running } from "../controllers/loop.ts";
import {
  type Behavior,
  type BehaviorKind,
  Behaviors,
  type ImageSelector,
  type PodSelector,
} from "./behavior.ts";
import { type LogHandlers, logHandlers } from "./logs.ts";

/** One node as it presents itself. */
export interface NodeSpec {
  readonly name: string;
  /** Besides the labels every node has. */
  readonly labels?: { readonly [key: string]: string };
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** What there is of each resource. @default 64 CPUs, 256Gi of memory, 10000 pods */
  readonly capacity?: { readonly [resource: string]: string };
}

export interface SimulatedNodeOptions {
  /** @default one, `windlass-node` */
  readonly nodes?: readonly NodeSpec[];
}

/**
 * Nodes that run nothing: pods are placed on them, become Ready, fail, crash or end as they are told, and go when they are deleted.
 * Enough for everything above the kubelet to do its work.
 *
 * How a pod behaves is said by its annotations (see `annotations`), by a program (`on`, `missingImages`), or not at all: then it
 * runs and is ready at once, and the pod of a Job succeeds at once.
 *
 * @example
 * plane.node.on("web-*", { kind: "crash-loop", exitCode: 3 });
 * plane.node.missingImages("registry.example.com/*");
 */
export class SimulatedNodes {
  readonly #behaviors = new Behaviors();
  readonly #options: SimulatedNodeOptions;

  constructor(options: SimulatedNodeOptions = {}) {
    this.#options = options;
  }

  /** Pods that match behave so from now on, those that run already too. The returned function takes it back. */
  on(which: PodSelector, behavior: Behavior | BehaviorKind): () => void {
    return this.#behaviors.on(which, behavior);
  }

  /** These images cannot be pulled. The returned function makes them appear. */
  missingImages(...images: readonly ImageSelector[]): () => void {
    return this.#behaviors.missingImages(...images);
  }

  /** What answers for a pod's logs. */
  get handlers(): LogHandlers {
    return logHandlers(this.#behaviors);
  }

  /** Brings the nodes up: a scheduler for all, and a kubelet on each. */
  async start(world: ControllerWorld): Promise<Running> {
    const { startNodes } = await import("./start-nodes.ts");
    return startNodes(world, this.#behaviors, this.#options.nodes ?? [{ name: "windlass-node" }]);
  }
}
