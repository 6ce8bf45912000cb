export { claimed, hasUnseenUse, isClaimable, released } from "./claim.ts";
export {
  type Allocation,
  BuildKitWorker,
  type Worker,
  type WorkerPhase,
  workerPhases,
} from "./worker.ts";
