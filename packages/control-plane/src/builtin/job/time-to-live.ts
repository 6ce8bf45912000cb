import type { Job } from "@windlass/kinds/builtin";
import { type ControllerDependencies, ownKey, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  isDeleting,
  stored,
} from "../../controllers/objects.ts";
import { millisOf } from "../../json-fields.ts";
import { finishedCondition } from "./end.ts";

/** Deletes Jobs so long after their end as they say. */
export function startTtlAfterFinished(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const jobs = builtin<Job>(registry, "batch", "v1", "jobs");
  const context = controllerContext("ttl-after-finished-controller");
  return startLoop(deps, {
    name: "ttl-after-finished-controller",
    watches: { [jobs.bucket]: ownKey },
    reconcile: async (key) => {
      const job = stored(registry, jobs, key);
      const seconds = job?.spec.ttlSecondsAfterFinished;
      const ended = job && finishedCondition(job);
      if (!job || isDeleting(job) || seconds === undefined || !ended) return undefined;
      const endedAt = millisOf(ended.lastTransitionTime);
      if (endedAt === undefined) return undefined;
      const left = endedAt + seconds * 1_000 - registry.clock.now();
      if (left > 0) return { requeueAfterMs: left };
      await deleteIfPresent(registry, jobs, job, context);
      return undefined;
    },
  });
}
