import { z } from "zod";
import { spanMs } from "../span.ts";
import { longestTtlMs } from "../tokens/index.ts";

/*
 * The field names are the original's, so that its clients work. Whatever else a client sends is
 * ignored, as there.
 */

/** A span of time above zero as Go writes it: `90s`, `1h30m`. */
const span = z
  .string()
  .max(32)
  .refine((text) => /^([0-9]+([.][0-9]+)?(ms|s|m|h))+$/.test(text) && spanMs(text, "span") > 0, {
    error: "must be a span of time above 0, such as 30m or 1h30m",
  })
  .describe("A span of time, such as 30m or 1h30m");

/** The longest that one call waits. */
export const longestWaitMs = 5 * 60_000;

const wait = z
  .string()
  .max(32)
  .refine((text) => /^([0-9]+([.][0-9]+)?(ms|s|m|h))+$/.test(text) && spanMs(text, "wait") <= longestWaitMs, {
    error: "must be a span of time of at most 5m, such as 25s",
  })
  .describe(
    "How long the call waits before it is answered with 202. Without, it waits up to 5m and then fails with 503",
  );

const poolName = z.string().min(1).max(253);
const namespace = z.string().min(1).max(253);
const metadata = z
  .record(z.string().min(1).max(128), z.string().max(1_024))
  .refine((entries) => Object.keys(entries).length <= 32, { error: "must have at most 32 entries" })
  .describe("The client's own words, kept with the allocation");
const jobId = z
  .string()
  .min(1)
  .max(253)
  .describe(
    "The client's name for what it wants a worker for. Asked again, it is given the same worker and token",
  );
const csr = z
  .string()
  .max(16_384)
  .describe("A PKCS#10 request in PEM. The answer then has a certificate for its key, and no key");
const token = z.string().min(1).max(512).describe("An allocation's token");

const platforms = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(16)
  .refine((all) => new Set(all).size === all.length, { error: "must not name a platform twice" });

/** The body of a request for a worker. */
export const allocateRequest = z.object({
  poolName,
  namespace: namespace.default("default"),
  jobId: jobId.optional(),
  ttl: span.optional().describe("How long the allocation lasts. At most what the pool allows, and 24h"),
  metadata: metadata.optional(),
  wait: wait.optional(),
  affinityKey: z
    .string()
    .min(1)
    .max(253)
    .optional()
    .describe("Whose cache it prefers, such as a project's name"),
  priority: z
    .int()
    .min(-1_000)
    .max(1_000)
    .optional()
    .describe("Higher comes first. Above 0 for administrators alone"),
  csr: csr.optional(),
  platforms: platforms
    .optional()
    .describe(
      "A worker for each, of the pool or of those that it names for other platforms; or none at all. Answered with nodes",
    ),
});

/** The body of a request to end a job. */
export const jobRequest = z.object({
  poolName,
  namespace: namespace.default("default"),
  jobId,
  platforms: platforms.optional().describe("Those that it asked for"),
});

/** The body of a request that names an allocation by its token. */
export const tokenRequest = z.object({ token });

/** The body of a request to renew an allocation. */
export const renewRequest = z.object({ token, ttl: span.optional(), csr: csr.optional() });

/** The body of a request for a client certificate. */
export const certificateRequest = z.object({
  pools: z.array(z.string().min(1).max(320)).min(1).max(100).describe("As name, or namespace/name"),
  namespace: namespace.default("default").describe("Of pools that are given by name alone"),
  duration: span.optional().describe("How long the certificate holds. At most 24h"),
  csr: csr.optional(),
});

/** The body of a request for a worker, as the original's clients send it. */
export const legacyAllocateRequest = z
  .object({
    poolName: poolName.optional(),
    poolSelector: z
      .object({ labels: z.record(z.string(), z.string()).optional() })
      .optional()
      .describe("Labels of a pool, instead of its name"),
    namespace: namespace.default("default"),
    useExistingCerts: z.boolean().optional(),
    certSecretName: z.string().max(253).optional(),
    duration: span.optional(),
    jobId: jobId.optional(),
    metadata: metadata.optional(),
  })
  .describe("The original's older form");

/** The query of requests about a namespace. */
export const namespaceQuery = z.object({ namespace: namespace.default("default") });
/** The query of lists. */
export const listQuery = z.object({ namespace: namespace.optional() });
/** The query of requests about an operation. */
export const operationQuery = z.object({ wait: wait.optional() });

const cacheOptions = z
  .object({
    import: z.array(z.string()).describe("For --import-cache, or --cache-from"),
    export: z.array(z.string()).describe("For --export-cache, or --cache-to"),
  })
  .describe("What to give buildctl or buildx to use the pool's cache backends");

const base64Pem = z.string().describe("PEM in base64");

const allocated = z.object({
  workerName: z.string(),
  token,
  endpoint: z.string().describe("Of the worker, for information: only its gateway reaches it"),
  gatewayEndpoint: z.string().describe("Where the client connects to"),
  externalGatewayEndpoint: z.string().optional().describe("The same from outside of the cluster"),
  expiresAt: z.iso.datetime(),
  caCert: base64Pem,
  clientCert: base64Pem,
  clientKey: base64Pem.optional().describe("PEM in base64. Missing if the request had a csr"),
  poolName: z.string(),
  namespace: z.string(),
  jobId: z.string(),
  allocationId: z.string(),
  cacheOptions: cacheOptions.optional(),
});

/** The answer with a worker. */
export const allocateResponse = allocated.extend({
  nodes: z
    .array(allocated.extend({ platform: z.string() }))
    .optional()
    .describe("With platforms: the worker of each, the first of which stands outside of the list too"),
});

/** The answer to a client that has to wait for a worker. */
export const waitingResponse = z.object({
  allocationId: z.string().describe("For GET /api/v1/allocations/{id}"),
  state: z.enum(["Queued", "Provisioning"]),
  position: z.int().min(0).describe("How many are in front"),
  estimatedWaitSeconds: z.int().min(0).optional(),
});

/** The answer about an allocation. */
export const lookupResponse = z.object({
  workerEndpoint: z.string(),
  workerName: z.string(),
  poolName: z.string(),
  namespace: z.string(),
  expiresAt: z.iso.datetime(),
});

/** The answer to a release. */
export const releaseResponse = z.object({ status: z.literal("released") });

/** The answer with a client certificate. */
export const certificateResponse = z.object({
  caCert: z.string().describe("PEM"),
  clientCert: z.string().describe("PEM"),
  clientKey: z.string().optional().describe("PEM. Missing if the request had a csr"),
  expiresAt: z.iso.datetime(),
  endpoints: z.record(z.string(), z.string()).describe("By pool, as it was asked for"),
});

/** The answer with a gateway's certificate. */
export const gatewayCertificateResponse = z.object({
  name: z.string(),
  namespace: z.string(),
  caCert: z.string().describe("PEM: what clients of the pool have to trust"),
  certificate: z.string().describe("PEM: what its gateways show"),
  serialNumber: z.string(),
  notBefore: z.iso.datetime(),
  notAfter: z.iso.datetime(),
});

const poolSummary = z.object({
  name: z.string(),
  namespace: z.string(),
  endpoint: z.string(),
  externalEndpoint: z.string().optional(),
  status: z.string().describe("The phase: Pending, Running, ScaledToZero, Draining or Failed"),
});

/** The answer with all pools. */
export const poolsResponse = z.object({ pools: z.array(poolSummary) });

/** The answer about a pool. */
export const poolResponse = poolSummary.extend({
  ready: z.boolean().describe("Whether a worker is idle at this moment"),
  workers: z.record(z.string(), z.int()),
  queue: z.object({ length: z.int() }),
  defaultTTL: z.string(),
  maxTTL: z.string(),
  cacheOptions: cacheOptions.optional(),
});

/** The answer to a request to wake a pool. */
export const wakeResponse = z.object({ endpoint: z.string(), poolName: z.string(), ready: z.boolean() });

/** The answer with a worker, as the original's clients read it. */
export const legacyAllocateResponse = z.object({
  endpoint: z.string(),
  caCert: base64Pem,
  clientCert: base64Pem,
  clientKey: base64Pem,
  poolName: z.string(),
  ready: z.boolean(),
  workerName: z.string(),
  allocationToken: z.string(),
});

/** The answer to a request that failed. */
export const problemResponse = z.object({
  code: z.string().describe("One word for programs"),
  message: z.string().describe("For people"),
  details: z.record(z.string(), z.unknown()),
});

/** The longest that anything is granted for. */
export const longestGrantMs = longestTtlMs;
