import { spanMs } from "../span.ts";
import { longestLifeMs } from "../worker/lifetime.ts";
import type { Worker } from "../worker/worker.ts";
import type { Pool } from "./pool.ts";
import type { WorkerSeen } from "./scaling.ts";
import type { scheduledAt } from "./schedule.ts";
import { phaseOf } from "./status.ts";

/** What a pool says of its size, at a moment of its schedule. */
export function scalingRules(
  { spec: { scaling } }: Pool,
  { min, isScaledDown }: ReturnType<typeof scheduledAt>,
) {
  return {
    mode: scaling.mode,
    min,
    max: scaling.max,
    idleMs: isScaledDown ? 0 : spanMs(scaling.scaleDownDelay, "spec.scaling.scaleDownDelay"),
    failedKept: scaling.failedWorkersKept,
    usedPerIdle: scaling.targetActiveConnections,
    reuse: scaling.reuse,
  };
}

/** A worker as it counts for the size of its pool. */
export function seenWorker(worker: Worker, configHash: string, now: number): WorkerSeen {
  const { metadata, spec, status } = worker;
  const born = Date.parse(metadata.creationTimestamp ?? new Date(now).toISOString());
  const isYoung = now < born + longestLifeMs;
  return {
    name: metadata.name,
    slot: spec.slot,
    phase: phaseOf(worker),
    since: Date.parse(status?.phaseSince ?? metadata.creationTimestamp ?? new Date(now).toISOString()),
    isDeleted: metadata.deletionTimestamp !== undefined,
    isClaimed: spec.allocation !== undefined,
    isCurrent: isYoung && (status?.configHash === undefined || status.configHash === configHash),
    affinityKey: status?.affinityKey,
    madeFor: spec.affinityKey,
    lastUsedBy: status?.lastUsedBy,
  };
}
