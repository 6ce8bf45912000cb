/**
 * Tests for operators: a cluster to run them on, be it embedded, a real API server or a whole
 * cluster; waits that see every state; and simulations that play the same run again, to the byte.
 *
 * @module
 */

export { ManualClock } from "@windlass/clock";
export {
  type Existing,
  existing,
  type LoggedLine,
  type ReconcileGiven,
  type ReconcileTried,
  type RecordedWrite,
  type SourceGiven,
  type SourceTried,
  testReconcile,
  testSource,
} from "@windlass/runtime/testing";
export type { Backend } from "./backend.ts";
export { type Binaries, type BinariesOptions, type Part, startBinaries } from "./binaries.ts";
export { checkDefinitions } from "./check-definitions.ts";
export {
  type ClusterOptions,
  type Flavour,
  flavourFromEnvironment,
  startCluster,
  TestCluster,
} from "./cluster.ts";
export type { Installable } from "./definitions.ts";
export { freePorts } from "./free-ports.ts";
export { type SimulatedOperator, Simulation, type SimulationOptions } from "./simulate.ts";
export { firstDifference, Trace } from "./trace.ts";
export {
  WaitError,
  type WaitedFor,
  type WaitOptions,
  waitFor,
  waitForCondition,
  waitForDeletion,
} from "./wait.ts";
export type { WebhookTie } from "./webhooks.ts";
