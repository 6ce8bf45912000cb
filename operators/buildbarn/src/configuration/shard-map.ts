import type { ShardMap } from "../resharding/state.ts";
import type { Document } from "./document.ts";
import type { Profile, Shard } from "./versions.ts";

/** Where the shards are. */
export type ShardAddress = (number: number) => string;

/** The most that the results of one action may list. */
const maximumTotalTreeSizeBytes = 64 * 1024 * 1024;
const locally: Document = { local: {} };

/**
 * How a client of the shards sees the content-addressable storage and the action cache.
 *
 * While shards change, blobs are written to their places in both maps. Results are written to
 * one of their places, and copied there from the other one when they are found: a mirror, which
 * reads from either side in turn, would copy only every second of them.
 */
export function blobstore(profile: Profile, map: ShardMap, addressOf: ShardAddress): Document {
  const on = (count: number) =>
    profile.sharded(Array.from({ length: count }, (_, number): Shard => ({ address: addressOf(number) })));
  const { contentAddressableStorage, results } =
    map.is === "single"
      ? { contentAddressableStorage: on(map.shards), results: on(map.shards) }
      : {
          contentAddressableStorage: {
            mirrored: {
              backendA: on(map.from),
              backendB: on(map.to),
              replicatorAToB: locally,
              replicatorBToA: locally,
            },
          },
          results: {
            readFallback: {
              primary: on(map[map.results]),
              secondary: on(map[map.results === "to" ? "from" : "to"]),
              replicator: locally,
            },
          },
        };
  return {
    contentAddressableStorage,
    // Hides results whose outputs have left the storage. It must be where all shards are seen.
    actionCache: { completenessChecking: { backend: results, maximumTotalTreeSizeBytes } },
  };
}
