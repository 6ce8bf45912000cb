import type { Clock } from "@windlass/clock";
import { FencedError } from "../reconcile/errors.ts";

/**
 * Says, at the moment of a write and without waiting for anything, whether this process may write.
 */
export interface Fence {
  readonly isOpen: boolean;
  /** @throws FencedError unless open. */
  check(what: string): void;
}

/** For managers without leader election: they always may. */
export const openFence: Fence = { isOpen: true, check: () => undefined };

/** For managers that do not lead yet. */
export const closedFence: Fence = {
  isOpen: false,
  check(what) {
    throw new FencedError(what);
  },
};

/** The clocks that a fence compares: both of the same machine, the monotonic one common to all threads. */
export type FenceClock = Pick<Clock, "now" | "monotonic">;

/** The machine's clocks, with a monotonic one that is the same in every thread (`performance.now()` is not). */
export const threadClock: FenceClock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000,
};

const untilSlot = 0;
const offsetSlot = 1;

/** How far wall clock and monotonic clock may drift apart between two renewals before the lease is no longer trusted. */
const toleratedJumpMs = 2_000;

/**
 * A fence in memory that two threads share. The one that renews the lease moves it; the one that writes looks at it, and so learns of a loss even
 * if its event loop stood still while it happened.
 *
 * A machine that sleeps stops its monotonic clock but not the wall clock. So the fence also closes when the wall clock has run ahead
 * since the last renewal, until the next renewal opens it again.
 */
export class LeaseFence implements Fence {
  /** Hand this to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: BigInt64Array;
  readonly #clock: FenceClock;

  constructor(clock: FenceClock, memory: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.memory = memory;
    this.#slots = new BigInt64Array(memory);
    this.#clock = clock;
  }

  get isOpen(): boolean {
    const until = Number(Atomics.load(this.#slots, untilSlot)) / 1000;
    const now = this.#clock.monotonic();
    if (until === 0 || now >= until) return false;
    const offset = Number(Atomics.load(this.#slots, offsetSlot));
    return this.#clock.now() - now - offset <= toleratedJumpMs;
  }

  check(what: string): void {
    if (!this.isOpen) throw new FencedError(what);
  }

  /**
   * Opens the fence until a moment of the monotonic clock. A moment that it was opened until already is no renewal: after a sleep it stays
   * closed.
   */
  openUntil(until: number): void {
    // A clock may start at zero, and zero means closed: one microsecond is no loss.
    const moment = BigInt(Math.max(1, Math.floor(until * 1000)));
    if (Atomics.load(this.#slots, untilSlot) === moment) return;
    const offset = BigInt(Math.round(this.#clock.now() - this.#clock.monotonic()));
    Atomics.store(this.#slots, offsetSlot, offset);
    Atomics.store(this.#slots, untilSlot, moment);
  }

  close(): void {
    Atomics.store(this.#slots, untilSlot, 0n);
  }
}
