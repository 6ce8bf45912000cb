import type { Clock, Random } from "@windlass/clock";
import { type Backoff, type BackoffOptions, exponentialBackoff } from "./backoff.ts";
import { DelayHeap } from "./delay-heap.ts";
import { Entries, type NamespacedKey } from "./entries.ts";
import type { Entry } from "./entry.ts";
import { ReadyOrder } from "./ready.ts";

export type { NamespacedKey };

/**
 * What a queue reports about its work. The meanings are those of client-go's `workqueue_*` metrics.
 */
export interface QueueObserver {
  /** A key became due that was not due already. */
  added?(): void;
  /** A key was handed out after it had been due for so long. */
  taken?(waitSeconds: number): void;
  /** The work on a key ended after so long. */
  done?(workSeconds: number): void;
  /** A key was put off: a retry, or an add with a delay. */
  retried?(): void;
}

/** How a queue orders its keys, and how long failed ones wait. */
export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** @default 5 ms doubling to 1000 s, with jitter */
  readonly backoff?: BackoffOptions;
  /**
   * How long a key waits to rise by one priority. With the default a key at -100, where controllers
   * put what they find at start, stands beside fresh events after ten seconds. @default 100
   */
  readonly ageingMs?: number;
  /** One take in so many goes to a key that has aged, if there is one. At least 2. @default 4 */
  readonly agedShare?: number;
  readonly observer?: QueueObserver;
}

/** When a key is due, and how urgent it is. */
export interface AddOptions {
  /** Higher is sooner. Of several adds the highest counts. @default 0 */
  readonly priority?: number;
  /** Milliseconds until the key is due. Of several adds the soonest counts. @default 0 */
  readonly after?: number;
}

/**
 * A key to work on, given to no other worker until it is settled. Settle it once; later calls do
 * nothing.
 */
export interface Lease<K> {
  readonly key: K;
  /** 1 for the first try, and one more for each failure counted since the last success. */
  readonly attempt: number;
  readonly priority: number;
  /** How long the key had been due. */
  readonly waitedMs: number;
  /** The work is done: failures are forgotten. */
  done(): void;
  /**
   * The work failed: try again after the backoff. A failure inside a backoff window that is still
   * open (an event brought the key back early) counts for nothing: the attempt is not used up and
   * the retry stays when it was due.
   *
   * @returns the milliseconds until the retry.
   */
  retry(): number;
  /** The work is done, and is to be processed again later. Failures are forgotten. */
  retryAfter(ms: number, options?: Pick<AddOptions, "priority">): void;
}

/** Where a key stands. */
export interface KeyStatus {
  readonly at: "ready" | "delayed" | "running";
  readonly failures: number;
  /** Milliseconds until it is due; 0 if it is, or if it runs. */
  readonly dueInMs: number;
}

/** A look into the queue, for metrics. */
export interface QueueSample {
  /** Keys that are due and wait, by priority. */
  readonly depth: ReadonlyMap<number, number>;
  /** Seconds that each key handed out has been worked on. */
  readonly running: readonly number[];
}

/** How keys are taken from a queue. */
export interface DrainOptions {
  /**
   * Forget the keys that are due but not handed out yet, rather than have them worked on.
   *
   * @default false
   */
  readonly drop?: boolean;
}

/**
 * A queue of keys, each of which has work to do.
 *
 * Guarantees
 * - A key that was added is handed out after the add began, and never to two takers at a time.
 * - Adds of a key that waits are one; an add while the key runs gives one more run after it.
 * - Order: see {@link ReadyOrder}. Highest priority first, namespaces in turn, first in first out,
 *   and nothing starves.
 * - Nothing is kept for a key that neither waits nor runs nor backs off.
 */
export interface Queue<K> {
  /** @returns false if the queue no longer accepts keys. */
  add(key: K, options?: AddOptions): boolean;
  /**
   * The next key, as soon as one is due. Takers are served in the order they came.
   *
   * @returns undefined once the queue is drained.
   * @throws the signal's reason, when it is aborted before a key was there.
   */
  take(signal?: AbortSignal): Promise<Lease<K> | undefined>;
  /** The next key if one is due. */
  tryTake(): Lease<K> | undefined;
  /** Forgets the failures of a key. Where a key waits for its retry it still gets it. */
  forget(key: K): void;
  /** Undefined for a key that is idle. */
  status(key: K): KeyStatus | undefined;
  /** How many are due and wait. */
  readonly depth: number;
  /** How many wait for a later time. */
  readonly delayed: number;
  readonly running: number;
  sample(): QueueSample;
  /**
   * Accepts no more keys, forgets those that are not due yet, and resolves when nothing runs and
   * nothing is due. Retries asked for meanwhile are dropped.
   */
  drain(options?: DrainOptions): Promise<void>;
}

interface Taker<K> {
  give(lease: Lease<K> | undefined): void;
}

/** @throws RangeError for invalid options. */
export function createQueue<K extends string | NamespacedKey>(options: QueueOptions): Queue<K> {
  const { ageingMs = 100, agedShare = 4 } = options;
  if (!(ageingMs > 0)) throw new RangeError(`queue: ageingMs (${ageingMs}) must be above 0`);
  if (!(Number.isInteger(agedShare) && agedShare >= 2))
    throw new RangeError(`queue: agedShare (${agedShare}) must be a whole number of at least 2`);
  return new KeyedQueue(options, new ReadyOrder<K>(ageingMs, agedShare));
}

class KeyedQueue<K extends string | NamespacedKey> implements Queue<K> {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #observer: QueueObserver;
  readonly #entries = new Entries<K>();
  readonly #ready: ReadyOrder<K>;
  readonly #delays = new DelayHeap<K>();
  readonly #takers: Taker<K>[] = [];
  #running = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;
  #accepting = true;
  readonly #drained: (() => void)[] = [];

  constructor(options: QueueOptions, ready: ReadyOrder<K>) {
    this.#clock = options.clock;
    this.#backoff = exponentialBackoff(options.random, options.backoff);
    this.#observer = options.observer ?? {};
    this.#ready = ready;
  }

  get depth(): number {
    return this.#ready.size;
  }

  get delayed(): number {
    return this.#delays.size;
  }

  get running(): number {
    return this.#running;
  }

  add(key: K, { priority = 0, after = 0 }: AddOptions = {}): boolean {
    if (!this.#accepting) return false;
    if (after > 0) this.#observer.retried?.();
    const entry = this.#entries.get(key);
    // Where events come faster than they are dealt with most keys wait already: not even the time
    // matters to them.
    if (entry?.at === "ready" && priority <= entry.priority) return true;
    const now = this.#clock.monotonic();
    const readyAt = after > 0 ? now + after : now;
    if (!entry) {
      this.#place(this.#entries.make(key, priority, readyAt), readyAt, now);
    } else if (entry.at === "running") {
      if (!entry.again) entry.again = { priority, readyAt };
      else {
        if (priority > entry.again.priority) entry.again.priority = priority;
        if (readyAt < entry.again.readyAt) entry.again.readyAt = readyAt;
      }
    } else if (entry.at === "ready") {
      // Raising sends it to the tail of its new band; how long it has been due is not forgotten.
      this.#ready.remove(entry);
      entry.priority = priority;
      this.#ready.push(entry, now);
    } else {
      if (priority > entry.priority) entry.priority = priority;
      if (readyAt <= now) {
        this.#delays.remove(entry);
        this.#becomeReady(entry, now, now);
      } else if (readyAt < entry.readyAt) {
        this.#delays.advance(entry, readyAt);
      }
      this.#setTimer();
    }
    return true;
  }

  take(signal?: AbortSignal): Promise<Lease<K> | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const lease = this.tryTake();
    if (lease || this.#isDrained()) return Promise.resolve(lease);
    return new Promise((resolve, reject) => {
      const taker: Taker<K> = {
        give(given) {
          signal?.removeEventListener("abort", onAbort);
          resolve(given);
        },
      };
      const onAbort = () => {
        this.#takers.splice(this.#takers.indexOf(taker), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#takers.push(taker);
    });
  }

  tryTake(): Lease<K> | undefined {
    if (this.#ready.size === 0) return undefined;
    const now = this.#clock.monotonic();
    const entry = this.#ready.pick(now);
    return entry && this.#lease(entry, now);
  }

  forget(key: K): void {
    const entry = this.#entries.get(key);
    if (entry) forget(entry);
  }

  status(key: K): KeyStatus | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const { at, failures } = entry;
    return {
      at,
      failures,
      dueInMs: at === "delayed" ? Math.max(0, entry.readyAt - this.#clock.monotonic()) : 0,
    };
  }

  sample(): QueueSample {
    const now = this.#clock.monotonic();
    const running: number[] = [];
    if (this.#running > 0) {
      for (const entry of this.#entries)
        if (entry.at === "running") running.push((now - entry.startedAt) / 1000);
    }
    return { depth: this.#ready.depth, running };
  }

  drain({ drop = false }: DrainOptions = {}): Promise<void> {
    this.#accepting = false;
    for (const entry of this.#delays) this.#entries.delete(entry);
    this.#delays.clear();
    this.#setTimer();
    if (drop) {
      for (const entry of this.#entries) {
        entry.again = undefined;
        if (entry.at !== "ready") continue;
        this.#ready.remove(entry);
        this.#entries.delete(entry);
      }
    }
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#endIfDrained();
    });
  }

  #place(entry: Entry<K>, readyAt: number, now: number): void {
    if (readyAt <= now) {
      this.#becomeReady(entry, readyAt, now);
      return;
    }
    entry.at = "delayed";
    this.#delays.push(entry, readyAt);
    this.#setTimer();
  }

  #becomeReady(entry: Entry<K>, dueSince: number, now: number): void {
    entry.dueSince = dueSince;
    this.#observer.added?.();
    const taker = this.#takers.shift();
    if (taker) {
      // A worker waits, so nothing else is due and there is no order to keep.
      taker.give(this.#lease(entry, now));
      return;
    }
    entry.at = "ready";
    this.#ready.push(entry, now);
  }

  #lease(entry: Entry<K>, now: number): Lease<K> {
    entry.at = "running";
    entry.startedAt = now;
    this.#running += 1;
    const waitedMs = Math.max(0, now - entry.dueSince);
    this.#observer.taken?.(waitedMs / 1000);
    return new EntryLease(entry, waitedMs, this.#settle);
  }

  readonly #settle: Settle<K> = (entry, outcome) => {
    const now = this.#clock.monotonic();
    this.#running -= 1;
    this.#observer.done?.((now - entry.startedAt) / 1000);
    let delay = 0;
    let readyAt = Number.POSITIVE_INFINITY;
    let priority = entry.priority;
    if (outcome === "done") forget(entry);
    else if (outcome === "retry") {
      delay = this.#fail(entry, now);
      readyAt = now + delay;
      this.#observer.retried?.();
    } else {
      forget(entry);
      readyAt = now + Math.max(0, outcome.after);
      priority = outcome.priority ?? priority;
      this.#observer.retried?.();
    }
    if (!this.#accepting) readyAt = Number.POSITIVE_INFINITY;
    const { again } = entry;
    if (again) {
      priority = readyAt === Number.POSITIVE_INFINITY ? again.priority : Math.max(priority, again.priority);
      readyAt = Math.min(readyAt, again.readyAt);
      entry.again = undefined;
      if (!this.#accepting && readyAt > now) readyAt = Number.POSITIVE_INFINITY;
    }
    if (readyAt === Number.POSITIVE_INFINITY) this.#entries.delete(entry);
    else {
      entry.priority = priority;
      this.#place(entry, readyAt, now);
    }
    if (!this.#accepting) this.#endIfDrained();
    return delay;
  };

  /**
   * Counts a failure, unless its backoff window was still open when the work began.
   *
   * @returns the wait in milliseconds.
   */
  #fail(entry: Entry<K>, now: number): number {
    if (entry.retryAt !== undefined && entry.startedAt < entry.retryAt)
      return Math.max(0, entry.retryAt - now);
    entry.failures += 1;
    const delay = this.#backoff(entry.failures);
    entry.retryAt = now + delay;
    return delay;
  }

  #setTimer(): void {
    const at = this.#delays.first?.readyAt;
    if (this.#timer?.at === at) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (at === undefined) return;
    // A little late rather than a fraction of a millisecond early: a clock that counts from the
    // epoch cannot tell such fractions apart, and a timer that is always too early would be set
    // again indefinitely.
    const cancel = this.#clock.schedule(Math.ceil(Math.max(0, at - this.#clock.monotonic())), () => {
      this.#timer = undefined;
      this.#release();
    });
    this.#timer = { at, cancel };
  }

  #release(): void {
    const now = this.#clock.monotonic();
    for (let entry = this.#delays.first; entry && entry.readyAt <= now; entry = this.#delays.first) {
      this.#delays.remove(entry);
      this.#becomeReady(entry, entry.readyAt, now);
    }
    this.#setTimer();
  }

  #isDrained(): boolean {
    return !this.#accepting && this.#running === 0 && this.#ready.size === 0;
  }

  #endIfDrained(): void {
    if (!this.#isDrained()) return;
    for (const taker of this.#takers.splice(0)) taker.give(undefined);
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}

type Outcome = "done" | "retry" | { readonly after: number; readonly priority?: number };
type Settle<K> = (entry: Entry<K>, outcome: Outcome) => number;

class EntryLease<K> implements Lease<K> {
  readonly attempt: number;
  readonly priority: number;
  readonly waitedMs: number;
  readonly key: K;
  #entry: Entry<K> | undefined;
  readonly #settle: Settle<K>;

  constructor(entry: Entry<K>, waitedMs: number, settle: Settle<K>) {
    // An entry that is handed out has its key until it is settled.
    this.key = entry.key as K;
    this.attempt = entry.failures + 1;
    this.priority = entry.priority;
    this.waitedMs = waitedMs;
    this.#entry = entry;
    this.#settle = settle;
  }

  done(): void {
    this.#end("done");
  }

  retry(): number {
    return this.#end("retry");
  }

  retryAfter(ms: number, options: Pick<AddOptions, "priority"> = {}): void {
    this.#end({ after: ms, ...options });
  }

  #end(outcome: Outcome): number {
    const entry = this.#entry;
    if (!entry) return 0;
    this.#entry = undefined;
    return this.#settle(entry, outcome);
  }
}

function forget<K>(entry: Entry<K>): void {
  entry.failures = 0;
  entry.retryAt = undefined;
}
