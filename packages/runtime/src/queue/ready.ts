import type { Band, Entry, Lane } from "./entry.ts";

/** How many empty bands are kept for the next entry of their priority rather than made again. */
const SPARE_BANDS = 16;

/**
 * The order of those that are due.
 *
 * 1. The highest priority first.
 * 2. Within a priority, namespaces take turns: with N of them waiting, the head of each is among
 *    the next N picks.
 * 3. Within a namespace and priority, first in first out.
 * 4. Nothing starves: an entry rises by one priority for every `ageingMs` it waits. Once it has
 *    risen to the highest priority that waits, it is aged, and one pick in `agedShare` goes to the
 *    entry that has risen furthest. So an entry that is aged with n others risen further is picked
 *    within `agedShare × (n + 1)` picks, whatever is added meanwhile.
 *
 * Rule 4 stretches the N of rule 2 to `N × agedShare / (agedShare - 1)`, rounded up, while
 * something is aged.
 */
export class ReadyOrder<K> {
  /** Bands that hold something, highest priority first. */
  readonly #bands: Band<K>[] = [];
  readonly #byPriority = new Map<number, Band<K>>();
  readonly #ageingMs: number;
  readonly #agedShare: number;
  #picksSinceAged = 0;
  #size = 0;

  constructor(ageingMs: number, agedShare: number) {
    this.#ageingMs = ageingMs;
    this.#agedShare = agedShare;
  }

  get size(): number {
    return this.#size;
  }

  /** How many wait, by priority. */
  get depth(): ReadonlyMap<number, number> {
    return new Map(this.#bands.map((band) => [band.priority, band.size]));
  }

  push(entry: Entry<K>, now: number): void {
    const band = this.#band(entry.priority);
    const lane = laneOf(band, entry.namespace);
    entry.band = band;
    entry.lane = lane;
    entry.bandSince = now;
    entry.lanePrevious = lane.last;
    entry.laneNext = undefined;
    if (lane.last) lane.last.laneNext = entry;
    else lane.first = entry;
    lane.last = entry;
    entry.bandPrevious = band.newest;
    entry.bandNext = undefined;
    if (band.newest) band.newest.bandNext = entry;
    else band.oldest = entry;
    band.newest = entry;
    band.size += 1;
    this.#size += 1;
  }

  /** Takes out the one whose turn it is. */
  pick(now: number): Entry<K> | undefined {
    const top = this.#bands[0];
    if (!top?.turn) return undefined;
    if (this.#bands.length > 1) {
      const aged = this.#picksSinceAged >= this.#agedShare - 1 ? this.#aged(top, now) : undefined;
      if (aged) {
        this.#picksSinceAged = 0;
        this.remove(aged);
        return aged;
      }
      this.#picksSinceAged += 1;
    }
    const lane = top.turn;
    const entry = lane.first;
    if (!entry) return undefined;
    top.turn = lane.next;
    this.remove(entry);
    return entry;
  }

  remove(entry: Entry<K>): void {
    const { band, lane } = entry;
    if (!band || !lane) return;
    if (entry.lanePrevious) entry.lanePrevious.laneNext = entry.laneNext;
    else lane.first = entry.laneNext;
    if (entry.laneNext) entry.laneNext.lanePrevious = entry.lanePrevious;
    else lane.last = entry.lanePrevious;
    if (entry.bandPrevious) entry.bandPrevious.bandNext = entry.bandNext;
    else band.oldest = entry.bandNext;
    if (entry.bandNext) entry.bandNext.bandPrevious = entry.bandPrevious;
    else band.newest = entry.bandPrevious;
    entry.band = undefined;
    entry.lane = undefined;
    entry.laneNext = undefined;
    entry.lanePrevious = undefined;
    entry.bandNext = undefined;
    entry.bandPrevious = undefined;
    band.size -= 1;
    this.#size -= 1;
    if (!lane.first) removeLane(band, lane);
    if (band.size === 0) this.#retire(band);
  }

  /** Of the entries below the top band that have aged, the one that has risen furthest. */
  #aged(top: Band<K>, now: number): Entry<K> | undefined {
    let furthest: Entry<K> | undefined;
    let height = top.priority;
    for (const band of this.#bands) {
      if (band === top || !band.oldest) continue;
      const risen = band.priority + (now - band.oldest.bandSince) / this.#ageingMs;
      if (furthest ? risen > height : risen >= height) {
        furthest = band.oldest;
        height = risen;
      }
    }
    return furthest;
  }

  #band(priority: number): Band<K> {
    let band = this.#byPriority.get(priority);
    if (!band) {
      band = { priority, lanes: new Map(), turn: undefined, oldest: undefined, newest: undefined, size: 0 };
      this.#byPriority.set(priority, band);
    }
    if (band.size === 0) {
      const index = this.#bands.findIndex((other) => other.priority < priority);
      this.#bands.splice(index < 0 ? this.#bands.length : index, 0, band);
    }
    return band;
  }

  #retire(band: Band<K>): void {
    this.#bands.splice(this.#bands.indexOf(band), 1);
    if (this.#byPriority.size > SPARE_BANDS) this.#byPriority.delete(band.priority);
  }
}

function laneOf<K>(band: Band<K>, namespace: string): Lane<K> {
  const existing = band.lanes.get(namespace);
  if (existing) return existing;
  const lane = { namespace, first: undefined, last: undefined } as Lane<K>;
  const { turn } = band;
  if (turn) {
    // The end of the round is just before the lane whose turn is next.
    lane.next = turn;
    lane.previous = turn.previous;
    turn.previous.next = lane;
    turn.previous = lane;
  } else {
    lane.next = lane;
    lane.previous = lane;
    band.turn = lane;
  }
  band.lanes.set(namespace, lane);
  return lane;
}

function removeLane<K>(band: Band<K>, lane: Lane<K>): void {
  band.lanes.delete(lane.namespace);
  if (lane.next === lane) {
    band.turn = undefined;
    return;
  }
  lane.previous.next = lane.next;
  lane.next.previous = lane.previous;
  if (band.turn === lane) band.turn = lane.next;
}
