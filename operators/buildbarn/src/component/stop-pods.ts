import { condition, type ObjectMeta, type ReconcileContext } from "@windlass/runtime";
import { Deployment, type StatefulSet } from "@windlass/runtime/kinds";
import type { ComponentObject } from "../set/index.ts";
import { lostNodeMs as defaultLostNodeMs, type Worker, workerStopMs } from "../worker/worker.ts";

/** How soon a component that is being deleted is looked at again, should no event come. */
const lookMs = 30_000;
/** How far apart the deletions of components may come that were asked for at once. */
const togetherMs = 5_000;

type Deleting = Pick<ObjectMeta, "finalizers" | "deletionTimestamp">;

/** How long pods are waited for. */
export interface StopDependencies {
  /**
   * How long after its pods should have stopped a resource goes without them: their node may be
   * gone.
   *
   * @default 120_000
   */
  readonly lostNodeMs?: number;
}

/** Which pods are to stop. */
export interface StopInput extends StopDependencies {
  /** @default Deployment */
  readonly kind?: typeof Deployment | typeof StatefulSet;
  /** The name of the workload. @default that of the component */
  readonly name?: string;
}

/**
 * Keeps a component that is being deleted until its pods have stopped: what they write while they
 * stop is written, and once the component is gone nothing of it runs. A pod on a node that is lost
 * never stops, so the wait is bounded.
 */
export async function stopPods<S extends object>(
  object: { readonly metadata: Deleting; readonly status?: S | undefined },
  context: Pick<ReconcileContext, "owned" | "delete" | "key" | "clock" | "events">,
  { kind = Deployment, name = context.key.name, lostNodeMs = defaultLostNodeMs }: StopInput = {},
) {
  const workload = context.owned(kind, name);
  if (workload === undefined || isOrphaning(object)) return undefined;
  const { deletionTimestamp } = workload.metadata;
  if (deletionTimestamp === undefined)
    await context.delete(kind, workload, { propagationPolicy: "Foreground" });
  const { terminationGracePeriodSeconds: graceSeconds = 30 } = workload.spec?.template.spec ?? {};
  const now = context.clock.now();
  const began = deletionTimestamp === undefined ? now : timeOf(deletionTimestamp);
  const left = began + graceSeconds * 1_000 + lostNodeMs - now;
  if (left > 0) return waiting(object.status, "its pods are stopping", Math.min(lookMs, left));
  context.events.warning(
    "PodsLost",
    `pods of ${kind.kind} ${name} did not stop in their time, and are waited for no longer`,
  );
  return undefined;
}

/**
 * Keeps a component while workers of its set are being deleted too: they need their scheduler, the
 * shards and those who wait at a frontend to end what they run. Components may be deleted one by
 * one, in any order, so the deletion of workers is waited for for a moment.
 */
export function afterWorkers<S extends object>(
  object: {
    readonly metadata: Deleting;
    readonly spec: Pick<ComponentObject["spec"], "cluster">;
    readonly status?: S | undefined;
  },
  workersOfNamespace: readonly Worker[],
  now: number,
) {
  if (isOrphaning(object)) return undefined;
  const workers = workersOfNamespace.filter(({ spec }) => spec.cluster === object.spec.cluster);
  const stopping = workers.filter((worker) => timeToStop(worker, now) > 0);
  if (stopping.length > 0) {
    const names = stopping.map(({ metadata }) => metadata.name).toSorted();
    const longest = Math.max(...stopping.map((worker) => timeToStop(worker, now)));
    const message = `workers of the set end their actions first: ${names.join(", ")}`;
    return waiting(object.status, message, Math.min(lookMs, longest));
  }
  const left = timeOf(object.metadata.deletionTimestamp) + togetherMs - now;
  const mayFollow = workers.some(({ metadata }) => metadata.deletionTimestamp === undefined);
  return mayFollow && left > 0
    ? waiting(object.status, "workers of the set may be deleted too", left)
    : undefined;
}

/** For how long a worker that is being deleted may still end its actions; 0 for all others. */
function timeToStop({ metadata, spec }: Worker, now: number): number {
  if (metadata.deletionTimestamp === undefined) return 0;
  return Math.max(0, timeOf(metadata.deletionTimestamp) + workerStopMs(spec) - now);
}

/** Deleted with --cascade=orphan, it leaves what it has made in place. */
function isOrphaning({ metadata }: { readonly metadata: Deleting }): boolean {
  return metadata.finalizers?.includes("orphan") ?? false;
}

function timeOf(timestamp: string | undefined): number {
  return timestamp === undefined ? 0 : Date.parse(timestamp);
}

function waiting<S extends object>(status: S | undefined, message: string, requeueAfter: number) {
  return {
    status: {
      ...(status as S),
      state: "NotReady" as const,
      conditions: [
        condition("Ready", false, "Deleting", message),
        condition("Progressing", true, "Deleting", message),
      ],
    },
    requeueAfter,
  };
}
