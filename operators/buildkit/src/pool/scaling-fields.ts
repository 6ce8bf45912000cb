import { cel, listMap } from "@windlass/runtime";
import { z } from "zod";
import { cron, positiveSpan, span, timeZone } from "../fields.ts";

/**
 * Accepted because manifests of the original have it. The pool's condition `FieldsIgnored` names it
 * if it is set.
 */
const ignored = "Has no effect; accepted from manifests of the original";

const count = z.int32().min(0).max(1_000);

const window = z
  .object({
    name: z.string().min(1).max(63).describe("What the window is for"),
    start: cron.describe("When it begins, in cron's five fields"),
    duration: positiveSpan.describe("How long it lasts"),
    timeZone: timeZone.default("UTC").describe("Where `start` is meant"),
    min: count.describe("How many idle workers are kept warm while it lasts"),
  })
  .describe("A span of time with a warm minimum of its own");

/** How many workers there are. */
export const scaling = z
  .object({
    mode: z
      .enum(["auto", "manual", "dynamic"])
      .default("auto")
      .describe(
        "auto: `min` idle workers, more on demand. manual: always `min` workers, none on demand. dynamic: as auto, with one more idle worker for every `targetActiveConnections` workers in use",
      ),
    min: count.default(0).describe("Idle workers to keep warm; in manual mode, workers in all"),
    max: z.int32().min(1).max(1_000).default(10).describe("Workers in all, whatever their phase"),
    scaleDownDelay: span.default("15m").describe("How long a worker stays idle before it is removed"),
    drainTimeout: span
      .default("1h")
      .describe("How long a worker that is to go may finish its builds. Builds are cut after that"),
    provisionTimeout: positiveSpan
      .default("10m")
      .describe("How long a worker's pod may take to be ready, waiting for a node included"),
    failedWorkersKept: z
      .int32()
      .min(0)
      .max(100)
      .default(2)
      .describe(
        "Failed workers that are kept for a look at them; they count towards `max` only while there is room",
      ),
    reuse: z
      .enum(["never", "sameIdentity", "sameAffinity", "pool"])
      .default("pool")
      .describe("Who may be given a worker that was used before"),
    pruneOnRelease: z
      .boolean()
      .default(false)
      .describe(
        "Empties the cache of a worker that is released before anyone else is given it. A worker whose cache cannot be emptied goes",
      ),
    windows: z
      .array(window)
      .max(32)
      .check(listMap("name"))
      .default([])
      .describe("Other warm minimums at other times. Of several that overlap the largest counts"),
    scaleDownSchedule: cron
      .optional()
      .describe("When idle workers are let go: from then on, for `scaleDownFor`, none is kept warm"),
    scaleDownFor: positiveSpan.default("8h").describe("How long a scale-down by schedule lasts"),
    timeZone: timeZone.default("UTC").describe("Where `scaleDownSchedule` is meant"),
    targetActiveConnections: z
      .int32()
      .min(1)
      .default(10)
      .describe("In dynamic mode, the workers in use for each idle one"),
    targetCPUUtilization: z.int32().min(1).max(100).optional().describe(ignored),
    targetMemoryUtilization: z.int32().min(1).max(100).optional().describe(ignored),
  })
  .check(
    cel("self.min <= self.max", {
      message: "must not exceed max",
      fieldPath: ".min",
    }),
    cel("self.windows.all(w, w.min <= self.max)", {
      message: "the min of a window must not exceed max",
      fieldPath: ".windows",
    }),
  );

/** How requests wait that no worker can serve yet. */
export const queue = z.object({
  maxLength: z.int32().min(0).max(10_000).default(1_000).describe("Requests that may wait at a time"),
  maxWait: positiveSpan.default("30m").describe("How long a request may wait"),
  affinityWait: span
    .default("10s")
    .describe("How long a request waits for the worker that has its cache while others are idle"),
});
