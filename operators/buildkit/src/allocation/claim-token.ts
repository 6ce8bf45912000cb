import { createHmac } from "node:crypto";
import {
  type IssuedToken,
  issueToken,
  type Keyring,
  longestTtlMs,
  signingKey,
  type TokenKey,
} from "../tokens/index.ts";
import type { Allocation } from "../worker/index.ts";
import type { Job } from "./job.ts";

/** What a new allocation is made of. */
export interface AllocationInit {
  readonly job: Job;
  /** The name of the worker it is for. */
  readonly worker: string;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly ttlMs: number;
  readonly affinityKey?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/*
 * The id of an allocation is computed from what is stored of it and a key. So the cluster holds
 * nothing that a token could be made from without the key; and whichever replica a client asks
 * again can give it the same token.
 */

/**
 * A new allocation. It ends at a whole second, as tokens do.
 *
 * @param ring The pool's own.
 * @throws RangeError for a ring without keys.
 */
export function newAllocation(
  ring: Keyring,
  { job, worker, now, ttlMs, ...own }: AllocationInit,
): Allocation {
  const allocatedAt = new Date(now).toISOString();
  const key = signingKey(ring, now);
  if (!key) throw new RangeError("token: there is no key to sign with");
  // Tokens end at whole seconds, and no later than was asked for.
  const end = Math.max(Math.floor((now + ttlMs) / 1_000), Math.floor(now / 1_000) + 1) * 1_000;
  const { allocation, expiresAt } = tokenUntil(key, idParts({ job, worker, allocatedAt }), end, now);
  const { affinityKey, metadata } = own;
  return {
    jobId: job.jobId,
    tokenHash: allocation,
    requestedBy: job.owner,
    allocatedAt,
    expiresAt: new Date(expiresAt).toISOString(),
    ...(affinityKey === undefined ? {} : { affinityKey }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/**
 * The token of a worker's allocation: the same for as long as it ends at the same time. Undefined
 * if it has ended, or was not made by a key of this ring.
 *
 * @param ring The pool's own.
 */
export function tokenOf(
  ring: Keyring,
  { pool, worker }: { readonly pool: Job["pool"]; readonly worker: string },
  { jobId, requestedBy, allocatedAt, expiresAt, tokenHash }: Allocation,
  now: number,
): IssuedToken | undefined {
  const end = Date.parse(expiresAt);
  if (now >= end) return undefined;
  const made = { job: { pool, owner: requestedBy, jobId }, worker, allocatedAt };
  for (const key of ring.toReversed())
    for (const parts of [idParts(made), earlierIdParts(made)]) {
      const issued = tokenUntil(key, parts, end, now);
      if (issued.allocation === tokenHash) return issued;
    }
  return undefined;
}

/**
 * What an allocation's id is computed from. Two replicas may claim workers for one job at the same
 * time: each claim has an id of its own.
 */
interface Made {
  readonly job: Job;
  readonly worker: string;
  readonly allocatedAt: string;
}

function tokenUntil(key: TokenKey, parts: readonly string[], end: number, now: number): IssuedToken {
  // The clock of the replica that made the allocation may be ahead of this one's: it is not for
  // longer because of that.
  const from = Math.max(now, end - longestTtlMs);
  return issueToken([key], { allocationId: allocationId(key, parts), now: from, ttl: end - from });
}

function idParts({ job: { pool, owner, jobId }, worker, allocatedAt }: Made): readonly string[] {
  return ["allocation id", pool.namespace, pool.name, owner, jobId, worker, allocatedAt];
}

/**
 * Before claims had ids of their own. What was allocated by a replica of that time is still renewed
 * after an upgrade.
 */
function earlierIdParts({ job: { pool, owner, jobId }, allocatedAt }: Made): readonly string[] {
  return ["allocation id", pool.namespace, pool.name, owner, jobId, allocatedAt];
}

function allocationId(key: TokenKey, parts: readonly string[]): Uint8Array {
  return createHmac("sha256", key.secret).update(JSON.stringify(parts)).digest().subarray(0, 16);
}
