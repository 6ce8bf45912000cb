import type { Clock } from "./clock.ts";

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
  isCancelled: boolean;
}

/**
 * A clock that stands still until it is told to move. Timers fire in the order of their due time, and of their making
 * where that is equal, so the same steps give the same run.
 *
 * @example
 * const clock = new ManualClock(Date.UTC(2026, 0, 1));
 * clock.schedule(1_000, () => console.log("a second later"));
 * await clock.advance(1_000);
 */
export class ManualClock implements Clock {
  #now: number;
  readonly #start: number;
  #order = 0;
  /** A binary heap, the next one first. Cancelled timers stay until they are on top, or too many. */
  #timers: Timer[] = [];
  #cancelled = 0;

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
    this.#start = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const at = this.#now + Math.max(0, delayMs);
    const timer: Timer = { at, order: this.#order++, task, isCancelled: false };
    this.#timers.push(timer);
    siftUp(this.#timers, this.#timers.length - 1);
    return () => this.#cancel(timer);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.length - this.#cancelled;
  }

  /** When the next timer is due, in `now()`'s milliseconds; undefined if none waits. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /**
   * Moves time forward, firing each timer at its own due time and letting what it started settle (all microtasks, and
   * whatever I/O was ready) before the next.
   */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    while ((this.nextAt ?? Number.POSITIVE_INFINITY) <= until) {
      this.fireNext();
      await settle();
    }
    this.#now = until;
  }

  /**
   * Moves to the moment when the next timer is due, and fires it. What it starts is left to the caller to wait for.
   *
   * @returns whether there was one
   */
  fireNext(): boolean {
    const timer = this.#next();
    if (!timer) return false;
    removeTop(this.#timers);
    // One that has fired counts as neither waiting nor cancelled, whatever becomes of it.
    timer.isCancelled = true;
    this.#now = Math.max(this.#now, timer.at);
    timer.task();
    return true;
  }

  #next(): Timer | undefined {
    while (this.#timers[0]?.isCancelled) {
      removeTop(this.#timers);
      this.#cancelled--;
    }
    return this.#timers[0];
  }

  #cancel(timer: Timer): void {
    if (timer.isCancelled) return;
    timer.isCancelled = true;
    this.#cancelled++;
    if (this.#cancelled <= 64 || this.#cancelled < this.#timers.length / 2) return;
    // Sorted, it is a heap too.
    this.#timers = this.#timers.filter(({ isCancelled }) => !isCancelled).sort(byTurn);
    this.#cancelled = 0;
  }
}

function byTurn(a: Timer, b: Timer): number {
  return a.at - b.at || a.order - b.order;
}

function siftUp(heap: Timer[], from: number): void {
  const timer = heap[from] as Timer;
  let index = from;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as Timer;
    if (byTurn(above, timer) <= 0) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = timer;
}

function removeTop(heap: Timer[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    const right = heap[child + 1];
    if (right && byTurn(right, heap[child] as Timer) < 0) child++;
    if (byTurn(last, heap[child] as Timer) <= 0) break;
    heap[index] = heap[child] as Timer;
    index = child;
  }
  heap[index] = last;
}

/** Lets everything that is ready run: one turn of the event loop, with the microtasks before and after it. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
