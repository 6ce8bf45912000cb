import { startSimulatedNode } from "../node/simulated-node.ts";
import { startDeployments } from "./deployment.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import type { ControllerWorld, Running } from "./loop.ts";
import { startNamespaces } from "./namespace.ts";
import { startReplicaSets } from "./replica-set.ts";
import { startServiceAccounts } from "./service-account.ts";

/** Everything besides the API server itself, by the names the real programs use where there are such. */
const known = {
  "garbage-collector": startGarbageCollector,
  namespace: startNamespaces,
  serviceaccount: startServiceAccounts,
  deployment: startDeployments,
  replicaset: startReplicaSets,
  node: startSimulatedNode,
} satisfies { readonly [name: string]: (world: ControllerWorld) => Running };

export type ControllerName = keyof typeof known;

/** Which controllers run. `none` is what a bare API server is. */
export type ControllerChoice = "all" | "none" | readonly ControllerName[];

export function startControllers(world: ControllerWorld, choice: ControllerChoice): Running {
  const names = choice === "none" ? [] : choice === "all" ? (Object.keys(known) as ControllerName[]) : choice;
  const running = names.map((name) => known[name](world));
  return {
    stop: () => {
      for (const controller of running) controller.stop();
    },
    get idle() {
      return running.every((controller) => controller.idle);
    },
  };
}
