import { cel, defineResource, listSet, type ObjectOf } from "@windlass/runtime";
import { persistentVolumeClaimSpec } from "@windlass/runtime/schemas";
import { z } from "zod";
import {
  common,
  componentColumns,
  componentName,
  componentStatus,
  escapeHatches,
  filled,
  membership,
  objectName,
  oneHatch,
  pods,
  size,
  span,
  volumeInitImage,
} from "../fields.ts";
import { reshardingPhases } from "../resharding/state.ts";

interface StoreDefaults {
  readonly volume: string;
  readonly blocks: string;
  readonly index: string;
  readonly newBlocks: number;
  readonly mostNewBlocks: number;
}

const fixed =
  "cannot be changed on shards that are there: Kubernetes does not change claims of a StatefulSet";

/** CEL that an optional field is what it was. */
function isKept(field: string, now: string, before: string): string {
  return `has(${now}.${field}) == has(${before}.${field}) && (!has(${now}.${field}) || ${now}.${field} == ${before}.${field})`;
}

/** One store of a shard: what it keeps, and where. */
function store({ volume, blocks, index, newBlocks, mostNewBlocks }: StoreDefaults) {
  const count = (fallback: number) => z.int32().min(1).max(97).default(fallback);
  return z
    .object({
      volume: z
        .object({
          size: size
            .check(cel("quantity(self).compareTo(quantity(oldSelf)) >= 0", "a volume cannot shrink"))
            .default(volume)
            .describe("What a shard's volume asks for. It grows in place"),
          storageClassName: objectName.exactOptional(),
        })
        .check(
          cel(isKept("storageClassName", "self", "oldSelf"), {
            message: fixed,
            fieldPath: ".storageClassName",
          }),
        )
        .apply(filled),
      blocks: z
        .object({
          size: size.default(blocks).describe("All blocks together. The largest blob is one block"),
          old: count(8).describe("Blocks whose blobs are copied on when they are used, so that they stay"),
          current: count(24).describe("Blocks whose blobs are used as they are"),
          new: z
            .int32()
            .min(1)
            .max(mostNewBlocks)
            .default(newBlocks)
            .describe("Blocks that are written to. Buildbarn wants one for all stores but the CAS"),
          spare: z
            .int32()
            .min(0)
            .max(97)
            .default(3)
            .describe("Blocks that are reused once no client reads them"),
        })
        .apply(filled)
        .check(
          cel(
            "self.old + self.current + self.new + self.spare <= 100",
            "Buildbarn takes at most 100 blocks in all",
          ),
          cel(
            "quantity(self.size).asApproximateFloat() >= 4096.0 * double(self.old + self.current + self.new + self.spare)",
            {
              message: "must be at least 4096 bytes for each block, or shards do not start",
              fieldPath: ".size",
            },
          ),
        ),
      index: z
        .object({
          size: size.default(index).describe("Some 66 bytes an entry, two to ten times as many as blobs"),
        })
        .apply(filled)
        .describe("The key-location map. One that is too small loses blobs"),
    })
    .apply(filled)
    .check(
      cel(
        "quantity(self.volume.size).isGreaterThan(quantity(self.blocks.size).add(quantity(self.index.size)))",
        { message: "must exceed blocks.size and index.size together", fieldPath: ".volume.size" },
      ),
    );
}

const claim = z.object({
  metadata: z.object({ name: z.enum(["cas", "ac"]) }),
  spec: persistentVolumeClaimSpec(),
});

/** What a BuildbarnStorage, or the storage of a BuildbarnCluster, may set. */
export const storageFields = {
  ...pods,
  replicas: z
    .int32()
    .min(1)
    .max(64)
    .default(2)
    .describe("Shards. A change moves what is kept, step by step: see status.resharding"),
  weights: z
    .array(z.int32().min(1).max(1_000))
    .max(64)
    .exactOptional()
    .describe(
      "How much of the cache each shard gets, by its number; 1 for those that are not listed. A change moves what is kept",
    ),
  drained: z
    .array(z.int32().min(0).max(63))
    .max(63)
    .check(listSet())
    .exactOptional()
    .describe(
      "Numbers of shards that clients do not ask: what they keep is moved to the others, and their pods run on",
    ),
  mirrored: z
    .boolean()
    .default(false)
    .describe(
      "Has every shard be a pair of pods that both keep all: the loss of a volume loses nothing. Both must be up to build",
    ),
  internalTls: z
    .object({
      secretName: objectName.describe(
        "A Secret with tls.crt and tls.key, for clients and servers, whose certificate has the DNS name CLUSTER.NAMESPACE.svc. A new one is used within some two minutes, and restarts nothing",
      ),
      configMapName: objectName.describe(
        "A ConfigMap with ca.crt: the authorities that sign certificates of the set. Others restart its pods",
      ),
    })
    .exactOptional()
    .describe(
      "Has all components of the set reach each other by TLS, and take only who has a certificate of the set",
    ),
  ...escapeHatches,
  cas: store({ volume: "33Gi", blocks: "32Gi", index: "400Mi", newBlocks: 3, mostNewBlocks: 97 }).describe(
    "The content-addressable storage: inputs and outputs of actions",
  ),
  ac: store({ volume: "1Gi", blocks: "20Mi", index: "1Mi", newBlocks: 1, mostNewBlocks: 1 }).describe(
    "The action cache: what actions came to",
  ),
  volumeClaimTemplates: z
    .array(claim)
    .max(2)
    .check(
      cel(
        "self.all(a, self.exists_one(b, b.metadata.name == a.metadata.name))",
        "has two claims of one name",
      ),
    )
    .exactOptional()
    .describe("Claims instead of cas.volume and ac.volume, as the original has them: cas and ac"),
  volumeInitImage,
  resharding: z
    .object({
      hold: span
        .default("1h")
        .describe(
          "How long blobs are read from their old shards, and copied, before only the new ones are asked. What no client uses in this time is lost to the cache",
        ),
      drainTimeout: span
        .default("5m")
        .describe(
          "How long a shard that is to be drained is waited for if it is not ready. Then it goes without what it keeps",
        ),
    })
    .apply(filled),
  allowCacheFlush: z
    .boolean()
    .default(false)
    .describe("Allows changes that empty the cache: of blocks, of the index, of the version"),
  deletionPolicy: z
    .enum(["Retain", "Delete"])
    .default("Retain")
    .describe("What happens to volumes when shards, or the resource, are removed"),
};

const flush = "empties the cache: set allowCacheFlush to change it";

/** A claim of the user's own must have room for what a store writes. */
function roomFor(store: "cas" | "ac") {
  const request = "claim.spec.resources.requests";
  const asks = `claim.metadata.name == '${store}' && has(claim.spec.resources) && has(${request}) && 'storage' in ${request}`;
  const needed = `quantity(self.${store}.blocks.size).add(quantity(self.${store}.index.size))`;
  return cel(
    `!has(self.volumeClaimTemplates) || self.volumeClaimTemplates.all(claim, !(${asks}) || quantity(string(${request}['storage'])).isGreaterThan(${needed}))`,
    {
      message: `the claim ${store} must exceed ${store}.blocks.size and ${store}.index.size together`,
      fieldPath: ".volumeClaimTemplates",
    },
  );
}

/** What of a claim is fixed once there are shards: all but how much it asks for. */
const fixedClaimFields = Object.keys(persistentVolumeClaimSpec().shape).filter(
  (field) => field !== "resources",
);

/** Claims of the user's own stay what they were, but for their size. */
const fixedClaims = [
  cel("has(self.volumeClaimTemplates) == has(oldSelf.volumeClaimTemplates)", {
    message: fixed,
    fieldPath: ".volumeClaimTemplates",
  }),
  cel(
    `!has(self.volumeClaimTemplates) || !has(oldSelf.volumeClaimTemplates) || (size(self.volumeClaimTemplates) == size(oldSelf.volumeClaimTemplates) && self.volumeClaimTemplates.all(now, oldSelf.volumeClaimTemplates.exists(before, now.metadata.name == before.metadata.name && ${fixedClaimFields.map((field) => `(${isKept(field, "now.spec", "before.spec")})`).join(" && ")})))`,
    { message: `${fixed}, but for resources.requests.storage`, fieldPath: ".volumeClaimTemplates" },
  ),
] as const;

/** The rules of storage, wherever its fields are. */
export const storageRules = [
  oneHatch,
  roomFor("cas"),
  roomFor("ac"),
  ...fixedClaims,
  cel("!has(self.weights) || size(self.weights) <= self.replicas", {
    message: "must not have more entries than there are shards",
    fieldPath: ".weights",
  }),
  cel("!has(self.drained) || self.drained.all(number, number < self.replicas)", {
    message: "must be numbers of shards, which are below replicas",
    fieldPath: ".drained",
  }),
  cel("!has(self.drained) || size(self.drained) < self.replicas", {
    message: "must leave at least one shard",
    fieldPath: ".drained",
  }),
  cel("has(self.internalTls) == has(oldSelf.internalTls)", {
    message: "cannot be added to shards that are there, nor taken away: their clients could not reach them",
    fieldPath: ".internalTls",
  }),
  cel("self.allowCacheFlush || self.cas.blocks == oldSelf.cas.blocks", {
    message: flush,
    fieldPath: ".cas.blocks",
  }),
  cel("self.allowCacheFlush || self.cas.index == oldSelf.cas.index", {
    message: flush,
    fieldPath: ".cas.index",
  }),
  cel("self.allowCacheFlush || self.ac.blocks == oldSelf.ac.blocks", {
    message: flush,
    fieldPath: ".ac.blocks",
  }),
  cel("self.allowCacheFlush || self.ac.index == oldSelf.ac.index", {
    message: flush,
    fieldPath: ".ac.index",
  }),
] as const;

/** Shards that keep the cache. */
export const BuildbarnStorage = defineResource({
  ...common,
  kind: "BuildbarnStorage",
  shortNames: ["bbst"],
  description: "The shards of a Buildbarn set, which keep its cache",
  spec: z
    .object({ ...membership, ...storageFields })
    .check(
      ...storageRules,
      cel("self.cluster == oldSelf.cluster", {
        message: "cannot be changed: shards and their volumes belong to one set",
        fieldPath: ".cluster",
      }),
      cel("self.allowCacheFlush || self.version == oldSelf.version", {
        message: "releases place blobs differently: set allowCacheFlush to change it",
        fieldPath: ".version",
      }),
    )
    .apply(filled),
  status: z.object({
    ...componentStatus,
    resharding: z
      .object({
        phase: z.enum(reshardingPhases),
        from: z.int32().min(1).describe("Shards before"),
        to: z.int32().min(1).describe("Shards after; while Stable, the same"),
        since: z.string().describe("When this phase began"),
        layout: z
          .object({ from: z.string(), to: z.string() })
          .optional()
          .describe("Both in full, where their number is not all: weights, drained shards, mirrors"),
        waitingFor: z.string().optional().describe("What has to happen before the next phase"),
      })
      .optional()
      .describe("How far a change of the shards has come. The operator continues from it"),
  }),
  validations: [componentName],
  printerColumns: [
    ...componentColumns.slice(0, 3),
    { name: "Shards", jsonPath: ".status.resharding.phase" },
    ...componentColumns.slice(3),
  ],
});

/** Shards, as they are read. */
export type Storage = ObjectOf<typeof BuildbarnStorage>;
