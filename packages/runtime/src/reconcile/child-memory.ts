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
  /** The uids of those that were reported as not pruned. */
  notPruned: ReadonlySet<string> = new Set();

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
