export type { Behavior, BehaviorKind } from "./behavior.ts";
export { annotations, type ImageSelector, type PodSelector } from "./behaviors.ts";
export { chosenContainer } from "./logs.ts";
export type { NodeSpec } from "./node-object.ts";
export { type NodeChoice, type RunningProcesses, SimulatedNodes } from "./simulated-node.ts";
