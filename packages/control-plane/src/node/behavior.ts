import type { Duration } from "@windlass/clock";
import type { Pod } from "@windlass/kinds/builtin";

/** What the containers of a pod do. */
export type BehaviorKind =
  /** They run, and are ready. The default, except for pods that run to completion. */
  | "run"
  /** They run, and are never ready. */
  | "never-ready"
  /**
   * They end with exit code 0. What the pods of Jobs do by default, and bare ones with a
   * command that are not restarted.
   */
  | "succeed"
  /** They end with another exit code, and are started again if the pod's restart policy says so. */
  | "fail"
  /** `fail`, by the name of what is seen of it when they are started again and again. */
  | "crash-loop"
  /** They end because they took too much memory. */
  | "oom-killed"
  /** Their image cannot be pulled. */
  | "image-pull-error"
  /** They are never created. */
  | "stuck"
  /** The node evicts the pod. */
  | "evict";

export const behaviorKinds: readonly BehaviorKind[] = [
  "run",
  "never-ready",
  "succeed",
  "fail",
  "crash-loop",
  "oom-killed",
  "image-pull-error",
  "stuck",
  "evict",
];

/**
 * How a pod, or one container of it, behaves on a simulated node. All times are by the control
 * plane's clock.
 */
export interface Behavior {
  readonly kind: BehaviorKind;
  /** How long containers run before they end, or the pod stays before it is evicted. @default 0 */
  readonly after?: Duration;
  /** @default 0 for `succeed`, 137 for `oom-killed`, 1 otherwise */
  readonly exitCode?: number;
  /** How often containers fail before they run at last. @default every time */
  readonly times?: number;
  /** How long it takes to create the containers. @default 0 */
  readonly startAfter?: Duration;
  /**
   * How long running containers take to be ready.
   *
   * @default the initial delay of their startup and readiness probes
   */
  readonly readyAfter?: Duration;
  /**
   * How long containers take to stop when the pod is deleted, never longer than its grace period;
   * `grace` for all of that.
   *
   * @default 0
   */
  readonly linger?: Duration | "grace";
  /** The one container that this is about; the others run. @default all */
  readonly container?: string;
  /** What the container writes, for `kubectl logs`. @default nothing */
  readonly logs?: string | ((pod: Pod, container: string) => string);
}

/** A behavior with its times in milliseconds. */
export interface TimedBehavior extends Omit<Behavior, "after" | "startAfter" | "readyAfter" | "linger"> {
  readonly afterMs?: number;
  readonly startAfterMs?: number;
  readonly readyAfterMs?: number;
  readonly lingerMs?: number | "grace";
}

/** Whether a container that behaves so comes to an end by itself, having ended so often already. */
export function ends({ kind, times }: TimedBehavior, restarts: number): boolean {
  if (times !== undefined && restarts >= times) return false;
  return kind === "succeed" || kind === "fail" || kind === "crash-loop" || kind === "oom-killed";
}

/** How a container that ends does so. */
export function exitOf({ kind, exitCode }: Behavior): { exitCode: number; reason: string } {
  if (kind === "oom-killed") return { exitCode: exitCode ?? 137, reason: "OOMKilled" };
  const code = exitCode ?? (kind === "succeed" ? 0 : 1);
  return { exitCode: code, reason: code === 0 ? "Completed" : "Error" };
}
