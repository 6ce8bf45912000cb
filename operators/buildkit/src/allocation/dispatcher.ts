import { type Clock, sleep } from "@windlass/clock";
import type { PoolName } from "../pool-name.ts";
import { poolText } from "../pool-name.ts";
import type { Worker } from "../worker/index.ts";
import { requestName } from "./job.ts";
import { type PlacementRules, placements } from "./placement.ts";
import { type PoolState, waitingOf } from "./pool-state.ts";
import type { Waiting } from "./turns.ts";

/** A call of this replica that wants a worker. */
export interface Entrant {
  readonly pool: PoolName;
  /** Of its job. */
  readonly hash: string;
  /** As turns are decided by it, at this moment: a request may have been made for it since. */
  waiting(): Waiting;
  rules(): PlacementRules;
}

/** What there is for an entrant. */
export type Turn =
  /** The worker that is its to claim. */
  | { readonly is: "turn"; readonly worker: Worker }
  /** Its job has a worker already, or the pool is going. */
  | { readonly is: "settled" }
  | { readonly is: "not-yet" };

/**
 * How long the others leave a worker to the request whose turn it is. Where no replica attends to a
 * request, because its replica was killed or its client has gone, those behind it go first.
 */
const LEFT_TO_MS = 3_000;

/**
 * Says whose turn it is. Worked out once for all calls of this replica that wait for a pool, and
 * only those are woken that can go on: with each looking for itself, every change would cost the
 * square of those who wait.
 */
export class Dispatcher implements Disposable {
  readonly #state: PoolState;
  readonly #clock: Clock;
  readonly #lines = new Map<string, Line>();
  readonly #stop: () => void;

  constructor(state: PoolState, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
    this.#stop = state.onChange((pool) => this.#lines.get(pool)?.changed());
  }

  /** Joins those who wait. The caller disposes of the place when it leaves. */
  enter(entrant: Entrant): Place {
    const key = poolText(entrant.pool);
    const line = this.#lines.get(key) ?? new Line(this.#state, this.#clock, entrant.pool);
    this.#lines.set(key, line);
    return line.enter(entrant, () => {
      if (line.isEmpty) this.#lines.delete(key);
    });
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

/** A request's place among those that wait for a pool. */
export interface Place extends Disposable {
  turn(): Turn;
  /**
   * No other request here is given the worker, nor is another worker this one's, until what is
   * returned is disposed of.
   */
  claiming(worker: Worker): Disposable;
  /**
   * Resolves when it is worth looking at the turn again, and after the given time at the latest.
   *
   * @throws the signal's reason.
   */
  woken(withinMs: number, signal: AbortSignal): Promise<void>;
}

interface Waiter {
  readonly entrant: Entrant;
  isClaiming: boolean;
  wake: (() => void) | undefined;
}

/** Those who wait for one pool here. */
class Line {
  readonly #state: PoolState;
  readonly #clock: Clock;
  readonly #pool: PoolName;
  readonly #waiters = new Set<Waiter>();
  /**
   * Workers that are about to be claimed: another call that chose the same would only be refused.
   */
  readonly #inFlight = new Set<string>();
  /**
   * Requests that this replica does not attend to and whose turn it is: since when, and until when
   * they had said that they wait.
   */
  readonly #left = new Map<string, { readonly since: number; readonly waitUntil: string }>();
  #placed: ReadonlyMap<string, Worker> | undefined;
  #isScheduled = false;
  #cancelLook: () => void = () => undefined;

  constructor(state: PoolState, clock: Clock, pool: PoolName) {
    this.#state = state;
    this.#clock = clock;
    this.#pool = pool;
  }

  get isEmpty(): boolean {
    return this.#waiters.size === 0;
  }

  enter(entrant: Entrant, onLeft: () => void): Place {
    const waiter: Waiter = { entrant, isClaiming: false, wake: undefined };
    this.#waiters.add(waiter);
    this.#placed = undefined;
    return {
      turn: () => this.#turnOf(waiter),
      claiming: (worker) => this.#claiming(waiter, worker),
      woken: (withinMs, signal) => this.#woken(waiter, withinMs, signal),
      [Symbol.dispose]: () => {
        this.#waiters.delete(waiter);
        // What would have been this one's is another's.
        this.changed();
        if (this.isEmpty) this.#cancelLook();
        onLeft();
      },
    };
  }

  /** Has those woken, in a moment, who can go on. Many changes at a time are one. */
  changed(): void {
    this.#placed = undefined;
    if (this.#isScheduled || this.isEmpty) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const waiter of this.#waiters)
        if (waiter.wake && this.#turnOf(waiter).is !== "not-yet") waiter.wake();
    });
  }

  #turnOf({ entrant }: Waiter): Turn {
    const pool = this.#state.pool(this.#pool);
    if (!pool || pool.metadata.deletionTimestamp !== undefined || this.#state.workerForJob(entrant.hash))
      return { is: "settled" };
    this.#placed ??= this.#place(entrant.rules());
    const worker = this.#placed.get(requestName(this.#pool, entrant.hash));
    return worker ? { is: "turn", worker } : { is: "not-yet" };
  }

  #place(rules: PlacementRules): ReadonlyMap<string, Worker> {
    const workers = this.#state.workers(this.#pool);
    const free = workers.filter(({ metadata }) => !this.#inFlight.has(metadata.uid ?? ""));
    const here = new Map(
      [...this.#waiters].map((waiter) => [requestName(this.#pool, waiter.entrant.hash), waiter] as const),
    );
    // A job that asks twice here is given one worker.
    const claiming = new Set(
      [...this.#waiters].filter(({ isClaiming }) => isClaiming).map(({ entrant }) => entrant.hash),
    );
    const now = this.#clock.monotonic();
    const others = this.#state.requests(this.#pool).filter(({ metadata: { name } }) => {
      if (here.has(name)) return false;
      // Its replica is about to delete it, or was killed before it could.
      return this.#state.workerForJob(name.slice(this.#pool.name.length + 1)) === undefined;
    });
    const attended = others.filter(({ metadata: { name }, spec }) => {
      const left = this.#left.get(name);
      return left === undefined || left.waitUntil !== spec.waitUntil || now < left.since + LEFT_TO_MS;
    });
    const own = [...here.values()].filter(({ entrant }) => !claiming.has(entrant.hash));
    const placed = placements(
      [...attended.map(waitingOf), ...own.map(({ entrant }) => entrant.waiting())],
      free,
      this.#clock.now(),
      rules,
    );
    this.#remember(
      others.map(({ metadata, spec }) => ({ name: metadata.name, waitUntil: spec.waitUntil })),
      placed,
      now,
    );
    return placed;
  }

  /** Notes whose turn it is elsewhere, and has another look once they have let it pass. */
  #remember(
    others: readonly { readonly name: string; readonly waitUntil: string }[],
    placed: ReadonlyMap<string, Worker>,
    now: number,
  ): void {
    const before = new Map(this.#left);
    this.#left.clear();
    for (const { name, waitUntil } of others) {
      const known = before.get(name);
      const isPassed = known?.waitUntil === waitUntil && now >= known.since + LEFT_TO_MS;
      if (isPassed || placed.has(name))
        this.#left.set(name, known?.waitUntil === waitUntil ? known : { since: now, waitUntil });
    }
    this.#cancelLook();
    const ends = [...this.#left.values()].map(({ since }) => since + LEFT_TO_MS).filter((end) => end > now);
    if (ends.length === 0) return;
    this.#cancelLook = this.#clock.schedule(Math.min(...ends) - now, () => this.changed());
  }

  #claiming(waiter: Waiter, { metadata: { uid = "" } }: Worker): Disposable {
    waiter.isClaiming = true;
    this.#inFlight.add(uid);
    this.#placed = undefined;
    return {
      [Symbol.dispose]: () => {
        waiter.isClaiming = false;
        this.#inFlight.delete(uid);
        this.changed();
      },
    };
  }

  async #woken(waiter: Waiter, withinMs: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    waiter.wake = () => woken.abort();
    try {
      // Something may have changed since it looked.
      if (this.#turnOf(waiter).is !== "not-yet") return;
      await sleep(this.#clock, Math.max(0, withinMs), AbortSignal.any([signal, woken.signal]));
    } catch (error) {
      if (!woken.signal.aborted || signal.aborted) throw error;
    } finally {
      waiter.wake = undefined;
      // Turns depend on the time too.
      if (!woken.signal.aborted) this.#placed = undefined;
    }
  }
}
