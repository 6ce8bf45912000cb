import type { Clock } from "./clock.ts";
import { type Duration, milliseconds } from "./duration.ts";

interface Timer {
  at: number;
  readonly order: number;
  readonly task: () => void;
  isCancelled: boolean;
}

/**
 * A clock that stands still until it is advanced. Timers fire in the order of their due time,
 * and of their making where that is equal, so the same steps give the same run.
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
  readonly #work = new Timers();
  readonly #beats = new Timers();
  /** For how long heartbeats have rested, up to the end of the present rest. */
  #rested = 0;
  #restEnds: number;

  /** Stands still after {@link restHeartbeats}. */
  readonly heartbeats: Clock = {
    now: () => this.#now - this.#rested + this.#restLeft,
    monotonic: () => this.monotonic() - this.#rested + this.#restLeft,
    schedule: (delayMs, task) => this.#schedule(this.#beats, Math.max(0, delayMs) + this.#restLeft, task),
  };

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#now = startMs;
    this.#start = startMs;
    this.#restEnds = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#start;
  }

  schedule(delayMs: number, task: () => void): () => void {
    return this.#schedule(this.#work, delayMs, task);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#work.size + this.#beats.size;
  }

  /** When the next timer is due, in `now()`'s milliseconds; undefined if none waits. */
  get nextAt(): number | undefined {
    return this.#next()?.first?.at;
  }

  /**
   * When the next timer of `heartbeats` is due, in `now()`'s milliseconds; undefined if none waits.
   */
  get nextHeartbeatAt(): number | undefined {
    return this.#beats.first?.at;
  }

  /**
   * Lets the time of `heartbeats` stand still for a while: all that is due by it comes so much
   * later.
   */
  restHeartbeats(ms: number): void {
    this.wakeHeartbeats();
    this.#rested += ms;
    this.#restEnds = this.#now + ms;
    this.#beats.postpone(ms);
  }

  /** Ends the present rest, if there is one. */
  wakeHeartbeats(): void {
    const left = this.#restLeft;
    this.#rested -= left;
    this.#restEnds = this.#now;
    this.#beats.postpone(-left);
  }

  get #restLeft(): number {
    return Math.max(0, this.#restEnds - this.#now);
  }

  /**
   * Moves time forward, firing each timer at its own due time and letting what it started settle
   * (all microtasks, and whatever I/O was ready) before the next.
   *
   * @throws RangeError for what is no duration: time does not go back.
   */
  async advance(duration: Duration): Promise<void> {
    const until = this.#now + milliseconds(duration, "advance");
    await settle();
    while ((this.nextAt ?? Number.POSITIVE_INFINITY) <= until) {
      this.fireNext();
      await settle();
    }
    this.#now = until;
  }

  /**
   * Moves to the moment when the next timer is due, and fires it. What it starts is left to the
   * caller to wait for.
   *
   * @returns whether there was one
   */
  fireNext(): boolean {
    const timers = this.#next();
    const timer = timers?.take();
    if (!timer) return false;
    this.#now = Math.max(this.#now, timer.at);
    timer.task();
    return true;
  }

  #schedule(timers: Timers, delayMs: number, task: () => void): () => void {
    const at = this.#now + Math.max(0, delayMs);
    return timers.add({ at, order: this.#order++, task, isCancelled: false });
  }

  /** Those of which one is due next. */
  #next(): Timers | undefined {
    const { first: work } = this.#work;
    const { first: beat } = this.#beats;
    if (!work) return beat && this.#beats;
    return beat && byTurn(beat, work) < 0 ? this.#beats : this.#work;
  }
}

/** Timers in the order of their turn. */
class Timers {
  /**
   * A binary heap, the next one first. Cancelled timers stay until they are on top, or too many.
   */
  #heap: Timer[] = [];
  #cancelled = 0;

  /** How many wait. */
  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  get first(): Timer | undefined {
    while (this.#heap[0]?.isCancelled) {
      removeTop(this.#heap);
      this.#cancelled--;
    }
    return this.#heap[0];
  }

  /** @returns what cancels it */
  add(timer: Timer): () => void {
    this.#heap.push(timer);
    siftUp(this.#heap, this.#heap.length - 1);
    return () => this.#cancel(timer);
  }

  take(): Timer | undefined {
    const timer = this.first;
    if (!timer) return undefined;
    removeTop(this.#heap);
    // One that was taken counts as neither waiting nor cancelled.
    timer.isCancelled = true;
    return timer;
  }

  postpone(ms: number): void {
    for (const timer of this.#heap) timer.at += ms;
  }

  #cancel(timer: Timer): void {
    if (timer.isCancelled) return;
    timer.isCancelled = true;
    this.#cancelled++;
    if (this.#cancelled <= 64 || this.#cancelled < this.#heap.length / 2) return;
    // Sorted, it is a heap too.
    this.#heap = this.#heap.filter(({ isCancelled }) => !isCancelled).sort(byTurn);
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

/**
 * Lets everything that is ready run: one turn of the event loop, with the microtasks before and
 * after it.
 */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
