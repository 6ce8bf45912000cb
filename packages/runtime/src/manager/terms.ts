import type { Clock } from "@windlass/clock";
import type { Logger } from "../logging/logger.ts";
import { messageOf } from "../reconcile/errors.ts";
import { LiveParts } from "./live.ts";

/** Work that takes longer to end than this is logged: it delays the next term. */
const SLOW_END_MS = 30_000;

/**
 * The terms of a leader: what is started with each, and stopped at its end. One change after the
 * other: a term that comes while the work of the one before still ends waits for that, and one that
 * is over by then never begins.
 */
export class Terms {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #lead: (live: LiveParts, term: AbortSignal) => void;
  readonly #live = new LiveParts();
  #term = new AbortController();
  #changes: Promise<void> = Promise.resolve();
  #isClosed = false;
  #fault: string | undefined;

  /**
   * @param lead starts the work of a term, and adds it to what is stopped at the end. The signal is
   *   aborted when the lease is lost.
   */
  constructor(
    log: Logger,
    clock: Pick<Clock, "schedule">,
    lead: (live: LiveParts, term: AbortSignal) => void,
  ) {
    this.#log = log;
    this.#clock = clock;
    this.#lead = lead;
  }

  /**
   * What keeps the next term from beginning, if that has lasted for long; for the readiness probe.
   */
  get fault(): string | undefined {
    return this.#fault;
  }

  begin(): void {
    const term = new AbortController();
    this.#term = term;
    this.#change(() => {
      if (!term.signal.aborted && !this.#isClosed) this.#lead(this.#live, term.signal);
    });
  }

  /**
   * The lease is lost: reconciles under way, and everything else that works, are notified at once.
   */
  end(): void {
    const { signal } = this.#term;
    this.#term.abort(new Error("the lease was lost"));
    this.#change(async () => {
      const cancel = this.#clock.schedule(SLOW_END_MS, () => this.#tellOfSlowEnd());
      await this.#live.stopAtOnce(signal, this.#log);
      cancel();
      this.#fault = undefined;
    });
  }

  /**
   * Ends the present term, in which reconciles may come to their end until `abort`, or until the
   * lease is lost, and lets none begin any more.
   */
  async close(abort: AbortSignal): Promise<void> {
    this.#isClosed = true;
    await this.#changes;
    await this.#live.stop(AbortSignal.any([abort, this.#term.signal]), this.#log);
    // If the lease was lost meanwhile, the rest was stopped there.
    await this.#changes;
  }

  /** Tells the work of all terms to stop, and waits for none of it. */
  abandon(): void {
    this.#isClosed = true;
    this.#term.abort(new Error("the manager is stopping"));
    this.#live.abandon(this.#term.signal, this.#log);
  }

  #tellOfSlowEnd(): void {
    const { stopping } = this.#live;
    const fault = stopping.length === 1 ? "has not stopped" : "have not stopped";
    this.#fault = `${stopping.join(", ")} ${fault} ${SLOW_END_MS / 1000} s after the lease was lost`;
    this.#log.error(
      {},
      `${this.#fault}: until then, this replica does nothing, even if it holds the lease. Work that goes on must be ended by context.signal`,
    );
  }

  /** Whatever fails in one change, the next one is made. */
  #change(make: () => void | Promise<void>): void {
    this.#changes = this.#changes
      .then(make)
      .catch((error: unknown) =>
        this.#log.error({ error: messageOf(error) }, "the change of leadership was not made in full"),
      );
  }
}
