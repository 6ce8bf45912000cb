import { isHeld, type Worker } from "../worker/index.ts";

/** A request that waits for a worker. Times are epoch milliseconds. */
export interface Waiting {
  /** Unlike any other's of its pool. */
  readonly name: string;
  readonly owner: string;
  readonly requestedAt: number;
  readonly priority: number;
  readonly affinityKey?: string | undefined;
}

/**
 * Whose turn it is, first to last. Pure, so that all replicas come to the same result.
 *
 * A higher priority comes first. Otherwise owners take turns: who has fewer workers and fewer
 * requests in front of its own comes first, then who was not served for longest, then who asked
 * first. So one owner with many requests does not keep another waiting for more than one of them.
 */
export function fairOrder(waiting: readonly Waiting[], workers: readonly Worker[]): readonly Waiting[] {
  const share = sharesOf(workers);
  const byAge = waiting.toSorted((a, b) => a.requestedAt - b.requestedAt || compareText(a.name, b.name));
  const taken = new Map<string, number>();
  const ranked = byAge.map((request) => {
    // Requests of other priorities do not count: they come before all of these, or after.
    const key = `${request.priority} ${request.owner}`;
    const before = taken.get(key) ?? 0;
    taken.set(key, before + 1);
    const { held = 0, servedAt = Number.NEGATIVE_INFINITY } = share.get(request.owner) ?? {};
    return { request, round: held + before, servedAt };
  });
  return ranked
    .toSorted(
      (a, b) =>
        b.request.priority - a.request.priority ||
        a.round - b.round ||
        // Both may be infinite, and infinity minus itself is no number.
        (a.servedAt === b.servedAt ? 0 : a.servedAt - b.servedAt) ||
        a.request.requestedAt - b.request.requestedAt ||
        compareText(a.request.name, b.request.name),
    )
    .map(({ request }) => request);
}

interface Share {
  /** Workers that an owner has now. */
  readonly held: number;
  /** When it was given one last, as far as workers remember. */
  readonly servedAt: number;
}

function sharesOf(workers: readonly Worker[]): ReadonlyMap<string, Share> {
  const shares = new Map<string, Share>();
  const add = (owner: string, held: number, servedAt: number) => {
    const before = shares.get(owner) ?? { held: 0, servedAt: Number.NEGATIVE_INFINITY };
    shares.set(owner, { held: before.held + held, servedAt: Math.max(before.servedAt, servedAt) });
  };
  for (const worker of workers) {
    const { spec, status } = worker;
    const held = isHeld(worker) ? 1 : 0;
    if (spec.allocation) add(spec.allocation.requestedBy, held, Date.parse(spec.allocation.allocatedAt));
    else if (status?.lastUsedBy !== undefined)
      add(status.lastUsedBy, 0, Date.parse(status.lastActivityAt ?? ""));
  }
  return shares;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
