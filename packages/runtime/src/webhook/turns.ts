import type { Clock, Random } from "@windlass/clock";
import { countOf, LogThrottle } from "../logging/log-throttle.ts";
import type { Logger } from "../logging/logger.ts";
import { messageOf } from "../reconcile/errors.ts";

/** What is maintained, and how. */
export interface TurnsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** What could not be done, for the log: "the webhook's certificates cannot be maintained". */
  readonly what: string;
  /**
   * Looks at the world, does what it asks for, and says when to look again at the latest, in
   * wall-clock milliseconds.
   */
  readonly turn: () => Promise<number>;
}

const hour = 3_600_000;

/**
 * Takes turns at looking: one at a time, once more when something changed meanwhile, later when
 * told to, and after a failure with growing pauses. Looks at least every hour, because a wall clock
 * may jump.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #throttle: LogThrottle;
  #failures = 0;
  #fault: string | undefined;
  #isWanted = false;
  #running: Promise<void> | undefined;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#throttle = new LogThrottle(options.clock);
  }

  /** What the last turn failed with; undefined if it did not. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Asks for a turn. Resolves when one that began after the call has ended, well or not. */
  take(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isWanted = true;
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Takes no more turns. Resolves when the present one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    // Not at once: the caller may still be changing what is read.
    await Promise.resolve();
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      this.#cancel();
      const delay = await this.#turn();
      if (!this.#isClosed) this.#cancel = this.#options.clock.schedule(delay, () => void this.take());
    }
    this.#running = undefined;
  }

  async #turn(): Promise<number> {
    const { clock, random, log, turn, what } = this.#options;
    try {
      const until = await turn();
      this.#failures = 0;
      if (this.#fault !== undefined) this.#throttle.clear(this.#fault);
      this.#fault = undefined;
      return Math.min(Math.max(until - clock.now(), 1), hour);
    } catch (error) {
      const fault = messageOf(error);
      const decision = this.#throttle.record(fault);
      if (decision.as !== "suppressed" && !this.#isClosed)
        log.error({ error: fault, ...countOf(decision) }, `${what}; trying again`);
      this.#fault = fault;
      this.#failures += 1;
      return Math.min(500 * 2 ** this.#failures, 60_000) * (0.5 + random.next() / 2);
    }
  }
}
