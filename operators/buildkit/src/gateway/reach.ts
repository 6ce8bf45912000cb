import type { TLSSocket } from "node:tls";
import type { Clock } from "@windlass/clock";
import type { AllocationHash } from "../tokens/index.ts";
import { DialError, type WorkerDialer } from "./dialer.ts";
import type { WorkerAddress, WorkerLookup } from "./lookup.ts";
import type { Refusal } from "./refusal.ts";
import { type DialFailure, endOf, isSameWorker, nextMove, type SetupRules } from "./setup.ts";

/** A worker, and a connection to it. */
export interface ReachedWorker {
  readonly is: "reached";
  readonly worker: WorkerAddress;
  readonly socket: TLSSocket;
}

/** Whether an allocation's worker was reached. */
export type Reached = ReachedWorker | { readonly is: "refused"; readonly refusal: Refusal };

/**
 * Finds the workers of allocations and connects to them, waiting for those that are still starting.
 */
export class WorkerReach {
  readonly #lookup: WorkerLookup;
  readonly #clock: Clock;
  readonly #rules: SetupRules;
  readonly #waiting = new Map<AllocationHash, Set<() => void>>();
  #dialer: WorkerDialer;

  constructor(lookup: WorkerLookup, dialer: WorkerDialer, clock: Clock, rules: SetupRules) {
    this.#lookup = lookup;
    this.#dialer = dialer;
    this.#clock = clock;
    this.#rules = rules;
  }

  /** Has the next connections use another dialer. */
  use(dialer: WorkerDialer): void {
    this.#dialer = dialer;
  }

  /** To be called when the route of an allocation has changed: those who wait for it look again. */
  routeChanged(allocation: AllocationHash): void {
    for (const wake of this.#waiting.get(allocation) ?? []) wake();
  }

  /** @throws the signal's reason. */
  async reach(allocation: AllocationHash, signal: AbortSignal): Promise<Reached> {
    const startedAt = this.#clock.monotonic();
    let failure: DialFailure | undefined;
    for (;;) {
      const route = this.#lookup.find(allocation);
      const move = nextMove(route, { startedAt, failure }, this.#clock.monotonic(), this.#rules);
      if (move.do === "refuse") return { is: "refused", refusal: move.refusal };
      if (move.do === "wait") {
        await this.#wait(allocation, move.until, signal);
        continue;
      }
      const { worker } = move;
      try {
        const socket = await this.#dialer.dial(worker, move.withinMs, signal);
        if (!endOf(this.#lookup.find(allocation))) return { is: "reached", worker, socket };
        // Taken back while its worker was being reached. The next turn says why.
        socket.destroy();
      } catch (error) {
        if (!(error instanceof DialError)) throw error;
        const { fault, message: detail } = error;
        const at = this.#clock.monotonic();
        const since = failure && isSameWorker(failure.worker, worker) ? failure.since : at;
        failure = { since, at, worker, fault, detail };
      }
    }
  }

  /** Until the time has come, the route has changed, or the signal is aborted. */
  #wait(allocation: AllocationHash, until: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(allocation) ?? new Set();
      this.#waiting.set(allocation, waiting);
      const done = () => {
        cancel();
        waiting.delete(done);
        if (waiting.size === 0 && this.#waiting.get(allocation) === waiting) this.#waiting.delete(allocation);
        signal.removeEventListener("abort", done);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const cancel = this.#clock.schedule(Math.max(0, until - this.#clock.monotonic()), done);
      waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }
}
