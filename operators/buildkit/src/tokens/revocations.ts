import { z } from "zod";
import { type AllocationHash, parseAllocationHash } from "./token.ts";

/** The key of a pool's ConfigMap that has the list. */
export const revocationsDataKey = "revocations.json";

/** Why an allocation was taken back before its tokens expired. */
export interface Revocation {
  /**
   * Epoch milliseconds: when the last of its tokens has expired, and the entry may be forgotten.
   */
  readonly until: number;
  /** In words that the client is shown. */
  readonly reason: string;
}

/** Allocations whose tokens no longer count, though they have not expired. Holds hashes only. */
export type Revocations = ReadonlyMap<AllocationHash, Revocation>;

const stored = z.record(
  z.string().refine((text) => parseAllocationHash(text) !== undefined, { error: "not an allocation's hash" }),
  z.object({ until: z.iso.datetime(), reason: z.string().min(1).max(200) }),
);

/**
 * The list with one more entry. An allocation that is on it already keeps its reason and the later
 * end.
 */
export function revoked(list: Revocations, allocation: AllocationHash, entry: Revocation): Revocations {
  const before = list.get(allocation);
  const merged = before ? { ...before, until: Math.max(before.until, entry.until) } : entry;
  return new Map([...list, [allocation, merged]]);
}

/** The list without entries whose tokens have expired; the same list if there are none. */
export function unexpired(list: Revocations, now: number): Revocations {
  const kept = [...list].filter(([, { until }]) => now < until);
  return kept.length === list.size ? list : new Map(kept);
}

/** The list as text: a JSON object, by hash. */
export function writeRevocations(list: Revocations): string {
  const entries = [...list]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([allocation, { until, reason }]) => [allocation, { until: new Date(until).toISOString(), reason }]);
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

/** A stored list that cannot be read. */
export class RevocationsError extends Error {
  override readonly name = "RevocationsError";
}

/**
 * Reads what `writeRevocations` wrote.
 *
 * @throws RevocationsError. A list that is not understood must not pass for an empty one.
 */
export function readRevocations(text: string): Revocations {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new RevocationsError("the revocation list is not JSON", { cause });
  }
  const { data, error } = stored.safeParse(json);
  if (error) {
    const [issue] = error.issues;
    throw new RevocationsError(`the revocation list: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  return new Map(
    Object.entries(data).map(([hash, { until, reason }]) => [
      hash as AllocationHash,
      { until: Date.parse(until), reason },
    ]),
  );
}
