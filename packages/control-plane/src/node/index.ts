export {
  annotations,
  type Behavior,
  type BehaviorKind,
  type ImageSelector,
  type PodSelector,
} from "./behavior.ts";
export { chosenContainer } from "./logs.ts";
export {
  type NodeChoice,
  type NodeSpec,
  type RunningProcesses,
  SimulatedNodes,
} from "./simulated-node.ts";
