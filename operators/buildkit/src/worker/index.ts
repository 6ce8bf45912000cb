export { claimed, hasUnseenUse, isClaimable, isHeld, isServing, released, untracked } from "./claim.ts";
export {
  type Allocation,
  BuildKitWorker,
  type Worker,
  type WorkerPhase,
  workerPhases,
} from "./worker.ts";
