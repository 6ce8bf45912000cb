import type { Deviations } from "./compare.ts";
import type { Contest } from "./contest.ts";
import type { Reverts } from "./reverts.ts";

/** A version of a child. */
export interface SeenVersion {
  readonly resourceVersion: string | undefined;
  readonly generation: number | undefined;
  /** Who owned its fields; unknown of what did not come from the cache. */
  readonly owners: string | undefined;
}

/** What is remembered of the last apply of one child. */
export interface AppliedChild {
  readonly fingerprint: string;
  /** The version that was last found to be as wanted. */
  readonly seen: SeenVersion;
  /** What the server made of it: differences that are known and fine. */
  readonly accepted: Deviations;
}

/** What is remembered of a child that was deleted because it was no longer wanted. */
export interface PrunedChild {
  readonly uid: string;
  /** When, by a monotonic clock. */
  readonly at: number;
  /** The contest with another process that applies it again, if there is one. */
  readonly contest: Contest | undefined;
}

/** As many are remembered of one owner, and for so long. */
const MOST_PRUNED = 100;
const PRUNED_MS = 10 * 60_000;

/**
 * What is remembered of one owner's children. Losing it costs at most one write that changes
 * nothing.
 */
export class ChildMemory {
  /** By {@link childId}. */
  readonly applied = new Map<string, AppliedChild>();
  /** Those that another program applies too, by {@link childId}. */
  readonly contests = new Map<string, Contest>();
  /** Those that others change and this controller puts back, by {@link childId}. */
  readonly reverts = new Map<string, Reverts>();
  /** Those that were deleted and not applied since, by {@link childId}: the latest of them. */
  readonly #pruned = new Map<string, PrunedChild>();
  /** The uids of those that were reported as not pruned. */
  notPruned: ReadonlySet<string> = new Set();

  /** A child is applied, so that it is wanted now. */
  wants(id: string): void {
    this.#pruned.delete(id);
  }

  pruned(id: string): PrunedChild | undefined {
    return this.#pruned.get(id);
  }

  setPruned(id: string, child: PrunedChild): void {
    this.#pruned.delete(id);
    this.#pruned.set(id, child);
    for (const [oldest, { at, contest }] of this.#pruned) {
      const isKept = contest !== undefined || child.at - at <= PRUNED_MS;
      if (isKept && this.#pruned.size <= MOST_PRUNED) break;
      this.#pruned.delete(oldest);
    }
  }

  forget(id: string): void {
    this.applied.delete(id);
    this.contests.delete(id);
    this.reverts.delete(id);
  }

  /** Forgets all but these. */
  keepOnly(ids: ReadonlySet<string>): void {
    if (this.applied.size > ids.size)
      for (const id of this.applied.keys()) if (!ids.has(id)) this.applied.delete(id);
    for (const id of this.contests.keys()) if (!ids.has(id)) this.contests.delete(id);
    for (const id of this.reverts.keys()) if (!ids.has(id)) this.reverts.delete(id);
  }
}
