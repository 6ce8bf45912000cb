import { defineResource, immutable, type ObjectOf } from "@windlass/runtime";
import { z } from "zod";
import { common, namespaceName, objectName, time } from "../fields.ts";

/** The phases of a worker, the original's. */
export const workerPhases = [
  "Pending",
  "Provisioning",
  "Idle",
  "Allocated",
  "Running",
  "Terminating",
  "Failed",
] as const;

/** Where a worker is in its life. */
export type WorkerPhase = (typeof workerPhases)[number];

/** Whose work a worker's cache is warm for. */
export const affinityKey = z.string().min(1).max(253);

const tokenHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("SHA-256 of the allocation's id, which its tokens carry. No token can be made from it");
const requestedBy = z.string().min(1).max(512).describe("The identity that asked for it");

const allocation = z.object({
  jobId: z.string().min(1).max(253).describe("The job it is for: the same again is the same allocation"),
  tokenHash,
  requestedBy,
  allocatedAt: time,
  expiresAt: time.describe("When its last token expires. The worker goes once its builds are done"),
  affinityKey: affinityKey.exactOptional().describe("Whose cache it uses, such as a project's name"),
  metadata: z.record(z.string(), z.string().max(1_024)).exactOptional().describe("The client's own words"),
});

/** A worker that runs buildkitd in a pod of its own, for one allocation at a time. */
export const BuildKitWorker = defineResource({
  ...common,
  kind: "BuildKitWorker",
  shortNames: ["bkw"],
  description: "A buildkitd in a pod of its own, for one allocation at a time",
  spec: z.object({
    poolRef: z
      .object({ name: objectName, namespace: namespaceName.exactOptional() })
      .check(immutable("a worker cannot change its pool"))
      .describe("The pool it is of, in its own namespace"),
    slot: z
      .int32()
      .min(0)
      .max(999)
      .default(0)
      .check(immutable("a worker cannot change its slot"))
      .describe("Its place in the pool: in its name, and in that of its cache volume"),
    affinityKey: affinityKey
      .exactOptional()
      .describe("Whose request it was made for. Anyone may be given it: nothing is in its cache yet"),
    allocation: allocation
      .exactOptional()
      .describe("Who it works for. Set by compare-and-swap; taken off to release the worker"),
    lastAllocation: z
      .object({ tokenHash, requestedBy, affinityKey: affinityKey.exactOptional() })
      .exactOptional()
      .describe("Who it worked for before. Set when an allocation is taken off"),
  }),
  status: z.object({
    phase: z.enum(workerPhases).optional(),
    reason: z.string().optional().describe("Why it is in this phase, in one word"),
    message: z.string().optional().describe("Why it is in this phase"),
    podName: z.string().optional(),
    podIP: z.string().optional(),
    nodeName: z.string().optional(),
    endpoint: z.string().optional().describe("Where its pool's gateways reach it: tcp://<podIP>:1234"),
    createdAt: time.optional().describe("When its pod was made"),
    readyAt: time.optional().describe("When it was ready first"),
    phaseSince: time.optional().describe("Since when it is in this phase"),
    idleSince: time.optional().describe("The same while it is idle"),
    lastActivityAt: time.optional().describe("When it was last seen to build, or was allocated or released"),
    activeBuilds: z.int32().min(0).optional(),
    allocationCount: z.int().min(0).optional().describe("How often it was allocated"),
    allocatedTo: z.string().optional().describe("The hash of the allocation that was counted last"),
    lastUsedBy: z.string().optional().describe("The identity that it was allocated to last"),
    affinityKey: z
      .string()
      .optional()
      .describe("Whose cache it has: that of its last allocation, or of its volume"),
    drainingSince: time.optional().describe("Since when it is to go as soon as its builds have ended"),
    suspectSince: time.optional().describe("Since when it has not answered"),
    configHash: z.string().optional().describe("Of what its pod was made from"),
    volume: z.string().optional().describe("The PersistentVolumeClaim that keeps its cache"),
  }),
  selectableFields: [".spec.poolRef.name", ".spec.allocation.jobId"],
  validations: [
    {
      rule: "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      message: "metadata.name must begin with a letter and have at most 63 letters, digits and '-'",
    },
  ],
  printerColumns: [
    { name: "Pool", jsonPath: ".spec.poolRef.name" },
    { name: "Phase", jsonPath: ".status.phase" },
    { name: "Pod", jsonPath: ".status.podName" },
    { name: "JobID", jsonPath: ".spec.allocation.jobId", priority: 1 },
    { name: "User", jsonPath: ".spec.allocation.requestedBy", priority: 1 },
    { name: "Builds", jsonPath: ".status.activeBuilds", type: "integer", priority: 1 },
    { name: "Affinity", jsonPath: ".status.affinityKey", priority: 1 },
    { name: "Why", jsonPath: ".status.message", priority: 1 },
    { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date" },
  ],
});

/** A worker as it is read. */
export type Worker = ObjectOf<typeof BuildKitWorker>;

/** Who a worker works for. */
export type Allocation = NonNullable<Worker["spec"]["allocation"]>;
