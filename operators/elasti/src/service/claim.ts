import type { ElastiServiceObject } from "./elasti-service.ts";

/**
 * Who has a Service of those that name it: the oldest, and of equally old ones the first by name.
 */
export function claimantOf(named: readonly ElastiServiceObject[]): ElastiServiceObject | undefined {
  return named.toSorted((a, b) => compare(order(a), order(b)))[0];
}

function order({ metadata }: ElastiServiceObject): string {
  return `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
