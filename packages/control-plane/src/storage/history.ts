import type { Json } from "../json.ts";
import { nextTurn, type Steps, TurnBudget } from "../steps.ts";

/** Thrown by reads of a revision whose history was compacted. */
export class CompactedError extends Error {
  override readonly name = "CompactedError";
  readonly compacted: number;

  constructor(revision: number, compacted: number) {
    super(`revision ${revision} is compacted: history starts after ${compacted}`);
    this.compacted = compacted;
  }
}

/** How much of the past is kept. */
export interface HistoryLimits {
  /** How many writes. */
  readonly records: number;
  /** What their objects may take together, in bytes. */
  readonly bytes: number;
}

interface HistoryEntry {
  readonly bucket: string;
  readonly revision: number;
  readonly bytes: number;
}

/** The recent writes of all buckets, bounded in number and in size: the oldest go first. */
export class History<Write extends { readonly bucket: string; readonly revision: number }> {
  readonly #limits: HistoryLimits;
  readonly #logs = new Map<string, Write[]>();
  /** All that is kept, oldest first, from `#start` on. */
  #kept: HistoryEntry[] = [];
  #start = 0;
  #bytes = 0;
  #compacted = 0;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** Writes up to and including this revision are forgotten. */
  get compacted(): number {
    return this.#compacted;
  }

  /** The writes of a bucket that are still known, oldest first. */
  of(bucket: string): readonly Write[] {
    return this.#logs.get(bucket) ?? [];
  }

  /** @throws CompactedError if some writes after the revision are no longer known. */
  check(revision: number): void {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
  }

  /** @param bytes what its object takes */
  add(record: Write, bytes: number): void {
    const { bucket, revision } = record;
    const log = this.#logs.get(bucket);
    if (log) log.push(record);
    else this.#logs.set(bucket, [record]);
    this.#kept.push({ bucket, revision, bytes });
    this.#bytes += bytes;
    if (this.#count > this.#limits.records || this.#bytes > this.#limits.bytes) this.#trim();
  }

  /** Forgets writes up to `revision`. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, revision);
    let drop = 0;
    while (drop < this.#count && this.#at(drop).revision <= revision) drop++;
    this.#drop(drop);
  }

  get #count(): number {
    return this.#kept.length - this.#start;
  }

  #at(index: number): HistoryEntry {
    return this.#kept[this.#start + index] as HistoryEntry;
  }

  /** Removes more than necessary, so that the cost is amortized. */
  #trim(): void {
    const { records, bytes } = this.#limits;
    let drop = 0;
    let left = this.#bytes;
    while (drop < this.#count && (this.#count - drop > 0.9 * records || left > 0.9 * bytes)) {
      left -= this.#at(drop).bytes;
      drop++;
    }
    this.#drop(drop);
  }

  #drop(count: number): void {
    const perBucket = new Map<string, number>();
    for (let index = 0; index < count; index++) {
      const { bucket, revision, bytes } = this.#at(index);
      perBucket.set(bucket, (perBucket.get(bucket) ?? 0) + 1);
      this.#bytes -= bytes;
      this.#compacted = Math.max(this.#compacted, revision);
    }
    for (const [bucket, dropped] of perBucket) this.#logs.get(bucket)?.splice(0, dropped);
    this.#start += count;
    if (this.#start <= this.#count) return;
    this.#kept = this.#kept.slice(this.#start);
    this.#start = 0;
  }
}

/** As {@link sizeOf}, of a large value, with turns of the event loop in between. */
export function* sizeInSteps(value: Json): Steps<number> {
  const budget = new TurnBudget(30_000);
  const open: Json[] = [value];
  let size = 0;
  while (open.length > 0) {
    const next = open.pop() as Json;
    if (budget.spend(1)) yield nextTurn;
    if (typeof next !== "object" || next === null) size += sizeOf(next);
    else if (Array.isArray(next)) {
      size += 32 + 8 * next.length;
      for (const item of next) open.push(item);
    } else {
      size += 32;
      for (const name of Object.keys(next)) {
        size += 8 + name.length;
        open.push(next[name] as Json);
      }
    }
  }
  return size;
}

/** What a value takes in memory, roughly: its text, and something for each field and item. */
export function sizeOf(value: Json): number {
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 32;
  if (Array.isArray(value)) {
    for (const item of value) size += 8 + sizeOf(item);
  } else {
    for (const name of Object.keys(value)) size += 8 + name.length + sizeOf(value[name] as Json);
  }
  return size;
}
