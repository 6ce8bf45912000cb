export {
  type AllocationOutcome,
  type AllocationSpec,
  Allocator,
  type AllocatorOptions,
  type Grant,
  type Operation,
} from "./allocator.ts";
export { AllocationError, type AllocationErrorCode } from "./errors.ts";
export { type Job, jobHash, operationId, parseOperationId, requestName } from "./job.ts";
export { PoolCredentials, type PoolCredentialsOptions } from "./pool-credentials.ts";
export { PoolState, poolOf } from "./pool-state.ts";
