import { messageOf } from "../reconcile/errors.ts";
import type { Logger } from "../reconcile/log.ts";
import { LiveParts } from "./live.ts";

/**
 * The terms of a leader: what is started with each, and stopped at its end. One change after the other: a term that comes while the work of
 * the one before still ends waits for that, and one that is over by then never begins.
 */
export class Terms {
  readonly #log: Logger;
  readonly #lead: (live: LiveParts, term: AbortSignal) => void;
  readonly #live = new LiveParts();
  #term = new AbortController();
  #changes: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @param lead starts the work of a term, and adds it to what is stopped at the end. The signal is aborted when the lease is lost. */
  constructor(log: Logger, lead: (live: LiveParts, term: AbortSignal) => void) {
    this.#log = log;
    this.#lead = lead;
  }

  begin(): void {
    const term = new AbortController();
    this.#term = term;
    this.#change(() => {
      if (!term.signal.aborted && !this.#isClosed) this.#lead(this.#live, term.signal);
    });
  }

  /** The lease is lost: reconciles under way are told at once. */
  end(): void {
    const { signal } = this.#term;
    this.#term.abort(new Error("the lease was lost"));
    this.#change(() => this.#live.stop(signal, this.#log));
  }

  /** Ends the present term, in which reconciles may come to their end until `abort`, and lets none begin any more. */
  async close(abort: AbortSignal): Promise<void> {
    this.#isClosed = true;
    await this.#changes;
    await this.#live.stop(abort, this.#log);
  }

  /** Tells the work of all terms to stop, and waits for none of it. */
  abandon(): void {
    this.#isClosed = true;
    this.#term.abort(new Error("the manager is stopping"));
    this.#live.abandon(this.#term.signal, this.#log);
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
