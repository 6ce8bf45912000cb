import type { Worker } from "../worker/worker.ts";
import type { Failures } from "./scaling.ts";

/**
 * The failures in a row, from those that were counted before and from the workers there are. It
 * must outlast the failed workers, which do not all stay. A worker that a client had did come up:
 * what ended it says nothing of the next one, for which other clients would wait.
 */
export function failuresOf(before: Failures, workers: readonly Worker[]): Failures {
  const times = (phase: (worker: Worker) => string | undefined) =>
    workers.flatMap((worker) => {
      const text = phase(worker);
      return text === undefined ? [] : [Date.parse(text)];
    });
  const hasServed = ({ status }: Worker) => (status?.allocationCount ?? 0) > 0;
  const failed = times((worker) =>
    worker.status?.phase === "Failed" && !hasServed(worker) ? worker.status.phaseSince : undefined,
  );
  const ready = times(({ status }) => status?.readyAt);
  const lastReady = Math.max(0, ...ready);
  const kept = lastReady > before.lastAt ? { count: 0, lastAt: 0 } : before;
  const fresh = failed.filter((at) => at > kept.lastAt && at >= lastReady);
  return fresh.length === 0
    ? kept
    : { count: kept.count + fresh.length, lastAt: Math.max(kept.lastAt, ...fresh) };
}
