import { cel, listMap, listSet, quantity } from "@windlass/runtime";
import { z } from "zod";
import { cron, filled, objectName, positiveSpan, span } from "../fields.ts";

/** Bytes as a quantity (`20Gi`), or a share of the disk (`60%`). */
const space = z
  .string()
  .max(32)
  .regex(/^([0-9]+([.][0-9]+)?([KMGTPE]i?|k)?|[1-9][0-9]?%|100%)$/);

const policy = z
  .object({
    all: z.boolean().default(false).describe("Counts internal and shared records too"),
    keepDuration: span.optional().describe("Records used since are kept"),
    reservedSpace: space.optional().describe("Kept whatever the other limits say"),
    maxUsedSpace: space.optional().describe("Records beyond it are removed"),
    minFreeSpace: space.optional().describe("Records are removed until so much of the disk is free"),
    filters: z.array(z.string().min(1).max(253)).max(16).default([]).describe("Which records it is about"),
  })
  .check(
    cel(
      "has(self.keepDuration) || has(self.reservedSpace) || has(self.maxUsedSpace) || has(self.minFreeSpace)",
      "must have a limit: keepDuration, reservedSpace, maxUsedSpace or minFreeSpace",
    ),
  );

const gc = z.object({
  enabled: z.boolean().default(true).describe("Whether buildkitd removes old cache by itself"),
  keepStorage: space.optional().describe("The original's name for maxUsedSpace"),
  keepDuration: span
    .default("1440h")
    .describe("Cache that was not used for so long goes first. Build contexts and cache mounts go after 48h"),
  reservedSpace: space.optional().describe("Cache that is always kept. Default: 10 % of the volume"),
  maxUsedSpace: space
    .optional()
    .describe("Cache beyond it is removed. Default: 75 % of the volume, or 60 % of a shared disk"),
  minFreeSpace: space.optional().describe("How much of the disk stays free. Default: 20 % of the volume"),
  policies: z
    .array(policy)
    .max(16)
    .default([])
    .describe("buildkitd's own policies, in order, instead of those made from the fields above"),
  schedule: cron
    .optional()
    .describe("Has no effect: buildkitd collects when it is idle. Accepted from manifests of the original"),
});

const registry = z.object({
  endpoint: z
    .string()
    .min(1)
    .max(512)
    .regex(/^[A-Za-z0-9.-]+(:[0-9]+)?(\/[a-z0-9._/-]+)?(:[A-Za-z0-9_.-]+)?$/)
    .describe("Registry and repository, such as registry.example.com:5000/cache"),
  mode: z.enum(["min", "max"]).default("max").describe("Which layers are exported"),
  compression: z.enum(["uncompressed", "gzip", "estargz", "zstd"]).default("zstd"),
  insecure: z.boolean().default(false).describe("Speaks plain HTTP with the registry"),
  credentialsSecret: objectName
    .optional()
    .describe(
      "Has no effect: buildkitd asks the client for its credentials. Accepted from manifests of the original",
    ),
});

const s3 = z.object({
  bucket: z
    .string()
    .min(3)
    .max(63)
    .regex(/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/),
  region: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[a-z0-9-]+$/),
  endpoint: z
    .string()
    .max(512)
    .regex(/^https?:\/\/[^ ]+$/)
    .optional()
    .describe("Of an S3 that is not Amazon's"),
  prefix: z.string().max(256).optional().describe("Put before the names of all objects"),
  credentialsSecret: objectName
    .optional()
    .describe("A Secret whose keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for the worker"),
});

const accessMode = z.enum(["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]);

const local = z.object({
  storageClass: objectName,
  size: quantity().describe("Of each volume"),
  accessMode: accessMode.default("ReadWriteOnce"),
});

const backend = z
  .object({
    type: z.enum(["registry", "s3", "local"]),
    registry: registry.exactOptional(),
    s3: s3.exactOptional(),
    local: local.exactOptional(),
  })
  .check(
    cel(
      "has(self.registry) == (self.type == 'registry')",
      "registry must be set if type is registry, and only then",
    ),
    cel("has(self.s3) == (self.type == 's3')", "s3 must be set if type is s3, and only then"),
    cel("has(self.local) == (self.type == 'local')", "local must be set if type is local, and only then"),
  );

const persistent = z.object({
  storageClass: objectName.optional().describe("Default: the cluster's default class"),
  size: quantity().default("50Gi").describe("Of each volume"),
  accessMode: accessMode.default("ReadWriteOnce"),
  maxVolumes: z
    .int32()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Default: scaling.max. Further workers have no volume"),
  ttl: positiveSpan.default("168h").describe("A volume that no worker used for so long is deleted"),
});

const mirror = z.object({
  host: z.string().min(1).max(253).describe("The registry, such as docker.io"),
  mirrors: z.array(z.string().min(1).max(253)).max(16).default([]).check(listSet()),
  plainHTTP: z.boolean().default(false).describe("Speaks plain HTTP"),
  insecure: z.boolean().default(false).describe("Does not verify the certificate"),
  caSecret: objectName.optional().describe("A Secret whose ca.crt signs the registry's certificate"),
});

/** What happens to the results of builds. */
export const cache = z
  .object({
    gc: gc.apply(filled).describe("What buildkitd removes of its own cache, and when"),
    backends: z.array(backend).max(8).default([]).describe("Where clients keep cache beyond a worker's life"),
    persistent: persistent.exactOptional().describe("Keeps the cache of workers on volumes"),
  })
  .check(
    cel(
      "!has(self.persistent) || !self.backends.exists(b, b.type == 'local')",
      "cannot have both persistent and a backend of type local: they are the same",
    ),
    cel(
      "self.backends.filter(b, b.type == 'local').size() <= 1",
      "cannot have more than one backend of type local",
    ),
  );

/** How workers reach registries. */
export const registries = z.array(mirror).max(64).check(listMap("host"));
