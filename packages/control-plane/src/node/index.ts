export {
  annotations,
  type Behavior,
  type BehaviorKind,
  type ImageSelector,
  type PodSelector,
} from "./behavior.ts";
export { chosenContainer } from "./logs.ts";
export {
  type NodeSpec,
  type RunningProcesses,
  type SimulatedNodeOptions,
  SimulatedNodes,
} from "./simulated-node.ts";
