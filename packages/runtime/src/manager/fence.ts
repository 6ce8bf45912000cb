import type { Clock } from "@windlass/clock";
import { FencedError } from "../reconcile/errors.ts";
import type { Election } from "./election.ts";

/**
 * Says, at the moment of a write and without waiting for anything, whether this process may write.
 */
export interface Fence {
  readonly isOpen: boolean;
  /**
   * Aborted with a `FencedError` when the fence closes, for what is under way then. A new one when
   * it opens again.
   */
  readonly closing: AbortSignal;
}

/**
 * The clocks that a fence compares: both of the same machine, the monotonic one common to all
 * threads.
 */
export type FenceClock = Pick<Clock, "now" | "monotonic">;

/**
 * The machine's clocks, with a monotonic one that is the same in every thread (`performance.now()`
 * is not).
 */
export const threadClock: FenceClock = {
  now: () => Date.now(),
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};

const untilSlot = 0;
const offsetSlot = 1;

/**
 * How far wall clock and monotonic clock may drift apart between two renewals before the lease is
 * no longer trusted.
 */
const toleratedJumpMs = 2_000;

/**
 * Until when a lease is held, in memory that two threads share. The one that renews the lease moves
 * it; the one that writes looks at it, and so learns of a loss even if its event loop stood still
 * while it happened.
 *
 * A machine that sleeps stops its monotonic clock but not the wall clock. So a lease also ends when
 * the wall clock has run ahead since the last renewal, until the next renewal.
 */
export class LeaseMemory {
  /** Hand this to the other thread. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: BigInt64Array;
  readonly #clock: FenceClock;

  constructor(clock: FenceClock, memory: SharedArrayBuffer = new SharedArrayBuffer(16)) {
    this.memory = memory;
    this.#slots = new BigInt64Array(memory);
    this.#clock = clock;
  }

  get isHeld(): boolean {
    const { leftMs } = this;
    if (leftMs <= 0) return false;
    const offset = Number(Atomics.load(this.#slots, offsetSlot));
    return this.#clock.now() - this.#clock.monotonic() - offset <= toleratedJumpMs;
  }

  /** How long it is held unless it is renewed; not above 0 if it is not. */
  get leftMs(): number {
    const until = Number(Atomics.load(this.#slots, untilSlot)) / 1000;
    return until === 0 ? 0 : until - this.#clock.monotonic();
  }

  /** Takes over the state of the election. */
  follow(state: Election): void {
    if (state.at === "leading") this.holdUntil(state.until);
    else this.letGo();
  }

  /**
   * Says that the lease is held until a moment of the monotonic clock. A moment that was said
   * before is no renewal: after a sleep it changes nothing.
   */
  holdUntil(until: number): void {
    // A clock may start at zero, and zero means not held: one microsecond is no loss.
    const moment = BigInt(Math.max(1, Math.floor(until * 1000)));
    if (Atomics.load(this.#slots, untilSlot) === moment) return;
    const offset = BigInt(Math.round(this.#clock.now() - this.#clock.monotonic()));
    Atomics.store(this.#slots, offsetSlot, offset);
    Atomics.store(this.#slots, untilSlot, moment);
  }

  letGo(): void {
    Atomics.store(this.#slots, untilSlot, 0n);
  }
}

/** The fence of a manager, in the thread that writes. */
export class WriteFence implements Fence {
  readonly #isHeld: () => boolean;
  #term: AbortController | undefined;

  /** @param isHeld whether the lease is held at this moment. */
  constructor(isHeld: () => boolean) {
    this.#isHeld = isHeld;
  }

  get isOpen(): boolean {
    return this.#term !== undefined && this.#isHeld();
  }

  get closing(): AbortSignal {
    return this.#term?.signal ?? closed;
  }

  /** Lets writes pass for as long as the lease is held. */
  open(): void {
    this.#term ??= new AbortController();
  }

  /** Gives up the writes that have no answer yet. */
  cut(): void {
    this.#term?.abort(new FencedError("a write under way", "given up"));
    if (this.#term) this.#term = new AbortController();
  }

  /** Refuses writes from now on, and gives up those that have no answer yet. */
  close(): void {
    this.cut();
    this.#term = undefined;
  }
}

const closed = AbortSignal.abort(new FencedError("a write"));

/** For managers that do not lead yet. */
export const closedFence: Fence = { isOpen: false, closing: closed };
