import { field, type StoredObject } from "../storage/store.ts";
import { finishedCondition } from "./job.ts";
import { type ControllerWorld, ownKey, type Running, startLoop } from "./loop.ts";
import { builtin, controllerContext, deleteIfPresent, isDeleting, timeAt } from "./objects.ts";

/** Deletes Jobs so long after their end as they say. */
export function startTtlAfterFinished(world: ControllerWorld): Running {
  const { registry } = world;
  const jobs = builtin(registry, "batch", "v1", "jobs");
  const context = controllerContext("ttl-after-finished-controller");
  return startLoop(world, {
    name: "ttl-after-finished-controller",
    watches: { [jobs.bucket]: ownKey },
    reconcile: async (key) => {
      const job = registry.store.get(jobs.bucket, key)?.object;
      const seconds = job && field(job, "spec", "ttlSecondsAfterFinished");
      const ended = job && finishedCondition(job);
      if (!job || isDeleting(job) || typeof seconds !== "number" || !ended) return undefined;
      const left = (timeAt(ended, "lastTransitionTime") ?? 0) + seconds * 1_000 - registry.clock.now();
      if (left > 0) return { requeueAfterMs: left };
      await deleteIfPresent(registry, jobs, job, context);
      return undefined;
    },
  });
}

const hour = 3_600_000;

/** Forgets events after an hour, as the real server's storage does. */
export function startEventExpiry(world: ControllerWorld): Running {
  const { registry } = world;
  const events = builtin(registry, "", "v1", "events");
  const context = controllerContext("event-expiry");
  return startLoop(world, {
    name: "event-expiry",
    watches: { [events.bucket]: ({ key, type }) => (type === "DELETED" ? [] : [key]) },
    reconcile: async (key) => {
      const event = registry.store.get(events.bucket, key)?.object;
      if (!event) return undefined;
      const left = lastSeen(event, registry.clock.now()) + hour - registry.clock.now();
      if (left > 0) return { requeueAfterMs: left };
      await deleteIfPresent(registry, events, event, context);
      return undefined;
    },
  });
}

function lastSeen(event: StoredObject, now: number): number {
  return (
    timeAt(event, "series", "lastObservedTime") ??
    timeAt(event, "lastTimestamp") ??
    timeAt(event, "eventTime") ??
    timeAt(event, "metadata", "creationTimestamp") ??
    now
  );
}
