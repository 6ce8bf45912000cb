import type { DialFault } from "./dialer.ts";
import type { Route, WorkerAddress } from "./lookup.ts";
import {
  type Refusal,
  revokedAllocation,
  unknownAllocation,
  workerLost,
  workerStarting,
  workerUnreachable,
  wrongWorker,
} from "./refusal.ts";

/** How long a client is kept waiting. Times are milliseconds. */
export interface SetupRules {
  /** In all. gRPC clients give a connection 20 seconds. */
  readonly holdMs: number;
  /** For the gateway to learn of an allocation that the API has granted a moment ago. */
  readonly lookupLagMs: number;
  /** For a worker that is ready to be reached, attempt after attempt. */
  readonly reachMs: number;
  /** For one attempt. */
  readonly dialMs: number;
  /** Between two attempts to reach the same worker. */
  readonly retryMs: number;
}

/** An attempt to reach a worker that failed. */
export interface DialFailure {
  /** When this worker was tried first. */
  readonly since: number;
  /** When it was tried last. */
  readonly at: number;
  readonly worker: WorkerAddress;
  readonly fault: DialFault;
  /** In words, or the code of the error. */
  readonly detail: string;
}

/** What to do next for a client that waits for its worker. */
export type Move =
  | { readonly do: "dial"; readonly worker: WorkerAddress; readonly withinMs: number }
  /** Until then, or until the route changes. */
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "refuse"; readonly refusal: Refusal };

/** Decides what to do for a client that came at `startedAt`. Pure. */
export function nextMove(
  route: Route,
  { startedAt, failure }: { readonly startedAt: number; readonly failure: DialFailure | undefined },
  now: number,
  rules: SetupRules,
): Move {
  const waitOr = (until: number, refusal: Refusal): Move =>
    now < until ? { do: "wait", until } : { do: "refuse", refusal };
  const end = startedAt + rules.holdMs;
  switch (route.at) {
    case "unknown":
      return waitOr(startedAt + rules.lookupLagMs, unknownAllocation);
    case "starting":
      return waitOr(end, workerStarting(route.worker));
    case "revoked":
      return { do: "refuse", refusal: revokedAllocation(route.reason) };
    case "lost":
      return { do: "refuse", refusal: workerLost(route.worker, route.reason) };
    case "ready": {
      const { worker } = route;
      const last = failure && isSameWorker(failure.worker, worker) ? failure : undefined;
      if (!last) return { do: "dial", worker, withinMs: rules.dialMs };
      if (last.fault === "untrusted") return { do: "refuse", refusal: wrongWorker(worker.name, last.detail) };
      if (last.fault === "gone" || now >= last.since + rules.reachMs)
        return { do: "refuse", refusal: workerUnreachable(worker.name, last.detail) };
      const retryAt = last.at + rules.retryMs;
      return now < retryAt ? { do: "wait", until: retryAt } : { do: "dial", worker, withinMs: rules.dialMs };
    }
  }
}

/** Why live connections on a route must end; undefined if they need not. */
export function endOf(route: Route): Refusal | undefined {
  switch (route.at) {
    case "unknown":
      return unknownAllocation;
    case "revoked":
      return revokedAllocation(route.reason);
    case "lost":
      return workerLost(route.worker, route.reason);
    case "starting":
    case "ready":
      return undefined;
  }
}

/** Whether two addresses lead to the same worker. */
export function isSameWorker(one: WorkerAddress, other: WorkerAddress): boolean {
  return one.host === other.host && one.port === other.port && one.serverName === other.serverName;
}
