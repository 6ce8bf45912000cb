export { type Binaries, type BinariesOptions, type Part, startBinaries } from "./binaries.ts";
export {
  type Backend,
  type ClusterOptions,
  type Flavour,
  flavourFromEnvironment,
  type Installable,
  startCluster,
  TestCluster,
} from "./cluster.ts";
export { type SimulatedOperator, Simulation, type SimulationOptions } from "./simulate.ts";
export { firstDifference, Trace } from "./trace.ts";
export { WaitError, type WaitOptions, waitFor, waitForCondition, waitForDeletion } from "./wait.ts";
