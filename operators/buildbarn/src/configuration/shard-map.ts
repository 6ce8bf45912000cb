import { askedShards, type Layout, ringsOf, type ShardPod } from "../resharding/layout.ts";
import type { ShardMap } from "../resharding/state.ts";
import type { Document } from "./document.ts";
import { clientOf, type InternalTls } from "./internal-tls.ts";
import type { Profile, Shard } from "./versions.ts";

/** Where the shards are: `host:port`. */
export type ShardAddress = (shard: ShardPod) => string;

/** How all clients of the shards see them. */
export interface Shards {
  readonly map: ShardMap;
  readonly addressOf: ShardAddress;
  /** @default without TLS */
  readonly tls?: InternalTls | undefined;
}

/** The most that the results of one action may list. */
const maximumTotalTreeSizeBytes = 64 * 1024 * 1024;
const locally: Document = { local: {} };

/** The shards of one layout, as a client asks them. */
function onShards(profile: Profile, at: Layout, { addressOf, tls }: Omit<Shards, "map">): Document {
  const asked = new Set(askedShards(at));
  return profile.sharded(
    Array.from({ length: at.shards }, (_, number): Shard => {
      const weight = at.weights?.[number] ?? 1;
      if (!asked.has(number)) return { weight };
      const [backendA = {}, backendB] = ringsOf(at).map((ring) =>
        profile.remote(clientOf(addressOf({ ring, number }), tls)),
      );
      return { weight, backend: backendB ? mirrored(backendA, backendB) : backendA };
    }),
  );
}

function mirrored(backendA: Document, backendB: Document): Document {
  return { mirrored: { backendA, backendB, replicatorAToB: locally, replicatorBToA: locally } };
}

/**
 * How a client of the shards sees their stores.
 *
 * While shards change, blobs are written to their places in both maps. Results are written to
 * one of their places, and copied there from the other one when they are found: a mirror, which
 * reads from either side in turn, would copy only every second of them.
 */
export function blobstore(profile: Profile, shards: Shards): Document {
  const { contentAddressableStorage, results } = mapped(profile, shards);
  return {
    contentAddressableStorage,
    // Hides results whose outputs have left the storage. It must be where all shards are seen.
    actionCache: { completenessChecking: { backend: results, maximumTotalTreeSizeBytes } },
  };
}

function mapped(profile: Profile, { map, ...shards }: Shards) {
  const on = (at: Layout) => onShards(profile, at, shards);
  if (map.is === "single") return { contentAddressableStorage: on(map.at), results: on(map.at) };
  return {
    contentAddressableStorage: mirrored(on(map.from), on(map.to)),
    results: {
      readFallback: {
        primary: on(map[map.results]),
        secondary: on(map[map.results === "to" ? "from" : "to"]),
        replicator: locally,
      },
    },
  };
}
