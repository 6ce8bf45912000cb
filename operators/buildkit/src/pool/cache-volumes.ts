import { child, type ObjectOf, timestamp } from "@windlass/runtime";
import { PersistentVolumeClaim } from "@windlass/runtime/kinds";
import { managedByLabel } from "../credentials.ts";
import { affinityAnnotation, cacheVolumeName, lastUsedAnnotation, poolLabel } from "../names.ts";
import { quantityOf } from "../quantity.ts";
import { spanMs } from "../span.ts";
import type { Worker } from "../worker/worker.ts";
import { type PersistentCache, persistentOf } from "./cache-slots.ts";
import type { Pool } from "./pool.ts";

type Claim = ObjectOf<typeof PersistentVolumeClaim>;

/** A volume that keeps cache, and whose. */
export interface CacheVolume {
  readonly slot: number;
  readonly volume: string;
  readonly affinityKey?: string;
  /** Absent while a worker uses it. */
  readonly lastUsedAt?: string;
}

/**
 * The volumes that a pool should have: those in use, those to come, and those whose cache may be
 * wanted again.
 */
export function cacheVolumes(
  pool: Pool,
  init: {
    readonly workers: readonly Worker[];
    /** Slots that workers are about to be made in. */
    readonly created: readonly number[];
    readonly claims: readonly Claim[];
    readonly now: number;
  },
): readonly CacheVolume[] {
  const persistent = persistentOf(pool.spec);
  if (!persistent) return [];
  const { name } = pool.metadata;
  const ttlMs = spanMs(persistent.ttl, "spec.cache.persistent.ttl");
  const used = new Map(init.workers.map((worker) => [worker.spec.slot, worker]));
  const created = new Set(init.created);
  const claims = new Map(init.claims.map((claim) => [claim.metadata.name, claim]));
  return Array.from({ length: persistent.maxVolumes }, (_, slot) => slot).flatMap((slot): CacheVolume[] => {
    const volume = cacheVolumeName(name, slot);
    const annotations = claims.get(volume)?.metadata.annotations;
    const worker = used.get(slot);
    const affinityKey = worker?.status?.affinityKey ?? annotations?.[affinityAnnotation];
    const known = { slot, volume, ...(affinityKey !== undefined && { affinityKey }) };
    if (worker || created.has(slot)) return [known];
    if (!claims.has(volume)) return [];
    const lastUsedAt = annotations?.[lastUsedAnnotation] ?? timestamp(init.now);
    return init.now < Date.parse(lastUsedAt) + ttlMs ? [{ ...known, lastUsedAt }] : [];
  });
}

/** When the first of some volumes is given up; undefined if none is. */
export function volumesEnd(pool: Pool, volumes: readonly CacheVolume[]): number | undefined {
  const persistent = persistentOf(pool.spec);
  const ends = volumes.flatMap(({ lastUsedAt }) =>
    persistent && lastUsedAt !== undefined
      ? [Date.parse(lastUsedAt) + spanMs(persistent.ttl, "spec.cache.persistent.ttl")]
      : [],
  );
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

/**
 * The claim of a volume. One that exists may grow, and keeps everything else: a claim cannot
 * change.
 */
export function claimFor(
  pool: Pool,
  { volume, affinityKey, lastUsedAt }: CacheVolume,
  present: Claim | undefined,
) {
  const persistent = persistentOf(pool.spec) as PersistentCache;
  const { storageClass, accessMode } = persistent;
  const annotations = {
    ...(affinityKey !== undefined && { [affinityAnnotation]: affinityKey }),
    ...(lastUsedAt !== undefined && { [lastUsedAnnotation]: lastUsedAt }),
  };
  const before = present?.spec?.resources?.requests?.storage;
  const isLarger =
    (quantityOf(persistent.size) ?? 0) > (before === undefined ? 0 : (quantityOf(before) ?? 0));
  const size = before === undefined || isLarger ? persistent.size : before;
  return child(PersistentVolumeClaim, {
    metadata: {
      name: volume,
      labels: { ...managedByLabel, [poolLabel]: pool.metadata.name },
      annotations,
    },
    spec: {
      accessModes: present?.spec?.accessModes ?? [accessMode],
      ...(present?.spec?.storageClassName !== undefined
        ? { storageClassName: present.spec.storageClassName }
        : storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: size } },
    },
  });
}
