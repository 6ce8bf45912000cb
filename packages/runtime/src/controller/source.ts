import type { ObjectKey } from "@windlass/client";
import { type Clock, type Duration, milliseconds, type Random } from "@windlass/clock";
import type { CacheReader } from "../cache/contract.ts";
import type { Logger } from "../logging/logger.ts";

/** What a source outside Kubernetes is handed. */
export interface SourceContext {
  /** Asks for a reconcile of this object. */
  readonly enqueue: (key: ObjectKey) => void;
  /** Asks for a reconcile of every object of the controller's kind, behind what is waiting. */
  readonly enqueueAll: () => void;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Something outside Kubernetes that asks for reconciles: a timer, an HTTP server, a message queue,
 * a file.
 *
 * Either keys as they come (an async iterable), or a function that calls `enqueue` and returns when
 * it is done, or returns the way to stop. A function that throws is started again, after a second
 * and then ever later up to half a minute.
 *
 * A source starts whenever its controller does, which under leader election may be more than once.
 * What can be gone through only once, such as a generator's result, should come from a function.
 *
 * @example
 * sources: [({ enqueue, signal }) => listenForWebhooks((pool) => enqueue({ namespace: "ci", name: pool }), signal)]
 */
export type Source =
  | AsyncIterable<ObjectKey>
  | ((context: SourceContext) => SourceRun | void | Promise<SourceRun> | Promise<void>);

/** What a source's function may return: nothing, the way to stop it, or keys as they come. */
export type SourceRun = undefined | (() => void) | AsyncIterable<ObjectKey>;

/**
 * A source that asks for all objects at a fixed interval.
 *
 * @throws RangeError for an invalid interval, or 0.
 */
export function every(interval: Duration): Source {
  const intervalMs = milliseconds(interval, "every: the interval");
  if (intervalMs === 0) throw new RangeError("every: the interval must be above 0");
  return ({ clock, enqueueAll }) => {
    let cancel = clock.schedule(intervalMs, function tick() {
      cancel = clock.schedule(intervalMs, tick);
      enqueueAll();
    });
    return () => cancel();
  };
}
