import { z } from "zod";
import { time } from "../fields.ts";

const count = z.int32().min(0);

/** What is known of a pool. */
export const poolStatus = z.object({
  phase: z.enum(["Pending", "Running", "ScaledToZero", "Draining", "Failed"]).optional(),
  endpoint: z
    .string()
    .optional()
    .describe("Where clients in the cluster connect: tcp://<pool>.<namespace>.svc:<port>"),
  externalEndpoint: z.string().optional().describe("Where clients outside of the cluster connect"),
  hostnames: z
    .array(z.string())
    .optional()
    .describe("The names outside of the cluster that the pool has: no pool of another namespace gets them"),
  gateway: z
    .object({
      ready: z.boolean(),
      replicas: count,
      readyReplicas: count,
      deploymentName: z.string(),
      serviceName: z.string(),
    })
    .optional(),
  workers: z
    .object({
      total: count,
      ready: count.describe("Idle, allocated or running"),
      idle: count,
      allocated: count.describe("Allocated or running"),
      running: count.describe("With a build under way"),
      provisioning: count.describe("Pending or provisioning"),
      terminating: count,
      failed: count,
      desired: count.describe("How many there should be"),
      needed: count.describe("How many are still missing"),
    })
    .optional(),
  selector: z.string().optional().describe("Selects the workers' pods, for kubectl scale"),
  queue: z.object({ length: count, oldest: time.optional() }).optional().describe("Requests that wait"),
  connections: z
    .object({ active: count.describe("Workers that are allocated"), lastConnectionTime: time.optional() })
    .optional(),
  cacheSlots: z
    .array(
      z.object({
        slot: count.describe("Of the worker, and in the volume's name"),
        volume: z.string().describe("The PersistentVolumeClaim"),
        affinityKey: z.string().optional().describe("Whose cache it has"),
        lastUsedAt: time.optional(),
      }),
    )
    .optional()
    .describe("The volumes that keep cache"),
  cacheOptions: z
    .object({
      import: z.array(z.string()).describe("For --import-cache, or --cache-from"),
      export: z.array(z.string()).describe("For --export-cache, or --cache-to"),
    })
    .optional()
    .describe("What clients give buildctl or buildx to use the cache backends"),
  serverCert: z
    .object({ notBefore: time, notAfter: time, renewalTime: time })
    .optional()
    .describe("The certificate that clients are shown"),
  tlsSecretName: z.string().optional(),
  clientCertsSecretName: z.string().optional(),
  tokenKeysSecretName: z.string().optional(),
  failures: z
    .object({ count, lastAt: time })
    .optional()
    .describe("Workers that failed in a row: the next ones wait for a while"),
  configHash: z.string().optional().describe("Of what new workers are made from"),
  lastActivityTime: time.optional(),
  lastScaleTime: time.optional(),
});
