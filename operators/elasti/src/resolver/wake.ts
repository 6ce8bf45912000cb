import type { Clock } from "@windlass/clock";
import type { Waker } from "./targets.ts";

/** Whether a service was asked to wake, and the outcome. */
export type WakeState =
  /** No request waits, or the operator has not been called yet. */
  | { readonly at: "quiet" }
  /** A call is under way, for so many requests. */
  | { readonly at: "calling"; readonly waiting: number; readonly attempt: number }
  /** The operator knows of so many requests. */
  | { readonly at: "called"; readonly waiting: number; readonly until: number }
  /** The call failed, and is repeated. */
  | { readonly at: "failed"; readonly attempt: number; readonly until: number };

/** What can happen to a wake. */
export type WakeEvent =
  /** So many requests wait. */
  | { readonly type: "demand"; readonly waiting: number }
  | { readonly type: "accepted" }
  | { readonly type: "rejected" }
  /** The time of the state has come. */
  | { readonly type: "due"; readonly waiting: number }
  /**
   * The target serves again, or is treated otherwise than before: the last call no longer counts.
   */
  | { readonly type: "changed" };

/** While requests wait, the operator is called again after this long, in case it has forgotten. */
const REPEAT_MS = 5_000;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1_000;
/**
 * So many times as many requests are worth another call: a target may be scaled to what it is
 * needed for.
 */
const GROWTH = 2;

/**
 * The state after an event. Pure. A step that leads to `calling` from elsewhere means that the call
 * has to be made.
 */
export function step(state: WakeState, event: WakeEvent, now: number): WakeState {
  switch (event.type) {
    case "demand": {
      const isNews =
        state.at === "quiet" || (state.at === "called" && event.waiting >= state.waiting * GROWTH);
      return isNews ? { at: "calling", waiting: event.waiting, attempt: 1 } : state;
    }
    case "accepted":
      return state.at === "calling"
        ? { at: "called", waiting: state.waiting, until: now + REPEAT_MS }
        : state;
    case "rejected": {
      if (state.at !== "calling") return state;
      const delay = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (state.attempt - 1));
      return { at: "failed", attempt: state.attempt, until: now + delay };
    }
    case "due": {
      if (state.at !== "called" && state.at !== "failed") return state;
      if (now < state.until) return state;
      if (event.waiting === 0) return { at: "quiet" };
      const attempt = state.at === "failed" ? Math.min(state.attempt + 1, 16) : 1;
      return { at: "calling", waiting: event.waiting, attempt };
    }
    case "changed":
      return { at: "quiet" };
  }
}

/** What is reported about a call to wake. */
export interface WakeObserver {
  called(result: "success" | "error", ms: number): void;
}

/**
 * Reports to the operator that requests wait for a service: once, again when there are many more,
 * and until a call has succeeded.
 */
export class WakeCalls {
  readonly #service: { readonly namespace: string; readonly service: string };
  readonly #waker: Waker;
  readonly #clock: Clock;
  readonly #waiting: () => number;
  readonly #observer: WakeObserver;
  #state: WakeState = { at: "quiet" };
  #cancelDue: (() => void) | undefined;
  #call: AbortController | undefined;

  /** @param waiting how many requests wait at the time. */
  constructor(
    service: { readonly namespace: string; readonly service: string },
    options: {
      readonly waker: Waker;
      readonly clock: Clock;
      readonly waiting: () => number;
      readonly observer: WakeObserver;
    },
  ) {
    this.#service = service;
    this.#waker = options.waker;
    this.#clock = options.clock;
    this.#waiting = options.waiting;
    this.#observer = options.observer;
  }

  /** Requests wait, or one was refused that would have. */
  demand(): void {
    this.#handle({ type: "demand", waiting: Math.max(1, this.#waiting()) });
  }

  /** The target serves again, or is treated otherwise than before. */
  changed(): void {
    this.#handle({ type: "changed" });
  }

  /** Makes no more calls. */
  stop(): void {
    this.#handle({ type: "changed" });
  }

  #handle(event: WakeEvent): void {
    const before = this.#state;
    const after = step(before, event, this.#clock.monotonic());
    if (after !== before) {
      this.#state = after;
      this.#cancelDue?.();
      this.#cancelDue = undefined;
      if (after.at === "quiet") this.#call?.abort();
      else if (after.at === "calling") void this.#makeCall(after.waiting);
    }
    if (after.at === "called" || after.at === "failed") this.#wait(after.until);
  }

  /**
   * A state that ends with time has a timer, whatever led to it: also a timer that came too soon.
   */
  #wait(until: number): void {
    this.#cancelDue ??= this.#clock.schedule(Math.max(0, until - this.#clock.monotonic()), () => {
      this.#cancelDue = undefined;
      this.#handle({ type: "due", waiting: this.#waiting() });
    });
  }

  async #makeCall(waiting: number): Promise<void> {
    const call = new AbortController();
    this.#call = call;
    const startedAt = this.#clock.monotonic();
    let result: "success" | "error" = "success";
    try {
      await this.#waker.wake({ ...this.#service, waiting }, call.signal);
    } catch {
      // Counted and repeated. Why a call fails is the waker's to say.
      result = "error";
    }
    // A call that no longer counts does not matter for the one that may follow it.
    if (call.signal.aborted || this.#call !== call) return;
    this.#observer.called(result, this.#clock.monotonic() - startedAt);
    this.#handle({ type: result === "success" ? "accepted" : "rejected" });
  }
}
