import { cel, defineResource, immutable, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { common, objectName, positiveSpan, time } from "../fields.ts";
import { affinityKey } from "../worker/worker.ts";

/**
 * A request for a worker that none could serve at once. It exists while it waits: the API makes it,
 * renews it while its client waits, and deletes it once a worker is claimed for it or its client
 * has gone. The pool's controller makes workers for it.
 */
export const BuildKitRequest = defineResource({
  ...common,
  kind: "BuildKitRequest",
  shortNames: ["bkr"],
  description: "A request for a worker that waits for one",
  spec: z.object({
    poolRef: z.object({ name: objectName }).check(immutable("a request cannot change its pool")),
    jobId: z.string().min(1).max(253),
    requestedBy: z.string().min(1).max(512).describe("The identity that asked"),
    requestedAt: time.describe("When, to the millisecond: it decides whose turn it is"),
    waitUntil: time.describe(
      "The request counts until then, and is deleted after. Renewed while its client waits",
    ),
    priority: z.int32().min(-1_000).max(1_000).default(0).describe("Higher comes first"),
    affinityKey: affinityKey.exactOptional().describe("Whose cache it prefers"),
    tokenHash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .exactOptional()
      .describe("SHA-256 of the allocation's id, if it has one already"),
    ttl: positiveSpan
      .check(cel("duration(self) <= duration('24h')", "must be at most 24h"))
      .exactOptional()
      .describe("How long the allocation is to last. Default: the pool's gateway.tokenTTL"),
    metadata: z.record(z.string(), z.string().max(1_024)).exactOptional().describe("The client's own words"),
  }),
  printerColumns: [
    { name: "Pool", jsonPath: ".spec.poolRef.name" },
    { name: "User", jsonPath: ".spec.requestedBy" },
    { name: "JobID", jsonPath: ".spec.jobId", priority: 1 },
    { name: "Priority", jsonPath: ".spec.priority", type: "integer", priority: 1 },
    { name: "Until", jsonPath: ".spec.waitUntil" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** A request as it is read. */
export type WaitingRequest = ObjectOf<typeof BuildKitRequest>;
