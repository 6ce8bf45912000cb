export { startBinaries } from "./binaries.ts";
export {
  type Backend,
  type ClusterOptions,
  type Flavour,
  flavourFromEnvironment,
  type Installable,
  startCluster,
  TestCluster,
} from "./cluster.ts";
export { WaitError, type WaitOptions, waitFor, waitForCondition, waitForDeletion } from "./wait.ts";
