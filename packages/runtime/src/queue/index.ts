export { type Backoff, type BackoffOptions, checkBackoff, exponentialBackoff } from "./backoff.ts";
export {
  type AddOptions,
  createQueue,
  type DrainOptions,
  type KeyStatus,
  type Lease,
  type NamespacedKey,
  type Queue,
  type QueueObserver,
  type QueueOptions,
  type QueueSample,
} from "./queue.ts";
