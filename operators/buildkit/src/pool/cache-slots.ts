import { createHash } from "node:crypto";
import type { Pool } from "./pool.ts";

type Persistent = NonNullable<Pool["spec"]["cache"]["persistent"]>;

/** Volumes that keep the cache of workers. */
export type PersistentCache = Omit<Persistent, "maxVolumes"> & { readonly maxVolumes: number };

/**
 * How a pool keeps cache on volumes: by `cache.persistent`, or by the original's backend `local`.
 */
export function persistentOf({ cache, scaling }: Pool["spec"]): PersistentCache | undefined {
  const { persistent } = cache;
  if (persistent) return { ...persistent, maxVolumes: persistent.maxVolumes ?? scaling.max };
  const local = cache.backends.find(({ type }) => type === "local")?.local;
  return local && { ...local, ttl: "168h", maxVolumes: scaling.max };
}

/** What is known of a slot that no worker is in. */
export interface FreeSlot {
  readonly slot: number;
  /** Whose cache its volume has; undefined for none. */
  readonly affinityKey: string | undefined;
}

/**
 * The slot to make a worker in: the one that has the cache of this key, else one that has no
 * project's, else the one that the key would be in if all slots were free. Few keys move when slots
 * come and go.
 */
export function chooseSlot(free: readonly FreeSlot[], key: string | undefined): number | undefined {
  if (key === undefined) return (free.find(({ affinityKey }) => affinityKey === undefined) ?? free[0])?.slot;
  const own = free.find(({ affinityKey }) => affinityKey === key);
  if (own) return own.slot;
  const unused = free.filter(({ affinityKey }) => affinityKey === undefined);
  return rendezvous(key, unused.length > 0 ? unused.map(({ slot }) => slot) : free.map(({ slot }) => slot));
}

/**
 * The member that a key belongs to, by highest random weight: a member that goes moves the keys
 * that it had, and no others.
 */
export function rendezvous<T extends string | number>(key: string, members: readonly T[]): T | undefined {
  let best: { readonly member: T; readonly weight: string } | undefined;
  for (const member of members) {
    const weight = createHash("sha256").update(`${key}\0${member}`).digest("hex");
    if (!best || weight > best.weight) best = { member, weight };
  }
  return best?.member;
}
