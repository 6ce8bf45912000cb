/**
 * Why a worker cannot be had, renewed, released or looked up.
 *
 * | code | what to do |
 * |---|---|
 * | `QueueFull` | try again later: as many wait as the pool's `queue.maxLength` allows |
 * | `QueueTimeout` | try again later, or raise the pool's `queue.maxWait` or `scaling.max` |
 * | `QuotaExceeded` | release a worker first: a rule of the pool limits how many one identity may hold |
 * | `PoolTerminating` | use another pool: this one is being deleted |
 * | `NotAllocated` | ask for a new worker: this allocation was released, has expired, or never was |
 * | `LifetimeExceeded` | ask for a new worker: the allocation has lasted as long as the pool allows |
 * | `WorkerLost` | ask for a new worker, with the same `jobId`: the one of this allocation has failed |
 * | `CredentialsUnavailable` | try again: the pool's keys or certificates have not been made yet, or cannot be read |
 * | `Contended` | try again: others were faster, many times in a row |
 */
export type AllocationErrorCode =
  | "QueueFull"
  | "QueueTimeout"
  | "QuotaExceeded"
  | "PoolTerminating"
  | "NotAllocated"
  | "LifetimeExceeded"
  | "WorkerLost"
  | "CredentialsUnavailable"
  | "Contended";

/** What was asked of a pool cannot be done. The message is for the client. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
  readonly code: AllocationErrorCode;
  /** When it may be worth trying again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: AllocationErrorCode,
    message: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
