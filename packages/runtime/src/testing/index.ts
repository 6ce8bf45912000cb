/**
 * Tries a reconciler as a function, with nothing started. `@windlass/testing` has the same, and
 * clusters to test on.
 *
 * @module
 */

export type { RecordedWrite } from "./objects-in-memory.ts";
export { type LoggedLine, recordingLogger } from "./recording-logger.ts";
export {
  type Existing,
  existing,
  type ReconcileGiven,
  type ReconcileTried,
  testReconcile,
} from "./test-reconcile.ts";
export { type SourceGiven, type SourceTried, testSource } from "./test-source.ts";
